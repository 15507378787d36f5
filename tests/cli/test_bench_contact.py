"""sinew bench contact: the form of its results, and that the solve does not fail more often than it should."""
import json
import unittest

from command import BAD_INPUT, Command


class BenchContact(Command):
    def test_quick(self):
        out = self.place / "bench.json"
        text = self.good("bench", "contact", "--quick", "--json", out)
        result = json.loads(out.read_text())
        self.assertEqual(result["bench"], "contact")
        random = [row for row in result["rows"] if row["scene"] == "random"]
        self.assertEqual([row["cone"] for row in random], ["box", "exact", "polyhedral", "anitescu"])
        for row in random:
            self.assertEqual(row["size"], 500)
            self.assertEqual((row["failed"], row["unsolved"]), (0, 0))
            self.assertLessEqual(row["residual"], 1e-8)
        heaps = [row for row in result["rows"] if row["scene"] == "heap"]
        self.assertEqual([row["size"] for row in heaps], [50, 100])
        for row in heaps:
            self.assertGreater(row["seconds"], 0)
            self.assertGreater(row["contacts"], row["size"])  # they lie on each other
            self.assertLess(row["deepest"], 0.02)
            self.assertGreater(row["seconds_falling"], 0)
            self.assertLess(row["deepest_falling"], 0.02)
        fit, = result["fits"]
        self.assertEqual(fit["scene"], "heap")
        self.assertRegex(text, r"heap: time of a step grows as n\^")

    def test_only(self):
        out = self.place / "bench.json"
        self.good("bench", "contact", "--quick", "--only", "heap:30", "--json", out)
        result = json.loads(out.read_text())
        self.assertEqual([(row["scene"], row["size"]) for row in result["rows"]], [("heap", 30)])
        self.assertEqual(result["fits"], [])  # one size has no growth
        self.good("bench", "contact", "--quick", "--only", "random:20", "--json", out)
        result = json.loads(out.read_text())
        self.assertEqual([(row["scene"], row["size"]) for row in result["rows"]], [("random", 20)] * 4)
        text = self.good("bench", "contact", "--quick", "--only", "heap")
        self.assertNotIn("Random", text)
        self.assertRegex(text, r"grows as n\^")

    def test_refused(self):
        for only in ("heaps", "heap:", "heap:0", "heap:2x", "random:-1", "heap:100001"):
            self.bad(BAD_INPUT, f"sinew bench contact: --only: is '{only}', needs random, heap, random:N or heap:N, "
                     "N from 1 to 100000", "bench", "contact", "--quick", "--only", only)


if __name__ == "__main__":
    unittest.main()
