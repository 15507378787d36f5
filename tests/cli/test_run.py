"""sinew run: recordings, options, summaries, and every way to fail."""
import json
import math
import os
import re
from pathlib import Path
import signal
import subprocess
import time
import unittest

from command import BAD_INPUT, DATA, DONE, SCENES, SINEW, STOPPED, Command, read_csv, sinew

PENDULUM = SCENES / "pendulum.yaml"


class Recording(Command):
    def record(self, scene, *arguments):
        out = self.place / "out.csv"
        self.good("run", scene, "--quiet", "--out", out, *arguments)
        return read_csv(out)

    def test_header_and_first_row(self):
        table = self.record(PENDULUM)
        self.assertEqual(list(table), ["t", "T", "V", "E", "rod.q", "rod.qd", "rod.tau"])
        self.assertEqual(table["t"][0], 0)
        self.assertEqual(table["rod.q"][0], math.pi / 2)
        self.assertEqual(table["rod.qd"][0], 0)

    def test_times(self):
        table = self.record(PENDULUM, "--duration", "1")
        self.assertEqual(table["t"], [2 * k * 0.01 for k in range(51)])

    def test_names_of_several_coordinates(self):
        table = self.record(SCENES / "demo.yaml", "--duration", "0.01")
        for name in ("turret.q", "wand.q0", "wand.q1", "ribbon_60.q2", "wand.qd1", "wand.tau0", "axle.q0"):
            self.assertIn(name, table)
        for name in ("wand.q", "turret.q0", "wand.q2"):
            self.assertNotIn(name, table)

    def test_all_digits(self):
        """Numbers come back bit for bit: the recording has the state that --save has."""
        table = self.record(PENDULUM, "--duration", "1", "--save", self.place / "end")
        again = self.place / "again.csv"
        self.good("run", PENDULUM, "--quiet", "--load", self.place / "end", "--duration", "0", "--out", again)
        self.assertEqual({k: v[-1:] for k, v in table.items()}, read_csv(again))

    def test_energies_add_up(self):
        table = self.record(PENDULUM)
        for kinetic, potential, total in zip(table["T"], table["V"], table["E"]):
            self.assertEqual(kinetic + potential, total)
        # rel_tol is 1e-8 and the energies are up to 50
        self.assertLess(max(map(abs, table["E"])), 1e-4)

    def test_same_motion_however_it_is_recorded(self):
        often, seldom = self.record(PENDULUM, "--every", "0"), self.record(PENDULUM, "--every", "0.1")
        self.assertEqual(often["rod.q"][::10], seldom["rod.q"])

    def test_any_time_with_dopri5(self):
        table = self.record(PENDULUM, "--every", "0.015", "--duration", "0.3")
        self.assertEqual(len(table["t"]), 21)
        for k, t in enumerate(table["t"]):
            self.assertAlmostEqual(t, 0.015 * k, places=14)
        fine = self.record(PENDULUM, "--every", "0.001", "--duration", "0.3")
        # the same motion, up to the integrator's tolerance of 1e-8
        for k, q in enumerate(table["rod.q"]):
            self.assertAlmostEqual(q, fine["rod.q"][15 * k], places=6)

    def test_rate(self):
        for integrator, step, rate, every in (("dopri5", 0.01, 30, 1 / 30), ("rk4", 0.01, 20, 0.05), ("rk4", 0.01, 30, 0.01),
                                              ("rk4", 0.001, 30, 0.008), ("rk4", 0.1, 30, 0.1)):
            table = self.record(PENDULUM, "--integrator", integrator, "--step", step, "--rate", rate, "--duration", "0.4")
            self.assertAlmostEqual(table["t"][1] - table["t"][0], every, places=14)
        self.bad(BAD_INPUT, "sinew run: --every and --rate both say how often to record: give one", "run", PENDULUM, "--every", "1", "--rate", "1")

    def test_last_step_is_shorter(self):
        for integrator in ("dopri5", "rk4"):
            table = self.record(PENDULUM, "--duration", "0.255", "--integrator", integrator)
            self.assertEqual(table["t"][-1], 0.255)
            self.assertAlmostEqual(table["t"][-2], 0.24, places=14)
            self.assertEqual(len(table["t"]), 14)
        short, long = (self.record(PENDULUM, "--duration", d, "--every", 0, "--integrator", "rk4")
                       for d in ("0.255", "0.26"))
        self.assertEqual(short["rod.q"][:-1], long["rod.q"][:-1])
        self.assertGreater(short["rod.q"][-1], long["rod.q"][-1])

    def test_shorter_than_a_step(self):
        self.assertEqual(self.record(PENDULUM, "--duration", "0.001")["t"], [0, 0.001])

    def test_no_time_at_all(self):
        self.assertEqual(self.record(PENDULUM, "--duration", "0")["t"], [0])

    def test_channels(self):
        table = self.record(SCENES / "double_pendulum.yaml", "--duration", "0.02", "--channels", "E,*.pos.z")
        names = list(table)
        self.assertEqual(names[:2], ["t", "E"])
        self.assertEqual(len(names), 4)
        self.assertTrue(all(name.endswith(".pos.z") for name in names[2:]))
        table = self.record(PENDULUM, "--channels", "rod.q?", "--channels", "T", "--channels=t")
        self.assertEqual(list(table), ["t", "T", "rod.qd"])

    def test_channels_of_the_scene(self):
        table = self.record(PENDULUM, "--set", "run.record.channels=[rod.quat.*]")
        self.assertEqual(list(table), ["t", "rod.quat.w", "rod.quat.x", "rod.quat.y", "rod.quat.z"])
        table = self.record(PENDULUM, "--set", "run.record.channels=[rod.quat.*]", "--channels", "E")
        self.assertEqual(list(table), ["t", "E"])

    def test_standard_output(self):
        done = sinew("run", PENDULUM, "--duration", "0.04", "--out", "-")
        self.assertEqual(done.returncode, DONE)
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], len(lines)), ("t,T,V,E,rod.q,rod.qd,rod.tau", 4))
        self.assertIn("recorded    standard output: 3 rows of 7 columns", done.stderr)
        self.assertEqual(self.good("run", PENDULUM, "--duration", "0.04", "--out", "-", "--quiet"), done.stdout)


