"""sinew bench collision: what it checks, and the form of its results.  Speed is no matter of tests."""
import json
import unittest

from command import BAD_INPUT, Command

KINDS = ["sphere", "capsule", "box", "cylinder", "ellipsoid"]


class BenchCollision(Command):
    def test_quick(self):
        out = self.place / "bench.json"
        text = self.good("bench", "collision", "--quick", "--seconds", "0.0002", "--json", out)
        result = json.loads(out.read_text())
        self.assertEqual(result["bench"], "collision")
        pairs = {row["scene"] for row in result["rows"] if "seconds_touching" in row}
        self.assertEqual(pairs, {f"{a}-{b}" for i, a in enumerate(KINDS) for b in KINDS[i:]})
        crowds = {row["size"]: row for row in result["rows"] if row["scene"] == "crowd"}
        self.assertEqual(set(crowds), {100, 300, 1000})
        for size, row in crowds.items():
            self.assertGreater(row["points"], size)
        self.assertEqual([fit["scene"] for fit in result["fits"]], ["crowd"])
        self.assertRegex(text, r"crowd: time grows as n\^")

    def test_no_single_rows(self):
        self.bad(BAD_INPUT, "sinew bench: collision has no single rows", "bench", "collision", "--only", "box:2")


if __name__ == "__main__":
    unittest.main()
