"""The solvers of the method structured move its scenes alike: where all bodies are, to 1e-6 when run to 1e-10.
SINEW_SOAK makes the runs longer and the sheet as large as the paper's."""
import csv
import json
import os
import unittest

from command import Command

SOAK = bool(os.environ.get("SINEW_SOAK"))
SOLVERS = "graph", "structured", "structured-dense", "full-dense", "full-iterative"
EXACT = "--set=run.structured.precision=1e-10", "--set=run.structured.iterations=1000000"


class Solvers(Command):
    def places(self, text, solver, seconds, *arguments):
        """Where all bodies are every tenth of a second, row by row; and how the run went."""
        out = self.place / f"{solver}.csv"
        report = self.good("run", "-", "--json", "--method", "structured", *EXACT, f"--set=run.structured.solver={solver}",
                           "--duration", seconds, "--every", 0.1, "--channels", "*.pos.*", "--out", out, *arguments, stdin=text)
        with open(out, newline="", encoding="utf-8") as file:
            return [[float(x) for x in row] for row in list(csv.reader(file))[1:]], json.loads(report)["solver"]

    def agree(self, text, seconds, *arguments, singular=False):
        """singular: a mechanism that is straight at first cannot meet such a precision in its first steps."""
        reference = None
        for solver in SOLVERS:
            rows, how = self.places(text, solver, seconds, *arguments)
            if not singular:
                self.assertEqual(how["unconverged"], 0, solver)
                self.assertLess(how["gap"], 1.01e-10, solver)
                self.assertLess(how["residual"], 1.01e-10, solver)
            reference = reference or rows
            self.assertEqual(len(rows), len(reference))
            off = max(abs(x - y) for row, other in zip(rows, reference) for x, y in zip(row, other))
            self.assertLess(off, 1e-6, solver)

    def test_ladder(self):
        self.agree(self.good("make", "ladder", "--pattern", 2, "--count", 6), 3, "--step", 0.001 if SOAK else 0.01)

    def test_seaweed(self):
        """The fish bites after two seconds, when it is near and not there yet."""
        self.agree(self.good("make", "seaweed"), 8 if SOAK else 3.5)

    def test_pendulum_strings(self):
        self.agree(self.good("make", "pendulum-strings"), 10 if SOAK else 2, singular=True)

    def test_characters(self):
        """Until they are stretched: from then on they are where the last digit leads them."""
        self.agree(self.good("make", "characters"), 1.8)

    def test_surface(self):
        """From a bent shape on: a flat sheet may bend either way."""
        text, bent = self.good("make", "surface", *(() if SOAK else ("--size", 5))), self.place / "bent.state"
        self.good("run", "-", *EXACT, "--set=run.structured.solver=graph", "--duration", 1, "--save", bent, stdin=text)
        self.agree(text, 1, "--load", bent)


if __name__ == "__main__":
    unittest.main()
