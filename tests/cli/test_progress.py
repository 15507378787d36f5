"""Progress: on a terminal and after a second, never in a pipe."""
import os
import pty
import re
import select
import subprocess
import time
import unittest

from command import SCENES, SINEW, Command


def on_terminal(arguments, seconds, **keywords):
    """What it writes to standard error when that is a terminal, until it ends or time is up."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([SINEW, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs, **keywords)
    os.close(theirs)
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.05)[0]:
            try:
                text += os.read(ours, 65536)
            except OSError:  # closed at the other end
                break
    process.terminate()
    process.wait()
    while select.select([ours], [], [], 0)[0]:
        try:
            text += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    return text.decode(), process.returncode


class Progress(Command):
    LONG = ["run", SCENES / "pendulum.yaml", "--duration", "1e7"]

    def test_terminal(self):
        text, code = on_terminal(self.LONG, 2.5)
        self.assertEqual(code, 128 + 15)
        shown = re.findall(r"\r\x1b\[K( *\d+) %  (\S+) of 1e\+07 s  (\S+) x real time  (\S+) left", text)
        self.assertGreater(len(shown), 3, repr(text))
        self.assertLess(len(shown), 12)  # some five times a second, not at every step
        self.assertTrue(all(float(factor) > 1 for _, _, factor, _ in shown))
        self.assertTrue(all(re.fullmatch(r"(\d+:)?\d+:\d\d", left) for *_, left in shown), shown)
        times = [float(t) for _, t, _, _ in shown]
        self.assertEqual(times, sorted(times))
        self.assertTrue(text.endswith("\r\x1b[K"), "the line is wiped away at the end")

    def test_short_run_shows_nothing(self):
        text, code = on_terminal(["run", SCENES / "pendulum.yaml"], 10)
        self.assertEqual((text, code), ("", 0))

    def test_quiet(self):
        self.assertEqual(on_terminal([*self.LONG, "--quiet"], 1.6)[0], "")

    def test_pipe(self):
        process = subprocess.Popen([SINEW, *map(str, self.LONG)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.6)
        process.terminate()
        self.assertEqual(process.communicate()[1], b"")


if __name__ == "__main__":
    unittest.main()