DRIVEN = """sinew: 1
defaults: {joint: {type: revolute, axis: [0, 1, 0]}, shape: {density: 1000}}
bodies:
  a: {joint: {}, shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, 1], radius: 0.04}]}
  b: {parent: a, joint: {at: [0, 0, 1]}, shapes: [{type: capsule, from: [0, 0, 0], to: [1.5, 0, 0.2], radius: 0.04}]}
  c: {joint: {at: [1.5, 0, 0]}, shapes: [{type: capsule, from: [0, 0, 0], to: [0, 0, 1.2], radius: 0.04}]}
run: {duration: 0.3}
"""
CLOSED = "loops: {l: {type: revolute, axis: [0, 1, 0], a: {body: b, at: [1.5, 0, 0.2]}, b: {body: c, at: [0, 0, 1.2]}}}\n"
KEYS = "{keyframes: [[0, 0], [0.2, 0.1], [0.4, 0]], interpolation: %s}"


class MotionsThatJump(Command):
    """Whatever the method, and with loops or without."""

    def go(self, method, closed, motion):
        scene = DRIVEN + (CLOSED if closed else "") + motion
        return sinew("run", "-", "--method", method, "--quiet", "--out", "-", "--channels", "a.q", stdin=scene, cwd=self.place)

    def test_place(self):
        jump = "motions: {m: {joint: a, q: %s, active: %s}}\n"
        point = 'motions: {m: {body: c, at: [0, 0, 1.2], point: [1.5, 0, "1.2 - 0.01*step(t - 0.2)"]}}\n'
        tied = 'constraints: {m: {type: couple, terms: [{joint: a, factor: 1}, {joint: c, factor: -1}], offset: "0.1*step(t - 0.2)"}}\n'
        for method in ("recursive", "redmax", "structured"):
            for closed in (False, True):
                for motion in (jump % ('"0.1*step(t - 0.2)"', 1), jump % (KEYS % "step", 1), point, tied):
                    if motion == point and method != "recursive":
                        continue  # it is out of reach
                    done = self.go(method, closed and motion not in (point, tied), motion)
                    if method != "recursive":  # in one step
                        self.assertEqual(done.returncode, DONE, motion + done.stderr)
                        q = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
                        if "joint: a, q" in motion:
                            self.assertLess(abs(q[21] - q[19] - 0.1), 1e-9)
                        continue
                    self.assertEqual(done.returncode, STOPPED, motion + done.stderr)
                    self.assertIn("'m' jumps at t = 0.2: it wants to be at ", done.stderr)
                    self.assertEqual(len(done.stdout.splitlines()), 1 + 20)
                # what it does while it is off is nobody's affair
                done = self.go(method, closed, jump % ('"0.1*step(t - 0.2)"', '"t < 0.15"'))
                self.assertEqual(done.returncode, DONE, done.stderr)

    def test_rate(self):
        motion = "motions: {m: {joint: a, q: %s}}\n" % (KEYS % "linear")
        for method, closed, ends in (("recursive", False, True), ("recursive", True, False), ("redmax", False, False),
                                     ("redmax", True, False)):
            done = self.go(method, closed, motion)
            self.assertEqual(done.returncode, STOPPED if ends else DONE, done.stderr)
            if ends:
                self.assertIn("motion 'm' jumps at t = 0.2: it wants q = 0.1, qd = -0.5 where", done.stderr)
            else:
                self.assertAlmostEqual(float(done.stdout.splitlines()[-1].split(",")[1]), 0.05, delta=1e-9)


