"""sinew bench friction: what it checks, and the form of its results.  Speed is no matter of tests."""
import json
import unittest
import xml.etree.ElementTree

from command import BAD_INPUT, Command


class BenchFriction(Command):
    def test_quick(self):
        out, plot = self.place / "bench.json", self.place / "plot.svg"
        text = self.good("bench", "friction", "--quick", "--json", out, "--svg", plot)
        result = json.loads(out.read_text())
        self.assertEqual(result["bench"], "friction")
        chain = {row["solver"]: row for row in result["rows"] if row["scene"] == "chain"}
        self.assertEqual(set(chain), {"bisp", "bisp, maximal problem", "sp"})
        walker = [row for row in result["rows"] if row["scene"] == "klann"]
        self.assertEqual([row["mu"] for row in walker], [0, 0.2, 0.4, 0.6, 0.8])
        torques = [row["mean_torque"] for row in walker]
        self.assertEqual(torques, sorted(torques))
        self.assertTrue(all(row["iterations"] <= 10 for row in [chain["bisp"], *walker]))
        self.assertIn("chain of 4 links", text)
        xml.etree.ElementTree.parse(plot)

    def test_only(self):
        text = self.good("bench", "friction", "--quick", "--only", "chain")
        self.assertNotIn("klann", text)
        self.bad(BAD_INPUT, "sinew bench: --only: there is no 'ladder' here: chain or klann", "bench", "friction", "--only", "ladder")


if __name__ == "__main__":
    unittest.main()
