"""`sinew view --panel`: files that cannot be put into the page are refused before the server starts."""
import json
import unittest

from command import BAD_INPUT, SCENES, SOURCE, Command, sinew


class Panel(Command):
    def refused(self, path):
        done = sinew("view", SCENES / "pendulum.yaml", "--panel", path)
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""))
        return done.stderr

    def test_refused(self):
        if "without libwebsockets" in sinew("view", "nothing").stderr:
            self.skipTest("the command was built without libwebsockets")
        self.assertIn("cannot read", self.refused(self.place / "nothing.json"))
        self.assertIn("has '<' in it, needs \\u003c", self.refused(self.write("a.json", '{"title": "</script>"}')))
        self.assertIn("has more than 65536 bytes", self.refused(self.write("b.json", '"' + "x" * 70000 + '"')))

    def test_that_of_the_demo(self):
        text = (SOURCE / "scripts" / "demo_panel.json").read_text(encoding="utf-8")
        self.assertNotIn("<", text)
        story = json.loads(text)
        self.assertTrue(all(len(row) == len(story["columns"]) for row in story["rows"]))


if __name__ == "__main__":
    unittest.main()