class Summary(Command):
    def test_text(self):
        out, state = self.place / "out.csv", self.place / "end.state"
        text = self.good("run", PENDULUM, "--out", out, "--save", state)
        number = r"-?[0-9.]+(e[-+][0-9]+)?"
        for pattern in (
                rf"^{re.escape(str(PENDULUM))}: done, t = 0 to 10 in {number} s \({number} x real time\)$",
                r"^  method      recursive \(integrator dopri5, rel_tol 1e-08, abs_tol 1e-10, max_steps 1000000\)$",
                r"^  steps       1000 of 0.01, with \d+ substeps \(\d+ repeated\) and \d+ evaluations$",
                rf"^  energy      start E = {number} \(T = 0, V = {number}\)$",
                rf"^              end   E = {number} \(T = {number}, V = {number}\)$",
                rf"^              largest change {number} at t = {number}, {number} of the largest T$",
                rf"^  recorded    {re.escape(str(out))}: 501 rows of 7 columns$",
                rf"^  saved       {re.escape(str(state))}: the state at t = 10$"):
            self.assertRegex(text, re.compile(pattern, re.M))

    def test_at_rest(self):
        """Where nothing moves, T is rounding: the change of energy is not compared with it."""
        text = self.good("run", PENDULUM, "--set", "initial.rod.q=1e-30")
        self.assertRegex(text, re.compile(r"^              largest change \S+ at t = \S+$", re.M))
        self.assertGreater(json.loads(self.good("run", PENDULUM, "--json", "--set",
                                                "initial.rod.q=1e-30"))["energy"]["largest_T"], 0)

    def test_one_row(self):
        out = self.place / "out.csv"
        text = self.good("run", PENDULUM, "--duration", "0", "--out", out, "--channels", "t")
        self.assertIn("out.csv: 1 row of 1 column\n", text)

    def test_json(self):
        out = self.place / "out.csv"
        result = json.loads(self.good("run", PENDULUM, "--json", "--out", out, "--duration", "2",
                                      "--set", "bodies.rod.joint.damping=1"))
        table = read_csv(out)
        self.assertEqual((result["status"], result["method"], result["steps"]), ("done", "recursive", 200))
        self.assertEqual((result["t_start"], result["t_end"], result["errors"]), (0, 2, []))
        self.assertEqual(result["recording"], {"file": str(out), "rows": 101, "columns": 7})
        self.assertEqual(result["energy"]["start"], {"T": table["T"][0], "V": table["V"][0], "E": table["E"][0]})
        self.assertEqual(result["energy"]["end"], {"T": table["T"][-1], "V": table["V"][-1], "E": table["E"][-1]})
        off = [abs(e - table["E"][0]) for e in table["E"]]
        self.assertEqual(result["energy"]["largest_change"], max(off))
        self.assertEqual(result["energy"]["largest_change_t"], table["t"][off.index(max(off))])
        self.assertGreater(result["real_time_factor"], 0)
        self.assertGreater(result["evaluations"], result["substeps"])

    def test_gaps(self):
        """How far loops have opened, whatever the method; without constraints there is nothing to say."""
        scene = SCENES / "redmax" / "fourbar.yaml"
        for options in (["--method", "recursive"], *(["--integrator", i] for i in ("euler", "extrapolated", "rk4", "dopri5"))):
            done = json.loads(self.good("run", scene, "--json", "--duration", "0.5", *options))
            self.assertLess(done["solver"]["gap"], 1e-9)
            self.assertGreater(done["solver"]["gap"], 0)
            self.assertTrue(done["solver"]["chosen"])
            self.assertRegex(self.good("run", scene, "--duration", "0.1", *options), r"\n  gaps +at most \S+e-1\d\n")
        loose = json.loads(self.good("run", SCENES / "redmax" / "ladder.yaml", "--json", "--duration", "0.5", "--set",
                                     "run.redmax.closure=baumgarte"))
        self.assertGreater(loose["solver"]["gap"], 1e-6)
        self.assertNotIn("  gaps ", self.good("run", PENDULUM, "--duration", "0.1"))

    def test_quiet(self):
        self.assertEqual(self.good("run", PENDULUM, "--quiet"), "")

    def test_nothing_recorded_by_itself(self):
        text = self.good("run", PENDULUM, cwd=self.place)
        self.assertEqual(list(self.place.iterdir()), [])
        self.assertNotIn("recorded", text)

    def test_standard_input(self):
        text = PENDULUM.read_text(encoding="utf-8")
        self.assertTrue(self.good("run", "-", stdin=text).startswith("-: done, t = 0 to 10 "))

    def test_set_and_overrides(self):
        result = json.loads(self.good("run", PENDULUM, "--json", "--integrator", "rk4", "--step", "1/50",
                                      "--duration", "1", "--method", "recursive"))
        self.assertEqual((result["recursive"]["integrator"], result["steps"], result["evaluations"]), ("rk4", 50, 200))
        result = json.loads(self.good("run", PENDULUM, "--json", "--set", "run.recursive.integrator=rk4",
                                      "--set", "run.step=0.1"))
        self.assertEqual((result["steps"], result["step"]), (100, 0.1))

    def test_same_bits_every_time(self):
        first, second = (json.loads(self.good("run", SCENES / "gyroscope.yaml", "--json", "--duration", "0.5"))
                         for _ in range(2))
        self.assertEqual(first["state_hash"], second["state_hash"])


