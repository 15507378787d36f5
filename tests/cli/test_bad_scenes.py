"""Malformed scenes and their exact messages.

Each tests/data/bad/NAME.yaml has its messages in NAME.expected: what `sinew check NAME.yaml` writes
to stderr when it runs in that folder. The exit code is 2.

    test_bad_scenes.py            check
    test_bad_scenes.py --update   write the .expected files anew; then read what has changed
"""

import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("SINEW_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SINEW = os.environ.get("SINEW", str(SOURCE / "build" / "sinew"))
BAD = SOURCE / "tests" / "data" / "bad"


def check(path):
    return subprocess.run([SINEW, "check", path.name], cwd=BAD, capture_output=True, check=False,
                          timeout=60)


class BadScenes(unittest.TestCase):
    def test_messages(self):
        scenes = sorted(BAD.glob("*.yaml"))
        self.assertGreaterEqual(len(scenes), 30)
        for path in scenes:
            with self.subTest(scene=path.name):
                done = check(path)
                expected = path.with_suffix(".expected").read_text()
                self.assertEqual(done.stderr.decode(), expected)
                self.assertEqual(done.returncode, 2)

    def test_nothing_is_left_over(self):
        for path in BAD.glob("*.expected"):
            self.assertTrue(path.with_suffix(".yaml").exists(), path.name)

    def test_several_errors_are_in_file_order(self):
        lines = (BAD / "several_errors.expected").read_text().splitlines()
        numbers = [int(line.split("line ")[1].split(",")[0]) for line in lines]
        self.assertGreater(len(numbers), 9)
        self.assertEqual(numbers, sorted(numbers))

    def test_missing_file(self):
        done = check(BAD / "no_such_scene.yaml")
        self.assertEqual(done.stderr.decode(), "no_such_scene.yaml: No such file or directory\n")
        self.assertEqual(done.returncode, 2)


def update():
    for path in sorted(BAD.glob("*.yaml")):
        path.with_suffix(".expected").write_bytes(check(path).stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
