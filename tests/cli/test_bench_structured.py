"""sinew bench structured: what it checks, and the form of its results.  Speed is no matter of tests."""
import json
import unittest
import xml.etree.ElementTree

from command import BAD_INPUT, Command

SVG = "{http://www.w3.org/2000/svg}"
SOLVERS = {"full-dense", "full-iterative", "structured-dense", "structured", "graph"}


class BenchStructured(Command):
    def bench(self, *arguments):
        out = self.place / "bench.json"
        text = self.good("bench", "structured", *arguments, "--json", out)
        return text, json.loads(out.read_text())

    def test_quick(self):
        plot = self.place / "plot.svg"
        text, result = self.bench("--quick", "--seconds", "0.0005", "--svg", plot)
        self.assertEqual(result["bench"], "structured")
        ladders = [row for row in result["rows"] if row["scene"] != "surface"]
        self.assertEqual({row["scene"] for row in ladders}, {"ladder(12,1)", "ladder(2,3)", "ladder(1,12)", "ladder(1,24)"})
        for name in {row["scene"] for row in ladders}:
            self.assertEqual({row["solver"] for row in ladders if row["scene"] == name}, SOLVERS)
        for row in ladders:
            self.assertLessEqual(row["difference"], 1e-6)
            self.assertEqual(row["size"], row["tree"] + row["loops"])
            self.assertEqual(row["iterations"] > 0, row["solver"] in ("structured", "full-iterative"))
            self.assertGreater(row["seconds"], 0)
            self.assertGreater(row["step_seconds"], 0)
        for row in result["rows"]:
            if row["scene"] == "surface":
                self.assertLess(row["tree_error"], 1e-12)
        self.assertEqual([(row["solver"], row["budget"]) for row in result["rows"] if row["scene"] == "surface"],
                         [("full-iterative", 0.005), ("structured", 0.005), ("structured", 0.002)])
        self.assertIn(("structured", "step_seconds"), {(fit["solver"], fit["quantity"]) for fit in result["fits"]})
        self.assertRegex(text, r"structured is +[\d.]+ times as fast as full-dense")
        self.assertRegex(text, r"surface, 2 ms a step by structured: [\d.]+ iterations a step")
        titles = {node.text for node in xml.etree.ElementTree.parse(plot).getroot().iter(SVG + "text")
                  if node.get("font-weight") == "bold"}
        self.assertLessEqual({"a solution, seconds", "a step, seconds"}, titles)

    def test_constraints_of_the_paper(self):
        for only, tree, loops in (("ladder:12x1", 75, 3), ("ladder:12x4", 300, 12), ("ladder:1x48", 432, 144)):
            text, result = self.bench("--only", only, "--seconds", "0")
            self.assertEqual({(row["tree"], row["loops"]) for row in result["rows"]}, {(tree, loops)})
            self.assertNotIn("seconds", result["rows"][0])
            self.assertNotIn("grows", text)

    def test_refused(self):
        for only in ("deck:80", "ladder", "ladder:6", "ladder:0x3", "ladder:1x100001", "ladder:2x3x4"):
            self.bad(BAD_INPUT, f"sinew bench: --only: is '{only}', needs surface or ladder:PxN, P from 1 to 1000 and N"
                     " from 1 to 100000", "bench", "structured", "--only", only)


if __name__ == "__main__":
    unittest.main()