class Refused(Command):
    def test_numbers(self):
        for option, value, needs in (("--step", "0", "> 0"), ("--step", "-1", "> 0"), ("--duration", "-1", ">= 0"),
                                     ("--every", "-0.1", ">= 0"), ("--rate", "0", "> 0")):
            self.bad(BAD_INPUT, f"sinew run: {option}: is {float(value):g}, needs a number {needs}",
                     "run", PENDULUM, option, value)
        self.bad(BAD_INPUT, "a duration of 1e+300 takes 1e+302 steps of 0.01, at most 1e+15",
                 "run", PENDULUM, "--duration", "1e300")

    def test_outputs_over_inputs(self):
        scene = self.place / "p.yaml"
        scene.write_text(Path(PENDULUM).read_text())
        before = scene.read_text()
        for options in (("--out", scene), ("--save", scene)):
            self.bad(BAD_INPUT, f"sinew run: {options[0]} {scene} would be written over {scene}: give it another name",
                     "run", scene, *options)
        both = self.place / "both"
        self.bad(BAD_INPUT, f"sinew run: --save {both} would be written over {both}: give it another name",
                 "run", scene, "--out", both, "--save", both)
        self.assertEqual(scene.read_text(), before)

    def test_recording_between_steps(self):
        out = self.place / "out.csv"
        self.bad(BAD_INPUT, "run.record.every: is 0.015, needs a multiple of the step 0.01: with fixed steps there are"
                 " states only there", "run", PENDULUM, "--integrator", "rk4", "--every", "0.015", "--out", out)
        self.bad(BAD_INPUT, "run.record.every: is 0.001, needs a multiple of the step 0.01: with fixed steps there are"
                 " states only there", "run", PENDULUM, "--integrator", "rk4", "--every", "0.001", "--out", out)
        self.assertFalse(out.exists())
        # without a recording it does not matter
        self.good("run", PENDULUM, "--integrator", "rk4", "--every", "0.015", "--quiet")

    def test_methods(self):
        self.bad(BAD_INPUT, "--integrator: the method 'recursive' has no 'euler', but dopri5|rk4",
                 "run", PENDULUM, "--integrator", "euler")
        done = sinew("run", PENDULUM, "--method", "projective")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertRegex(done.stderr, r"^this version has no method 'projective'; it has: recursive.*\n$")
        self.bad(BAD_INPUT, "method 'recursive' (dopri5, rk4) has no friction in joints (joint 'rod'): take redmax with the integrator euler or extrapolated, or leave out 'friction'",
                 "run", PENDULUM, "--set", "bodies.rod.joint.friction={mu: 0.1, pin_radius: 0.1, pin_length: 0.1}")
        self.bad(BAD_INPUT, "'redmax' with this integrator goes the way of 'recursive': method 'recursive' (dopri5, rk4) has no contact (body 'block'"
                 " has one): take redmax with the integrator euler or extrapolated, or leave out 'contact'",
                 "run", SCENES / "contact" / "ramp.yaml", "--integrator", "rk4")

    def test_channels(self):
        out = self.write("out.csv", "precious")
        self.bad(BAD_INPUT, "--channels: 'rodd.q' fits no channel: did you mean 'rod.q'?",
                 "run", PENDULUM, "--out", out, "--channels", "E,rodd.q")
        self.bad(BAD_INPUT, "run.record.channels: 'x*x' fits no channel; examples: E, NAME.q, NAME.pos.x, *.tau",
                 "run", PENDULUM, "--out", out, "--set", "run.record.channels=[x*x]")
        for words in ("", "E,", ",E", "E,,T"):
            self.bad(BAD_INPUT, "sinew run: --channels: has an empty word, needs PATTERNS separated by commas",
                     "run", PENDULUM, "--out", out, "--channels", words)
        self.bad(BAD_INPUT, "sinew run: --channels needs --out FILE: without it nothing is recorded",
                 "run", PENDULUM, "--channels", "E")
        self.assertEqual(out.read_text(), "precious")

    def test_scene(self):
        self.bad(BAD_INPUT, "none.yaml: No such file or directory", "run", "none.yaml")
        self.bad(BAD_INPUT, "--set: bodies.rod.joint.axis: is 0, needs a list of 3 numbers",
                 "run", PENDULUM, "--set", "bodies.rod.joint.axis=0")
        done = sinew("run", PENDULUM, "--json", "--set", "bodies.rod.joint.axis=[0, 0, 0]")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["status"], len(result["errors"])), (BAD_INPUT, "refused", 1))
        self.assertEqual(result["errors"][0]["path"], "bodies.rod.joint.axis")

    def test_files(self):
        self.bad(BAD_INPUT, "cannot write '/none/out.csv': No such file or directory",
                 "run", PENDULUM, "--out", "/none/out.csv")
        self.bad(BAD_INPUT, "cannot read 'none.state': No such file or directory",
                 "run", PENDULUM, "--load", "none.state")
        self.bad(BAD_INPUT, "sinew run: --json and --out - both want standard output",
                 "run", PENDULUM, "--json", "--out", "-")
        done = sinew("run", PENDULUM, "--save", "/none/end.state")
        self.assertEqual((done.returncode, done.stderr),
                         (BAD_INPUT, "cannot write '/none/end.state': No such file or directory\n"))

    def test_save_is_tried_before_the_run(self):
        """A state that cannot be saved is not found out after hours; what is there stays until then."""
        out = self.write("out.csv", "precious")
        for place, why in (("/none/end.state", "No such file or directory"), (self.place, "Is a directory"),
                           ("", "No such file or directory")):
            done = sinew("run", PENDULUM, "--duration", "1e9", "--out", out, "--save", place)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (BAD_INPUT, "", f"cannot write '{place}': {why}\n"))
        self.assertEqual(out.read_text(), "precious")
        # a run that is refused leaves no state, and none is lost
        state = self.place / "end.state"
        self.bad(BAD_INPUT, "cannot write '/none/out.csv': No such file or directory",
                 "run", PENDULUM, "--out", "/none/out.csv", "--save", state)
        self.assertFalse(state.exists())
        self.good("run", PENDULUM, "--duration", "0.1", "--quiet", "--save", state)
        before = state.read_bytes()
        self.bad(BAD_INPUT, "cannot write '/none/out.csv': No such file or directory",
                 "run", PENDULUM, "--out", "/none/out.csv", "--save", state)
        self.assertEqual(state.read_bytes(), before)


@unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
class DiskFull(Command):
    def test_on_the_way(self):
        """More than a buffer full: the run stops where it cannot be written."""
        done = sinew("run", PENDULUM, "--out", "/dev/full", "--duration", "1000", "--json")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stderr),
                         (BAD_INPUT, "cannot write '/dev/full': No space left on device\n"))
        self.assertEqual(result["status"], "stopped")
        self.assertLess(result["t_end"], 100)
        self.assertEqual(result["errors"][0]["text"], "cannot write '/dev/full': No space left on device")

    def test_at_the_end(self):
        """Less than a buffer full: the end of the file tells."""
        self.bad(BAD_INPUT, "cannot write '/dev/full': No space left on device",
                 "run", PENDULUM, "--out", "/dev/full", "--duration", "0.1", "--quiet")


class Stopped(Command):
    def test_not_finite(self):
        state = self.place / "last.state"
        done = sinew("run", DATA / "stiff.yaml", "--save", state, "--bundle", "none")
        self.assertEqual(done.returncode, STOPPED)
        match = re.fullmatch(r"bodies\.mass: at t = (\S+): 'mass' is not finite any more: take a smaller step, "
                             r"or dopri5\n", done.stderr)
        self.assertTrue(match, done.stderr)
        self.assertIn("stiff.yaml: stopped, t = 0 to ", done.stdout)
        # the last good state is saved
        again = json.loads(sinew("run", DATA / "stiff.yaml", "--load", state, "--duration", "0", "--json").stdout)
        self.assertAlmostEqual(again["t_start"] + 0.01, float(match[1]), places=6)

    def test_recording_is_finite(self):
        """The energy is too large for a number before the place is."""
        out = self.place / "out.csv"
        done = sinew("run", DATA / "stiff.yaml", "--out", out, "--json", "--bundle", "none")
        self.assertEqual(done.returncode, STOPPED)
        self.assertRegex(done.stderr, r"^bodies\.mass: at t = \S+: '[TV]' is not finite any more; 'mass' moves fastest\n$")
        self.assertEqual(json.loads(done.stdout)["status"], "stopped")
        table = read_csv(out)
        self.assertGreater(len(table["t"]), 10)
        self.assertTrue(all(math.isfinite(x) for column in table.values() for x in column))

    def test_too_many_substeps(self):
        done = sinew("run", PENDULUM, "--json", "--step", "1", "--set", "run.recursive.max_steps=3",
                     "--bundle", "none")
        self.assertEqual((done.returncode, done.stderr),
                         (STOPPED, "more than 3 substeps between t = 0 and 1: loosen the tolerance, or allow more with"
                          " run.recursive.max_steps\n"))
        result = json.loads(done.stdout)
        self.assertEqual((result["status"], result["t_end"]), ("stopped", 0))

    def test_a_pole_is_named(self):
        """Steps get ever smaller before it: the motion that has it is named."""
        done = sinew("run", PENDULUM, "--set", "motions={swing: {joint: rod, q: '1/(1.003-t)'}}", "--set", "initial={}", "--step", "0.01",
                     "--set", "run.recursive.max_steps=10000", "--duration", "2", "--quiet", "--bundle", "none")
        self.assertEqual(done.returncode, STOPPED)
        self.assertRegex(done.stderr, r"^motion 'swing': its function goes at a rate of \S+ at t = 1\.00\d+, and no 10000 "
                                      r"substeps follow it: it may have a pole\n$")

    def test_rows_that_say_the_same_are_not_at_odds(self):
        """Between the stages of a step gaps are open a little, and rows in surplus differ by that."""
        self.good("run", DATA / "point_over_ball.yaml", "--quiet", "--bundle", "none")


