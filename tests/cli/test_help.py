"""Help, options and the small subcommands: new, schema, version."""
import json
import os
import re
import subprocess
import unittest

from command import BAD_INPUT, DONE, SCENES, SINEW, SOURCE, Command, sinew

COMMANDS = ["new", "make", "check", "run", "view", "convert", "plot", "diff", "replay", "inverse", "settle", "schema", "bench", "version"]

# A view goes on until somebody ends it: as soon as it has told its address.
UNTIL_UP = """#!/usr/bin/python3
import signal, subprocess, sys
view = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
view.stdout.readline()
view.send_signal(signal.SIGINT)
sys.exit(view.wait(60))
"""


class Help(Command):
    def test_list_of_commands(self):
        text = self.good("help")
        for name in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {name} +\S")
        self.assertEqual(text, self.good("--help"))
        self.assertEqual(text, self.good("-h"))

    def test_nothing_given(self):
        done = sinew()
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""))
        self.assertEqual(done.stderr, self.good("help"))

    def test_each_command(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                text = self.good(name, "--help")
                self.assertEqual(text, self.good("help", name))
                self.assertEqual(text, self.good(name, "-h"))
                self.assertTrue(text.startswith(f"usage: sinew {name}"))
                self.assertIn("\noptions:\n", text)
                self.assertRegex(text, rf"\nexamples:\n(  .*\n)*  sinew {name}")
                self.assertTrue(all(len(line) <= 100 for line in text.split("\n")), text)

    def test_options_are_indented(self):
        for name in COMMANDS + ["render"]:
            options = self.good(name, "--help").split("\noptions:\n")[1].split("\n\n")[0]
            for line in options.split("\n"):
                self.assertTrue(line.startswith("  ") or not line, f"{name}: {line}")

    def test_examples_work(self):
        """Every example of the help, in a copy of the scenes' folder."""
        os.symlink(SCENES, self.place / "scenes")
        for name in COMMANDS:
            examples = sinew(name, "--help").stdout.split("\nexamples:\n")[1].splitlines()
            self.assertGreater(len(examples), 0)
            for example in examples:
                if "scenes/arm.yaml" in example:
                    continue  # would write into the tree
                with self.subTest(example=example):
                    status = self.shell(example)
                    self.assertEqual(status, DONE)

    def shell(self, line):
        programs = self.place / "bin"
        if not programs.exists():
            programs.mkdir()
            os.symlink(SINEW, programs / "sinew")
            (programs / "until_up").write_text(UNTIL_UP)
            (programs / "until_up").chmod(0o755)
        line = line.replace("sinew view", "until_up sinew view").replace(" --open", "")
        run = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.place, capture_output=True,
                             text=True, check=False,
                             env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
        return run.returncode if run.returncode == 0 else (run.returncode, run.stderr)

    def test_unknown_command(self):
        self.bad(BAD_INPUT, "sinew: there is no command 'chekc': did you mean 'check'?", "chekc")
        self.bad(BAD_INPUT, "sinew: there is no command 'fly': see 'sinew help'", "fly")
        self.bad(BAD_INPUT, "sinew: there is no command 'runn': did you mean 'run'?", "help", "runn")


class Options(Command):
    def test_unknown_option(self):
        scene = SCENES / "pendulum.yaml"
        self.bad(BAD_INPUT, "sinew run: there is no option --chanels: did you mean --channels?",
                 "run", scene, "--chanels", "x")
        self.bad(BAD_INPUT, "sinew run: there is no option --stepp: did you mean --step?",
                 "run", scene, "--stepp=3")
        self.bad(BAD_INPUT, "sinew run: there is no option --colour: see 'sinew run --help'",
                 "run", scene, "--colour")
        self.bad(BAD_INPUT, "sinew run: there is no option -x: see 'sinew run --help'", "run", scene, "-x")
        self.bad(BAD_INPUT, "sinew schema: there is no option --markdwn: did you mean --markdown?",
                 "schema", "--markdwn")

    def test_values(self):
        scene = SCENES / "pendulum.yaml"
        self.bad(BAD_INPUT, "sinew run: --set needs a value: --set PATH=VALUE", "run", scene, "--set")
        self.bad(BAD_INPUT, "sinew run: --quiet takes no value", "run", scene, "--quiet=yes")
        self.bad(BAD_INPUT, "sinew run: --step: 'abc' is no number: unknown name 'abc' (known here: pi, deg, e)",
                 "run", scene, "--step", "abc")
        self.good("run", scene, "--step=1/100", "--duration", "2*0.05", "--quiet")

    def test_arguments(self):
        self.bad(BAD_INPUT, "sinew run: something is missing: sinew run FILE [OPTION...]", "run")
        self.bad(BAD_INPUT, "sinew run: 'b' is one too many: sinew run FILE [OPTION...]", "run", "a", "b")
        self.bad(BAD_INPUT, "sinew version: 'x' is one too many: sinew version [--json]", "version", "x")
        self.bad(BAD_INPUT, "sinew inverse: something is missing: sinew inverse SCENE MOTION.csv [--out TORQUES.csv]",
                 "inverse", "a")

    def test_end_of_options(self):
        path = self.write("--quiet", (SCENES / "pendulum.yaml").read_text())
        self.assertIn("--quiet: valid", self.good("check", "--", path.name, cwd=self.place))


class New(Command):
    def test_to_standard_output(self):
        text = self.good("new")
        self.assertIn("sinew: 1", text)
        self.assertEqual(text, self.good("new", "-"))
        self.assertTrue(all(len(line) <= 100 for line in text.split("\n")))

    def test_runs_as_it_is(self):
        self.good("new", "arm", cwd=self.place)
        self.assertIn("arm.yaml: valid", self.good("check", "arm.yaml", cwd=self.place))
        self.good("run", "arm.yaml", "--out", "motion.csv", cwd=self.place)
        self.assertGreater(len((self.place / "motion.csv").read_text().splitlines()), 200)

    def test_what_is_commented_out_works(self):
        text = re.sub(r"(?m)^# (motions:|  swing:)", r"\1", self.good("new"))
        self.assertIn("\nmotions:\n  swing:", text)
        self.assertIn("1 follows a motion, 3 are free to move", self.good("check", "-", stdin=text))

    def test_messages(self):
        self.assertEqual(self.good("new", "arm", cwd=self.place),
                         "written: arm.yaml\nnext:    sinew check arm.yaml\n"
                         "         sinew run arm.yaml --out motion.csv\n")
        self.assertEqual(self.good("new", "other.yml", "--quiet", cwd=self.place), "")
        self.assertTrue((self.place / "other.yml").exists())

    def test_overwriting(self):
        path = self.write("mine.yaml", "precious")
        self.bad(BAD_INPUT, "sinew new: 'mine.yaml' is there already: take another name, or --force to overwrite it",
                 "new", "mine.yaml", cwd=self.place)
        self.bad(BAD_INPUT, "sinew new: 'mine.yaml' is there already: take another name, or --force to overwrite it",
                 "new", "mine", cwd=self.place)
        self.assertEqual(path.read_text(), "precious")
        self.good("new", "mine.yaml", "--force", "--quiet", cwd=self.place)
        self.assertIn("sinew: 1", path.read_text())

    def test_cannot_write(self):
        self.bad(BAD_INPUT, "sinew new: cannot write 'no/such/arm.yaml': No such file or directory",
                 "new", "no/such/arm", cwd=self.place)
        os.symlink("/dev/full", self.place / "full.yaml")
        self.bad(BAD_INPUT, "sinew new: cannot write 'full.yaml': No space left on device",
                 "new", "full", "--force", cwd=self.place)


class Small(Command):
    def test_version(self):
        lines = self.good("version").splitlines()
        self.assertRegex(lines[0], r"^sinew \d+\.\d+\.\d+ \(commit \S+\)$")
        self.assertRegex(lines[1], r"^  compiler  \S")
        self.assertRegex(lines[2], r"^  flags     -\S")
        self.assertEqual(lines, self.good("--version").splitlines())
        facts = json.loads(self.good("version", "--json"))
        self.assertEqual(f"sinew {facts['version']} (commit {facts['commit']})", lines[0])
        self.assertEqual(set(facts), {"version", "commit", "compiler", "flags", "build", "system"})
        self.assertIn(f"VERSION {facts['version']} ", (SOURCE / "CMakeLists.txt").read_text())

    def test_schema(self):
        schema = json.loads(self.good("schema"))
        self.assertIn("draft-07", schema["$schema"])
        self.assertIn("| key |", self.good("schema", "--markdown"))


if __name__ == "__main__":
    unittest.main()
