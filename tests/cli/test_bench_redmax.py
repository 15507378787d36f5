"""sinew bench redmax: what it checks, and the form of its table, JSON and plot.  Speed is no matter of tests."""
import json
import unittest
import xml.etree.ElementTree

from command import BAD_INPUT, Command

SVG = "{http://www.w3.org/2000/svg}"


class BenchRedmax(Command):
    def bench(self, *arguments):
        out = self.place / "bench.json"
        text = self.good("bench", "redmax", *arguments, "--json", out)
        return text, json.loads(out.read_text())

    def test_quick(self):
        plot = self.place / "plot.svg"
        text, result = self.bench("--quick", "--seconds", "0.0005", "--svg", plot)
        self.assertEqual(result["bench"], "redmax")
        scenes = {row["scene"] for row in result["rows"]}
        self.assertEqual(scenes, {"bridge", "flexible", "deck", "net", "tensegrity", "arm"})
        for row in result["rows"]:
            self.assertGreater(row["seconds"], 0)
            self.assertGreaterEqual(row["median_seconds"], row["seconds"])
            if row["solver"] != "reduced":
                self.assertLessEqual(row["difference"], 1e-9)
            if row["solver"] != "auto":  # which may take any of the others
                self.assertEqual(row["iterations"] > 0, row["solver"] == "pcg", row)
        for name in scenes:
            solvers = {row["solver"] for row in result["rows"] if row["scene"] == name}
            self.assertLessEqual({"auto", "pcg", "graph", "reduced"}, solvers)
            # springs to the ground alone leave the tree exact
            self.assertEqual("tree" in solvers, name in ("bridge", "deck"))
        fits = {(fit["scene"], fit["solver"]) for fit in result["fits"]}
        self.assertIn(("bridge", "auto"), fits)
        self.assertIn(("flexible", "pcg"), fits)
        self.assertRegex(text, r"bridge: time of auto grows as n\^")
        self.assertRegex(text, r"auto takes at most \S+ times as long as the best")
        self.plot(plot)

    def plot(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        titles = {node.text for node in root.iter(SVG + "text") if node.get("font-weight") == "bold"}
        self.assertLessEqual({"bridge, rigid towers", "bridge, flexible towers", "deck", "net"}, titles)
        width, height = float(root.get("width")), float(root.get("height"))
        for line in root.iter(SVG + "polyline"):
            for point in line.get("points").split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 < x < width and 0 < y < height)
        for node in root.iter(SVG + "text"):
            self.assertNotIn("nan", node.text)

    def test_rigid_towers_take_one_iteration(self):
        for size in (80, 320):
            _, result = self.bench("--only", f"bridge:{size}", "--seconds", "0")
            row, = [r for r in result["rows"] if r["solver"] == "pcg"]
            self.assertEqual((row["dofs"], row["iterations"]), (size, 1))

    def test_deck_runs_to_its_end(self):
        _, result = self.bench("--only", "deck:40", "--seconds", "0.001")
        row, = [r for r in result["rows"] if r["solver"] == "auto"]
        self.assertEqual(row["run_steps"], 500)
        self.assertGreater(row["run_seconds"], 0)

    def test_check_only(self):
        text, result = self.bench("--only", "net:3", "--seconds", "0")
        self.assertNotIn("seconds", result["rows"][0])
        self.assertNotIn("grows", text)

    def test_dofs_of_the_paper(self):
        for scene, size, dofs in (("bridge", 80, 80), ("flexible", 20, 60), ("flexible", 40, 120)):
            _, result = self.bench("--only", f"{scene}:{size}", "--seconds", "0")
            self.assertEqual({row["dofs"] for row in result["rows"]}, {dofs})

    def test_quiet(self):
        self.assertEqual(self.good("bench", "redmax", "--only", "arm:1", "--seconds", "0", "--quiet"), "")

    def test_refused(self):
        for only in ("bridge", "bridge:", "bridge:x", "bridge:0", "star:5", ":5", "deck:100001"):
            self.bad(BAD_INPUT, f"sinew bench: --only: is '{only}', needs bridge:N, flexible:N, deck:N, net:N,"
                     " tensegrity:N or arm:N, N from 1 to 100000", "bench", "redmax", "--only", only)
        self.bad(BAD_INPUT, "sinew bench: bridge:3: --count: is 3, needs a whole number from 4 to 100000",
                 "bench", "redmax", "--only", "bridge:3", "--quiet")
        self.bad(BAD_INPUT, "sinew bench: --svg: the bench 'dynamics' draws nothing",
                 "bench", "dynamics", "--svg", self.place / "x.svg")
        self.bad(BAD_INPUT, "sinew bench: cannot write '/none/x.svg': No such file or directory",
                 "bench", "redmax", "--svg", "/none/x.svg")
        self.bad(BAD_INPUT, "sinew bench: cannot write the plot: No space left on device", "bench", "redmax", "--only",
                 "arm:1", "--seconds", "0", "--quiet", "--svg", "/dev/full")


if __name__ == "__main__":
    unittest.main()