class Long(Command):
    SCENE = """
sinew: 1
bodies:
  link:
    joint: {type: revolute, axis: [0, 1, 0]}
    repeat: {count: COUNT, joint: {at: [0.01, 0, 0]}}
    shapes: [{type: capsule, from: [0, 0, 0], to: [0.01, 0, 0], radius: 0.002, density: 1000}]
run: {step: 0.0001, duration: 0.0003, recursive: {integrator: rk4}}
"""

    def memory(self, count):
        """Most memory in use, in bytes, while a chain of this many links is read, checked and run."""
        path = self.write("chain.yaml", self.SCENE.replace("COUNT", str(count)))
        process = subprocess.Popen([SINEW, "run", path, "--quiet", "--out", self.place / "out.csv", "--channels",
                                    f"E,link_{count}.pos.z"], stderr=subprocess.PIPE, text=True)
        message = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual((process.returncode, message), (DONE, ""))
        table = read_csv(self.place / "out.csv")
        # the end of the chain falls freely: it does not know yet that it is held
        self.assertAlmostEqual(table[f"link_{count}.pos.z"][-1], -9.81 / 2 * table["t"][-1]**2, places=9)
        return usage.ru_maxrss * 1024

    def test_hundred_thousand_links(self):
        small, large = self.memory(10000), self.memory(100000)
        if not os.environ.get("SINEW_SANITIZE"):  # which needs memory of its own
            self.assertLess(large, 10.5 * small)
            self.assertLess(large, 5000 * 100000)


