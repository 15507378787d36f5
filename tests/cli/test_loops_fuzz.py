"""Random mechanisms with loops, constraints, motions, maps and limits: all solvers of redmax take the same steps, with every integrator, gaps
stay closed, nothing stops but for a reason that is stated, and then with all solvers, and where nothing drives no energy is gained.
SINEW_SOAK runs three hundred."""
import json
import os
import unittest

from command import BAD_INPUT, STOPPED, Command, read_csv, sinew
from mechanisms import Mechanism

SEEDS = range(300) if os.environ.get("SINEW_SOAK") else range(20)
SOLVERS = ["graph", "reduced-kkt", "pcg", "reduced"]
STEP, DURATION = 0.001, 0.05
NAMED = "is at odds with", "asks for what no joint lets move", "cannot close: a gap of", "cannot hold, other constraints move it"
AXES = ("revolute", "prismatic", "cylindrical", "screw", "universal", "translation2", "translation3")


class Bounded(Mechanism):
    """With limits of every kind, and maps."""

    run = f"run: {{step: {STEP}, duration: {DURATION}}}"

    def __init__(self, seed):
        super().__init__(seed)
        if len(self.single) >= 3 and self.random.random() < 0.5:
            self.add_map()

    def limit(self, kind):
        """Near enough to be met within the run by some."""
        width = 10 ** self.random.uniform(-3, 0)
        stop = self.random.choice(["", "", ", stop: {restitution: 0.5}", ", stop: {stiffness: 1e3, damping: 1}"])
        if kind in AXES:
            limit = self.some(0.3, f", limits: [{-width:.4f}, {width:.4f}]{stop}")
        elif kind == "spherical":
            limit = self.some(0.3, f", cone: {{swing: {width:.4f}, twist: [{-width:.4f}, {width:.4f}]}}{stop}")
        else:
            limit = ""
        return limit

    def add_map(self):
        one, two, three = self.random.sample(self.single, 3)
        self.parts["constraints"].append(f"  bend: {{type: map, coordinates: [{{name: z}}], joints: [{{joint: b{one}, value: z}}, "
                                         f"{{joint: b{two}, value: 0.5*z + z^2}}, {{joint: b{three}, value: sin(z)}}]}}")
        self.single = [k for k in self.single if k not in (one, two, three)]

    def driven(self):
        return bool(self.parts["motions"])


class Fuzz(Command):
    def run_one(self, text, *arguments):
        """What was recorded; None where it stops, for self.reason."""
        self.reason = None
        out = self.place / "out.csv"
        done = sinew("run", "-", "--json", "--bundle", "none", "--out", out, "--channels", "*.pos.*,*.quat.*,E", "--every", DURATION / 5, *arguments,
                     stdin=text)
        if "takes no soft stops" in done.stderr:
            self.assertTrue("stiffness" in text and "reduced-kkt" in self.what, f"{self.what}: {done.stderr}")
            self.reason = "takes no soft stops"
            return None
        if done.returncode:
            self.assertIn(done.returncode, (BAD_INPUT, STOPPED), done.stderr)  # at the start, or on the way
            self.assertTrue(self.driven or self.switched, f"{self.what}: {done.stderr}")  # else nothing contradicts anything
            self.reason = next((words for words in NAMED if words in done.stderr), None)
            self.assertIsNotNone(self.reason, f"{self.what}: {done.stderr}")
            return None
        solver = json.loads(done.stdout).get("solver")
        self.assertLess(solver["gap"] if solver else 0, 1e-9, self.what)
        return read_csv(out)

    def check_energy(self, rows, part):
        if not self.driven and not self.switched:
            energy = rows["E"]
            self.assertLess(max(energy) - energy[0], part * (1 + abs(energy[0])), self.what)

    def check_alike(self, rows, other, tolerance):
        if rows and other:
            self.assertLess(max(abs(x - y) for name in rows if name != "E" for x, y in zip(rows[name], other[name])), tolerance, self.what)

    def check_redmax(self, text, tolerance):
        for integrator in "euler", "extrapolated":
            first, reasons = None, {}
            for solver in SOLVERS:
                self.what = f"seed {self.seed}, {integrator}, {solver}"
                rows = self.run_one(text, "--method", "redmax", f"--set=run.redmax.solver={solver}", f"--set=run.redmax.integrator={integrator}")
                if self.reason != "takes no soft stops":
                    reasons[solver] = self.reason
                if rows:
                    self.check_energy(rows, 1e-9)
                    self.check_alike(rows, first, tolerance)
                    first = first or rows
            self.assertIn(sum(reason is not None for reason in reasons.values()), (0, len(reasons)), f"{self.what}: {reasons}")  # all stop, or none

    def check_recursive(self, text):
        found = []
        for integrator in "rk4", "dopri5":
            self.what = f"seed {self.seed}, {integrator}"
            found.append(self.run_one(text, "--method", "recursive", f"--set=run.recursive.integrator={integrator}"))
            if found[-1]:
                self.check_energy(found[-1], 1e-7)
        if not self.switched:  # within a step of rk4
            self.check_alike(*found, 1e-5)

    def test_random_mechanisms(self):
        for self.seed in SEEDS:
            mechanism = Bounded(self.seed)
            text = mechanism.text()
            self.driven, self.switched = mechanism.driven(), mechanism.switched
            # where motions of rates depend on loops, which of them gives way while gaps close is left to the solver
            loose = "twist" in text or "rate: " in text
            self.check_redmax(text, 1e-6 if loose else 1e-8)
            self.check_recursive(text)


if __name__ == "__main__":
    unittest.main()
