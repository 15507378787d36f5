"""sinew bench: the contract of its options and files.  Speed itself is no matter of tests."""
import json
import unittest

from command import BAD_INPUT, Command


class Bench(Command):
    def test_list(self):
        text = self.good("bench")
        self.assertRegex(text, r"(?m)^dynamics +\S")
        self.assertRegex(text, r"(?m)^redmax +\S")
        self.assertRegex(text, r"(?m)^loops +\S")
        self.assertRegex(text, r"(?m)^all +\S")

    def test_quick(self):
        out = self.place / "bench.json"
        text = self.good("bench", "dynamics", "--quick", "--seconds", "0.002", "--json", out)
        self.assertIn("humanoid", text)
        result = json.loads(out.read_text())
        self.assertEqual(result["bench"], "dynamics")
        self.assertLessEqual({"cpu", "cores", "compiler", "flags", "commit"}, set(result["machine"]))
        kinds = {(row["scene"], row["method"]) for row in result["rows"]}
        self.assertEqual(kinds, {(scene, method) for scene in ("chain", "tree", "humanoid")
                                 for method in ("recursive", "passes", "textbook", "memory")})
        for row in result["rows"]:
            self.assertGreater(row["seconds"], 0)
            self.assertGreaterEqual(row["median_seconds"], row["seconds"])
            self.assertAlmostEqual(row["ns_per_link"], 1e9 * row["seconds"] / row["size"], delta=1e-3 * row["ns_per_link"])
            if row["method"] == "recursive":
                self.assertLess(row["qdd_difference"], 1e-10)
                self.assertGreater(row["bytes_touched"], 100 * row["size"])
        fits = {(fit["scene"], fit["method"], fit["quantity"], fit["rows"]): fit["exponent"] for fit in result["fits"]}
        for scene in ("chain", "tree"):
            self.assertIn((scene, "recursive", "seconds", "all"), fits)
            self.assertIn((scene, "textbook", "seconds", "all"), fits)

    def test_memory_is_linear(self):
        out = self.place / "bench.json"
        self.good("bench", "dynamics", "--quick", "--seconds", "0.002", "--json", out, "--quiet")
        for fit in json.loads(out.read_text())["fits"]:
            if fit["quantity"] == "bytes":  # where the system tells
                self.assertAlmostEqual(fit["exponent"], 1, delta=0.05)

    def test_for_other_programs(self):
        """What bench/peers/compare.py asks for."""
        for scene, size, dofs in (("chain", 10, 10), ("tree", 31, 31), ("humanoid", 22, 27)):
            out = self.place / "out.json"
            self.good("bench", "dynamics", "--only", f"{scene}:{size}", "--seconds", "0", "--dump-qdd", out)
            row, = [r for r in json.loads(out.read_text())["rows"] if r["method"] == "recursive"]
            self.assertEqual((row["scene"], row["size"], len(row["qdd"])), (scene, size, dofs))
            self.assertGreater(max(map(abs, row["qdd"])), 1)
            self.good("bench", "dynamics", "--only", f"{scene}:{size}", "--seconds", "0.01", "--json", out)
            row, = [r for r in json.loads(out.read_text())["rows"] if r["method"] == "recursive"]
            self.assertEqual((row["scene"], row["size"]), (scene, size))
            self.assertGreater(row["seconds"], 0)

    def test_all_is_a_list(self):
        out = self.place / "out.json"
        self.assertEqual(self.good("bench", "all", "--quick", "--quiet", "--seconds", "0.001", "--json", out), "")
        self.assertEqual([bench["bench"] for bench in json.loads(out.read_text())], ["dynamics", "redmax", "loops", "friction",
                          "collision", "contact", "structured"])

    def test_quiet(self):
        self.assertEqual(self.good("bench", "dynamics", "--only", "chain:10", "--seconds", "0.001", "--quiet"), "")

    def test_refused(self):
        self.bad(BAD_INPUT, "sinew bench: there is no bench 'dynamic': did you mean 'dynamics'?", "bench", "dynamic")
        self.bad(BAD_INPUT, "sinew bench: there is no bench 'xyz': 'sinew bench' lists them", "bench", "xyz")
        self.bad(BAD_INPUT, "sinew bench: --seconds: is -1, needs a number >= 0", "bench", "dynamics", "--seconds", "-1")
        self.bad(BAD_INPUT, "sinew bench: cannot write '/none/x.json': No such file or directory",
                 "bench", "dynamics", "--json", "/none/x.json")
        for only in ("chain", "chain:", "chain:x", "chain:0", "chain:-3", "chain:1e3", "star:5", "humanoid:3", ":5",
                     "chain:99999999999"):
            self.bad(BAD_INPUT, f"sinew bench: --only: is '{only}', needs chain:N, tree:N or humanoid:22,"
                     " N from 1 to 10000000", "bench", "dynamics", "--only", only)


if __name__ == "__main__":
    unittest.main()
