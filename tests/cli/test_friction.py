"""Friction in joints by the command: every scene that has any, and what is said of it."""
import json
import re
import unittest

from command import SCENES, Command

RUBS = re.compile(r"friction: *\{[^}]*(mu|law|force)")


class Friction(Command):
    def report(self, *arguments):
        return json.loads(self.good("run", "--json", "--quiet", *arguments))

    def test_few_iterations_on_every_scene(self):
        names = [path for path in sorted(SCENES.rglob("*.yaml")) if RUBS.search(path.read_text())]
        self.assertGreaterEqual(len(names), 9)
        for path in names:
            result = self.report(path)
            self.assertLessEqual(result["friction"]["iterations"], 10, path.name)
            self.assertEqual(result.get("solver", {}).get("retries", 0), 0, path.name)
            if path.name == "friction_floor.yaml":  # where pins and contact hold each other
                self.assertLessEqual(result["friction"]["iterations_most"], 10)

    def test_the_summary_tells(self):
        text = self.good("run", SCENES / "redmax/chain.yaml", "--duration", 0.1)
        self.assertRegex(text, r"(?m)^  friction    in joints: [0-9.]+ iterations a step, at most [0-9]+$")
        text = self.good("run", SCENES / "pendulum.yaml", "--duration", 0.1)
        self.assertNotIn("friction", text)


if __name__ == "__main__":
    unittest.main()
