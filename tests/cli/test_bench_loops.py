"""sinew bench loops: what it checks, and the form of its results.  Speed is no matter of tests."""
import json
import re
import unittest
import xml.etree.ElementTree

from command import BAD_INPUT, Command

SVG = "{http://www.w3.org/2000/svg}"
SCENES = {"bridge", "flexible", "umbrella", "fourbar", "ladder"}


class BenchLoops(Command):
    def bench(self, *arguments):
        out = self.place / "bench.json"
        text = self.good("bench", "loops", *arguments, "--json", out)
        return text, json.loads(out.read_text())

    def test_quick(self):
        plot = self.place / "plot.svg"
        text, result = self.bench("--quick", "--seconds", "0.0005", "--svg", plot)
        self.assertEqual(result["bench"], "loops")
        self.assertEqual({row["scene"] for row in result["rows"]}, SCENES)
        for name in SCENES:
            solvers = {row["solver"] for row in result["rows"] if row["scene"] == name}
            self.assertLessEqual({"auto", "graph"}, solvers)
            # springs between moving bodies are no tree
            self.assertEqual("tree" in solvers, name not in ("flexible", "umbrella"))
        for row in result["rows"]:
            if row["solver"] in ("tree", "pcg", "graph"):
                self.assertLessEqual(row["difference"], 1e-9)
        self.assertIn(("umbrella", "auto"), {(fit["scene"], fit["solver"]) for fit in result["fits"]})
        self.assertRegex(text, r"ladder: time of auto grows as n\^")
        titles = {node.text for node in xml.etree.ElementTree.parse(plot).getroot().iter(SVG + "text")
                  if node.get("font-weight") == "bold"}
        self.assertLessEqual({"bridge, rigid towers", "umbrella", "four-bars in a row", "ladder"}, titles)
        self.assertNotIn("deck", titles)

    def test_solvers_close_gaps_in_the_same_pose(self):
        for scene in "bridge:16", "bridge:20", "flexible:20":
            _, result = self.bench("--only", scene, "--seconds", "0")
            self.assertIn("reduced-kkt", {row["solver"] for row in result["rows"]})
            for row in result["rows"]:
                self.assertLessEqual(row["difference"], 1e-10, f"{scene}, {row['solver']}")

    def runs(self, *arguments):
        _, result = self.bench(*arguments)
        row, = [row for row in result["rows"] if row["solver"] == "auto"]
        return {run["integrator"]: run for run in row["runs"]}

    def test_two_windows_end_where_the_library_says(self):
        runs = self.runs("--only", "fourbar:2", "--seconds", "0.001")
        self.assertEqual(set(runs), {"euler", "extrapolated", "rk4", "dopri5"})
        for run in runs.values():
            self.assertEqual((run["steps"], round(run["duration"], 9)), (10000, 10))
            self.assertLess(run["gap"], 1e-9)
            self.assertGreater(run["seconds"], 0)
        self.assertLess(runs["extrapolated"]["first_joint_off"], 4e-3)
        self.assertLess(runs["rk4"]["first_joint_off"], 1e-8)
        self.assertLess(runs["extrapolated"]["energy_error"], 0.1)

    def test_quick_runs_are_short(self):
        for scene, integrators in (("fourbar:40", 4), ("ladder:96", 1)):
            runs = self.runs("--quick", "--only", scene, "--seconds", "0.0005")
            self.assertEqual(len(runs), integrators)
            for run in runs.values():
                self.assertEqual(run["steps"], 50)
                self.assertNotIn("first_joint_off", run)

    def test_check_only(self):
        text, result = self.bench("--only", "umbrella:4", "--seconds", "0")
        self.assertNotIn("seconds", result["rows"][0])
        self.assertNotIn("grows", text)

    def test_every_solver_solves(self):
        # a scene may run with dopri5, of which a step of the clock need not be a solve
        _, result = self.bench("--only", "fourbar:4", "--seconds", "0")
        for row in result["rows"]:
            self.assertLessEqual(row["difference"], 1e-12, row["solver"])
            self.assertEqual(row["difference"] > 0, row["solver"] != "graph", row["solver"])  # which is what they are held to

    def test_solvers_close_loops_alike(self):
        # the end of a long deck: many ways to close it, and all solvers take the same one
        _, result = self.bench("--only", "flexible:320", "--seconds", "0")
        self.assertEqual({row["solver"] for row in result["rows"]}, {"auto", "pcg", "graph", "reduced", "reduced-kkt"})
        for row in result["rows"]:
            self.assertLessEqual(row["difference"], 1e-9, row["solver"])

    def test_dofs_of_the_paper(self):
        for scene, size, dofs in (("bridge", 80, 80), ("flexible", 20, 60), ("umbrella", 10, 241), ("umbrella", 46, 1105)):
            _, result = self.bench("--only", f"{scene}:{size}", "--seconds", "0")
            self.assertEqual({row["dofs"] for row in result["rows"]}, {dofs})

    def taken(self, name, *arguments, change=lambda text: text):
        scene = self.place / "scene.yaml"
        scene.write_text(change(self.good("make", name, *arguments)))
        text = self.good("run", scene, "--integrator", "euler", "--duration", "0.02", "--out", self.place / "out.csv",
                         "--channels", "T")
        return re.search(r"auto took (.*) for \d+ rows", text).group(1)

    def test_auto_counts_what_solvers_cost(self):
        # whichever was measured to be the fastest
        flexible = ("--towers", "flexible", "--end", "loop", "--weight", "2400000")
        for way, name, *arguments in (("the dual", "bridge", "--count", "80", "--end", "loop"),
                                      ("the dual", "bridge", "--count", "20", *flexible),
                                      ("the dual", "umbrella", "--count", "10"),
                                      ("the dual", "umbrella", "--count", "46"),
                                      ("reduced-kkt", "fourbar", "--count", "40"),
                                      ("reduced-kkt", "ladder", "--count", "4"),
                                      ("graph", "ladder", "--count", "12")):
            self.assertEqual(self.taken(name, *arguments), way, (name, arguments))

    def test_stiff_springs_between_bodies_are_no_matter_of_coordinates(self):
        def stiffen(text):
            return re.sub("spring, stiffness: [0-9.]+", "spring, stiffness: 1e12", text)
        self.assertEqual(self.taken("umbrella", "--count", "10", change=stiffen), "graph")

    def test_refused(self):
        for only in ("deck:80", "ladder", "ladder:0", "fourbar:100001"):
            self.bad(BAD_INPUT, f"sinew bench: --only: is '{only}', needs bridge:N, flexible:N, umbrella:N, fourbar:N"
                     " or ladder:N, N from 1 to 100000", "bench", "loops", "--only", only)


if __name__ == "__main__":
    unittest.main()
