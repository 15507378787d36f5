"""`sinew diff`: what differs, by how much and when."""
import json
import unittest

import numpy as np

from command import BAD_INPUT, DONE, SCENES, Command, sinew

DIFFERENT = 1


class Diff(Command):
    def table(self, name, t, **columns):
        names = ["t", *columns]
        rows = zip(t, *columns.values())
        return self.write(name, "\n".join([",".join(names), *(",".join(repr(float(x)) for x in row) for row in rows)]) + "\n")

    def compare(self, a, b, *more):
        done = sinew("diff", a, b, "--json", *more)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)

    def test_largest_difference_and_its_time(self):
        t = np.linspace(0, 1, 11)
        y = np.sin(t)
        a = self.table("a.csv", t, y=y, z=t)
        b = self.table("b.csv", t, y=y + 1e-3 * (t == t[7]) - 1e-4 * (t == t[2]), z=t)
        code, result = self.compare(a, b)
        self.assertEqual((code, result["same"], result["times"]), (DIFFERENT, False, 11))
        worst, other = result["compared"]
        self.assertEqual((worst["name"], worst["differs"], worst["t"]), ("y", True, t[7]))
        self.assertAlmostEqual(worst["largest"], 1e-3, delta=1e-15)
        self.assertAlmostEqual(worst["size"], max(y), delta=1e-15)
        self.assertEqual((other["name"], other["differs"], other["largest"]), ("z", False, 0))
        self.assertIn("  y                        0.001 at t = 0.7, 0.0012 of the largest: 0.644217687 and 0.645217687\n",
                      sinew("diff", a, b).stdout)

    def test_tolerances(self):
        t = [0.0, 1.0]
        a, b = self.table("a.csv", t, y=[100, 200]), self.table("b.csv", t, y=[100, 201])
        for more, code in ([], 1), (["--abs", "0.99"], 1), (["--abs", "1"], 0), (["--rel", "0.0049"], 1), \
                (["--rel", "0.005"], 0), (["--abs", "0.5", "--rel", "0.0025"], 0):
            self.assertEqual(self.compare(a, b, *more)[0], code, more)

    def test_times_that_one_file_has(self):
        a = self.table("a.csv", [0, 0.5, 1, 1.5, 2], y=[0, 5, 10, 15, 20])
        b = self.table("b.csv", [0, 1, 2, 3], y=[0, 10, 20, 30])
        code, result = self.compare(a, b)
        self.assertEqual((code, result["times"], result["times_only"]), (DIFFERENT, 3, [2, 1]))
        self.assertEqual(result["compared"][0]["largest"], 0)
        self.assertEqual(self.compare(a, b, "--common")[0], DONE)
        c = self.table("c.csv", [0, 1, 2, 3], y=[0, 10, 20.5, 30])
        code, result = self.compare(a, c, "--common")
        self.assertEqual((code, result["compared"][0]["largest"], result["compared"][0]["t"]), (DIFFERENT, 0.5, 2))

    def test_steps_are_compared_at_common_times(self):
        """redmax is of first order: half the step, about half the error. recursive keeps to its tolerance, whatever the step:
        there every number is the same, and the command says that two steps were compared."""
        scene, paths = SCENES / "pendulum.yaml", {}
        for method in "redmax", "recursive":
            for step in 0.01, 0.02, 0.04:
                paths[method, step] = self.place / f"{method}{step}.snr"
                self.good("run", scene, "--duration", "1", "--quiet", "--method", method, "--step", step, "--every", step, "--out", paths[method, step])
        def apart(fine, coarse, *more):
            code, result = self.compare(paths["redmax", fine], paths["redmax", coarse], "--channels", "rod.q", *more)
            return code, result["times"], result["times_only"], result["compared"][0]["largest"]
        code, times, alone, small = apart(0.01, 0.02)
        self.assertEqual((code, times, alone), (DIFFERENT, 51, [50, 0]))
        large = apart(0.02, 0.04)[3]
        self.assertTrue(1.6 < large / small < 2.4, f"{large} and {small}")
        self.assertEqual(apart(0.01, 0.02, "--common", "--abs", str(1.001 * small))[0], DONE)
        self.assertEqual(apart(0.01, 0.02, "--common", "--abs", str(0.999 * small))[0], DIFFERENT)
        text = sinew("diff", paths["recursive", 0.01], paths["recursive", 0.02], "--common").stdout
        self.assertIn(": the same\n", text)
        self.assertIn("made with                recursive, step 0.01 and recursive, step 0.02\n", text)
        self.assertIn("largest difference       0: every number is the same\n", text)
        self.assertNotIn("made with", sinew("diff", paths["redmax", 0.01], paths["redmax", 0.01]).stdout)

    def test_names_that_one_file_has(self):
        a, b = self.table("a.csv", [0, 1], x=[1, 2], y=[1, 2]), self.table("b.csv", [0, 1], y=[1, 2], z=[1, 2], w=[0, 0])
        code, result = self.compare(a, b)
        self.assertEqual((code, result["names_only"]), (DIFFERENT, [1, 2]))
        self.assertEqual(self.compare(a, b, "--channels", "y")[0], DONE)

    def test_recordings(self):
        a, b, c = (self.place / name for name in ("a.snr", "b.snr", "c.csv"))
        scene = SCENES / "double_pendulum.yaml"
        self.good("run", scene, "--duration", "1", "--quiet", "--out", a)
        self.good("run", scene, "--duration", "1", "--quiet", "--out", b, "--set", "initial.upper.q=120.001*deg")
        self.good("run", scene, "--duration", "1", "--quiet", "--out", c)
        self.assertEqual(self.compare(a, a)[0], DONE)
        self.assertEqual(self.compare(a, c)[0], DONE, "a recording and the table of the same run")
        code, result = self.compare(a, b)
        kinds = {x["kind"]: x for x in result["compared"] if x["name"] == "upper"}
        self.assertEqual(code, DIFFERENT)
        self.assertTrue(kinds["turn"]["differs"])
        angle = next(x for x in result["compared"] if x["name"] == "upper.q")
        self.assertAlmostEqual(kinds["turn"]["largest"], angle["largest"], delta=1e-6)
        self.assertEqual(self.compare(a, b, "--abs", "0.1")[0], DONE)
        self.assertTrue(self.compare(a, b)[1]["same_model"])

    def test_rounding_of_poses(self):
        """Differences far below float32 pass with a tolerance far below float32."""
        a, b = self.place / "a.snr", self.place / "b.snr"
        for path, angle in (a, "1"), (b, "1+1e-12"):
            self.good("run", SCENES / "pendulum.yaml", "--duration", "1", "--quiet", "--out", path,
                      "--set", f"initial.rod.q={angle}")
        self.assertEqual(self.compare(a, b)[0], DIFFERENT)
        self.assertEqual(self.compare(a, b, "--rel", "1e-10", "--abs", "1e-10")[0], DONE)

    def test_refused(self):
        a, b = self.table("a.csv", [0, 1], y=[1, 2]), self.table("b.csv", [5, 6], y=[1, 2])
        c = self.table("c.csv", [0, 1], z=[1, 2])
        self.bad(BAD_INPUT, f"sinew diff: {a} and {b} have no time in common", "diff", a, b)
        self.bad(BAD_INPUT, f"sinew diff: {a} and {c} have no channel but t in common", "diff", a, c)
        self.bad(BAD_INPUT, "sinew diff: --rel: is -1, needs a number >= 0", "diff", a, b, "--rel", "-1")
        self.assertEqual(sinew("diff", a, self.place / "none.csv").returncode, BAD_INPUT)
        self.assertEqual(sinew("diff", a, a, "--quiet").stdout, "")


if __name__ == "__main__":
    unittest.main()