class Interrupted(Command):
    def start(self, *arguments, scene=PENDULUM):
        process = subprocess.Popen([SINEW, "run", str(scene), "--duration", "1e6", *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def wait_for_rows(self, path):
        for _ in range(200):
            if path.exists() and path.stat().st_size > 10000:
                return
            time.sleep(0.05)
        self.fail("nothing was recorded")

    def test_ctrl_c(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out, state = self.place / f"{number}.csv", self.place / f"{number}.state"
            process = self.start("--out", out, "--every", "0.05", "--save", state, "--json")
            self.wait_for_rows(out)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual((process.returncode, stderr), (128 + number, ""))
            result = json.loads(stdout)
            self.assertEqual(result["status"], "interrupted")
            # the recording is whole: every row has all its cells, the last line is ended
            text = out.read_text()
            self.assertTrue(text.endswith("\n"))
            table = read_csv(out)
            self.assertEqual(len(table["t"]), result["recording"]["rows"])
            self.assertEqual({len(column) for column in table.values()}, {len(table["t"])})
            # up to the state at which it ended, whatever the time between records
            self.assertEqual(table["t"][-1], result["t_end"])
            # and the run can go on from there
            again = json.loads(self.good("run", PENDULUM, "--load", state, "--duration", "0.1", "--json"))
            self.assertEqual(again["t_start"], result["t_end"])

    def test_a_start_that_is_moved_is_told(self):
        scene = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}}\n"
                 "bodies: {arm: {joint: {}}, hand: {parent: arm, joint: {at: [0, 0, 1]}}, foot: {joint: {at: [1, 0, 0]}}}\n"
                 "constraints: {pin: {type: point, a: {body: hand, at: [1, 0, 0]}, b: {body: foot, at: [0, 0, 1]}}}\n"
                 "initial: {arm: {q: Q}, foot: {q: 0.3}, hand: {q: -0.3}}\nrun: {duration: 0.02, step: 0.01}\n")
        for q, arguments, told in (("0.5", (), True), ("0.3", (), False), ("0.3001", (), False), ("0.5", ("--quiet",), False)):
            done = sinew("run", "-", *arguments, stdin=scene.replace("Q", q))
            line = r"^start: 'pin' was open by 0\.\d+: \w+\.q is \S+ instead of \S+, and 2 more differ\n$" if told else "^$"
            self.assertEqual(done.returncode, DONE)
            self.assertRegex(done.stderr, line)
        moved = json.loads(sinew("run", "-", "--json", stdin=scene.replace("Q", "0.5")).stdout)["start_moved"]
        self.assertIn("'pin' was open by", moved)
        self.assertNotIn("start_moved", json.loads(sinew("run", "-", "--json", stdin=scene.replace("Q", "0.3")).stdout))

    def test_a_signal_and_its_echo_are_one(self):
        # timeout(1) signals its child and then the group of the child; the steps of this scene are long
        # enough for both to come in one
        scene = self.place / "bridge.yaml"
        scene.write_text(self.good("make", "bridge", "--count", "2000"))
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.place / f"echo{number}.csv"
            process = self.start("--out", out, "--json", scene=scene)
            self.wait_for_rows(out)
            for _ in range(5):
                process.send_signal(number)
                time.sleep(0.001)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual((process.returncode, stderr), (128 + number, ""))
            self.assertEqual(json.loads(stdout)["status"], "interrupted")


if __name__ == "__main__":
    unittest.main()
