"""What the tests of the command share: running it, and reading what it wrote."""
import csv
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("SINEW_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SINEW = os.environ.get("SINEW", str(SOURCE / "build" / "sinew"))
SCENES = SOURCE / "scenes"
DATA = SOURCE / "tests" / "data" / "cli"
DONE, BAD_INPUT, STOPPED = 0, 2, 3
PATIENCE = 20000 if os.environ.get("SINEW_SOAK") else 300  # seconds


def sinew(*arguments, stdin=None, cwd=None):
    return subprocess.run([SINEW, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          cwd=cwd, check=False, timeout=PATIENCE)


def memory_of(process):
    """kB that a running process holds for itself: pages of files that it maps come and go with what else the machine does."""
    rollup = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
    return int(re.search(r"^Anonymous:\s+(\d+) kB", rollup, re.M)[1])


def read_csv(path):
    """{column: [numbers]}, in the order of the file."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


class Command(unittest.TestCase):
    """Each test has a directory of its own."""

    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def write(self, name, text):
        path = self.place / name
        path.write_text(text, encoding="utf-8")
        return path

    def good(self, *arguments, **keywords):
        """Runs it and expects that it works in silence on standard error."""
        done = sinew(*arguments, **keywords)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""), arguments)
        return done.stdout

    def bad(self, code, message, *arguments, **keywords):
        """Runs it and expects this exit code and this text on standard error."""
        done = sinew(*arguments, **keywords)
        self.assertEqual((done.returncode, done.stderr), (code, message + "\n"), arguments)
        return done.stdout
