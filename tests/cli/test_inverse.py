"""sinew inverse: the torques behind a motion, there and back."""
import csv
import json
import math
import unittest

from command import BAD_INPUT, DATA, SCENES, Command, read_csv, sinew

SCENE = DATA / "known_torques.yaml"
# What the scene says, and the same scene without it.
TORQUES = {"turret.tau": lambda t: 3 * math.sin(2 * t), "upper.tau": lambda t: -12 + 4 * math.cos(3 * t),
           "wrist.tau0": lambda t: 0.5 * math.sin(5 * t), "wrist.tau1": lambda t: 1 - t,
           "ball.tau0": lambda t: 0.02, "ball.tau1": lambda t: 0.01 * t, "ball.tau2": lambda t: 0.03 * math.sin(t)}
WITHOUT = [argument for name in ("turn", "lift", "twist", "spin")
           for argument in ("--set", f"forces.{name}.active=0")]


def write_csv(path, table):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*[map(repr, column) for column in table.values()]))


class RoundTrip(Command):
    def setUp(self):
        super().setUp()
        self.motion, self.torques = self.place / "motion.csv", self.place / "torques.csv"
        self.good("run", SCENE, "--quiet", "--out", self.motion)

    def drop(self, *endings):
        """Leaves out the columns of some derivatives."""
        table = read_csv(self.motion)
        write_csv(self.motion, {k: v for k, v in table.items()
                                if not k.split(".")[-1].rstrip("0123456789") in endings})

    def worst(self, first=0, last=None):
        """Largest difference from what the scene said, over some rows."""
        self.good("inverse", SCENE, self.motion, "--out", self.torques, "--quiet", *WITHOUT)
        table = read_csv(self.torques)
        self.assertEqual(list(table), ["t", *TORQUES])
        self.assertEqual(table["t"], read_csv(self.motion)["t"])
        return max(abs(table[name][k] - f(t)) for name, f in TORQUES.items()
                   for k, t in list(enumerate(table["t"]))[first:last])

    def test_with_accelerations(self):
        # exact up to rounding: torques are up to 16, accelerations of light parts up to some hundreds
        self.assertLess(self.worst(), 1e-10)

    def at_two_rates(self, *endings):
        """The same inside, without some columns, from records every 0.01 and every 0.005 s."""
        self.drop(*endings)
        coarse = self.worst(20, -20)
        self.good("run", SCENE, "--quiet", "--out", self.motion, "--every", "0.005")
        self.drop(*endings)
        return coarse, self.worst(40, -40)

    def test_with_rates(self):
        # slopes of a spline through the rates: at its keys the error falls with the fourth power of the step
        coarse, fine = self.at_two_rates("qdd")
        self.assertLess(coarse, 1e-4)
        self.assertLess(fine, coarse / 12)

    def test_with_coordinates_only(self):
        # second derivatives of a spline: the error falls with the square
        coarse, fine = self.at_two_rates("qdd", "qd")
        self.assertLess(coarse, 2e-2)
        self.assertLess(fine, coarse / 3.5)

    def test_everything_else_acts_already(self):
        """With the torques still in the scene, nothing is left for the actuators."""
        self.good("inverse", SCENE, self.motion, "--out", self.torques, "--quiet")
        table = read_csv(self.torques)
        self.assertLess(max(abs(x) for name in TORQUES for x in table[name]), 1e-10)

    def test_standard_output(self):
        text = self.good("inverse", SCENE, self.motion, *WITHOUT)
        self.good("inverse", SCENE, self.motion, "--out", self.torques, "--quiet", *WITHOUT)
        self.assertEqual(text, self.torques.read_text())
        self.assertEqual(text, self.good("inverse", SCENE, self.motion, "--out", "-", *WITHOUT))

    def test_summary(self):
        text = self.good("inverse", SCENE, self.motion, "--out", self.torques, *WITHOUT)
        self.assertRegex(text, r"torques.csv: 201 rows, t = 0 to 2\n  turret.tau           at most 2.99987\n")
        result = json.loads(self.good("inverse", SCENE, self.motion, "--out", self.torques, "--json", *WITHOUT))
        self.assertEqual((result["status"], result["rows"], result["errors"]), ("done", 201, []))
        self.assertEqual(set(result["largest"]), set(TORQUES))
        self.assertAlmostEqual(result["largest"]["upper.tau"], 16, places=2)


class ChangingCoordinates(Command):
    def test_brick_in_the_air(self):
        """The rotation vector of a tumbling brick jumps; torques that were not there must not appear."""
        motion, torques = self.place / "motion.csv", self.place / "torques.csv"
        self.good("run", DATA / "tumbling.yaml", "--quiet", "--out", motion, "--channels", "brick.q?")
        table = read_csv(motion)
        turn = [[table[f"brick.q{c}"][k] for c in (3, 4, 5)] for k in range(len(table["t"]))]
        jumps = [k for k in range(len(turn) - 1) if math.dist(turn[k], turn[k + 1]) > math.pi]
        self.assertGreater(len(jumps), 1)
        self.good("inverse", DATA / "tumbling.yaml", motion, "--out", torques, "--quiet")
        table = read_csv(torques)
        largest = [max(abs(table[f"brick.tau{c}"][k]) for c in range(6)) for k in range(len(turn))]
        # its weight is 29.4 and it turns with 11 rad/s; near the ends of splines the second derivative is off
        ends = [0, len(turn) - 1, *jumps]
        self.assertLess(max(x for k, x in enumerate(largest) if all(abs(k - e) > 20 for e in ends)), 1e-2)
        self.assertLess(max(largest), 40)


class Held(Command):
    def test_hold(self):
        motion = self.write("motion.csv", "t,upper.q\n0,-0.3\n1,-0.3\n2,-0.3\n")
        torques = self.place / "torques.csv"
        self.good("inverse", SCENE, motion, "--hold", "--out", torques, "--quiet", *WITHOUT,
                  "--set", "forces.wind.active=0", "--set", "initial.ball.qd=0")
        table = read_csv(torques)
        self.assertEqual(table["upper.tau"], table["upper.tau"][:1] * 3)
        self.assertAlmostEqual(table["turret.tau"][0], 0, places=12)
        # the same from a motion that says it all
        names = ["turret.q", "upper.q", "wrist.q0", "wrist.q1", "ball.q0", "ball.q1", "ball.q2"]
        rows = "".join(f"{t},0,-0.3,0,0,0,0,0\n" for t in range(3))
        motion.write_text(f"t,{','.join(names)}\n{rows}")
        again = self.place / "again.csv"
        self.good("inverse", SCENE, motion, "--out", again, "--quiet", *WITHOUT, "--set", "forces.wind.active=0")
        self.assertEqual(table, read_csv(again))


class Refused(Command):
    def test_all_missing_columns_are_named(self):
        motion = self.write("motion.csv", "t,upper.q,wrist.q1\n0,0,0\n1,0,0\n")
        message = "\n".join(
            [f"{motion}: no column 'turret.q': --hold would keep the joint where it is",
             f"{motion}: no column 'wrist.q0'"] +
            [f"{motion}: no column 'ball.q{c}': --hold would keep the joint where it is" for c in range(3)])
        self.bad(BAD_INPUT, message, "inverse", SCENE, motion)
        self.bad(BAD_INPUT, f"{motion}: no column 'wrist.q0'", "inverse", SCENE, motion, "--hold")
        done = sinew("inverse", SCENE, motion, "--json", "--out", self.place / "out.csv")
        self.assertEqual(len(json.loads(done.stdout)["errors"]), 5)
        self.assertFalse((self.place / "out.csv").exists())

    def test_strangers(self):
        motion = self.write("motion.csv", "t,rod.q,rood.q,rood.qd2,E\n0,0,1,1,1\n1,0,1,1,1\n")
        done = sinew("inverse", SCENES / "pendulum.yaml", motion)
        self.assertEqual(done.stderr, "".join(
            f"warning: {motion}: column '{name}' is not used: the scene has no such joint\n"
            for name in ("rood.q", "rood.qd2")))
        self.good("inverse", SCENES / "pendulum.yaml", motion, "--quiet")

    def test_times(self):
        motion = self.write("motion.csv", "t,rod.q\n0,0\n1,0\n1,0\n")
        self.bad(BAD_INPUT, f"{motion} line 4, column 't': 1 after 1, times need to increase",
                 "inverse", SCENES / "pendulum.yaml", motion)
        motion.write_text("rod.q\n0\n")
        self.bad(BAD_INPUT, f"{motion}: no column 't'", "inverse", SCENES / "pendulum.yaml", motion)

    def test_one_row(self):
        motion = self.write("motion.csv", "t,rod.q\n0,1\n")
        self.bad(BAD_INPUT, f"{motion} line 2: a row alone does not show how fast it moves; give .qd and .qdd",
                 "inverse", SCENES / "pendulum.yaml", motion)
        motion.write_text("t,rod.q,rod.qd,rod.qdd\n0,1,0,0\n")
        self.good("inverse", SCENES / "pendulum.yaml", motion)

    def test_files(self):
        motion = self.write("motion.csv", "t,rod.q\n0,x\n")
        pendulum = SCENES / "pendulum.yaml"
        self.bad(BAD_INPUT, f"{motion} line 2, column 'rod.q': 'x' is not a number", "inverse", pendulum, motion)
        self.bad(BAD_INPUT, "none.csv: No such file or directory", "inverse", pendulum, "none.csv")
        self.bad(BAD_INPUT, "none.yaml: No such file or directory", "inverse", "none.yaml", motion)
        motion.write_text("t,rod.q\n0,0\n1,0\n")
        self.bad(BAD_INPUT, "cannot write '/none/out.csv': No such file or directory",
                 "inverse", pendulum, motion, "--out", "/none/out.csv")
        self.bad(BAD_INPUT, "cannot write '/dev/full': No space left on device",
                 "inverse", pendulum, motion, "--out", "/dev/full")
        self.bad(BAD_INPUT, "sinew inverse: --json needs --out FILE: the torques go to standard output otherwise",
                 "inverse", pendulum, motion, "--json")

    def test_not_finite(self):
        motion = self.write("motion.csv", "t,rod.q,rod.qd,rod.qdd\n0,0,0,1e308\n")
        self.bad(3, f"{motion} line 2: the torques are not finite", "inverse", SCENES / "pendulum.yaml", motion,
                 "--set", "bodies.rod.joint.armature=100")


if __name__ == "__main__":
    unittest.main()
