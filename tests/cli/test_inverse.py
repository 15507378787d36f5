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
        # its weight is 29.4 and it turns with 11 rad/s: h^2/12 of the fourth derivatives, some 1e4, is 3e-3;
        # the same at both ends and at the jumps, where a spline that stopped there would be off by tens
        self.assertLess(max(largest), 1e-2)


class NothingDrives(Command):
    """A chain that swings and a top that tumbles on it: all torques are zero, also at the ends and the jumps."""
    SCENE = DATA / "swinging.yaml"

    def torques(self, step, channels):
        """The largest in each row, and the rows before the jumps of the rotation vector."""
        motion, torques = self.place / "motion.csv", self.place / "torques.csv"
        self.good("run", self.SCENE, "--quiet", "--step", step, "--out", motion, "--channels", channels)
        self.good("inverse", self.SCENE, motion, "--out", torques, "--quiet")
        table = read_csv(motion)
        turn = list(zip(*(table[f"top.q{c}"] for c in range(3))))
        jumps = [k for k in range(len(turn) - 1) if math.dist(turn[k], turn[k + 1]) > math.pi]
        self.assertEqual(len(jumps), 2)
        table = read_csv(torques)
        return [max(map(abs, row[1:])) for row in zip(*table.values())], jumps

    def test_from_coordinates(self):
        # second derivatives of splines: the error falls with h^2 everywhere.  Holding the chain takes 9.8 N m.
        coarse, _ = self.torques(0.004, "*.q,*.q?")
        fine, jumps = self.torques(0.002, "*.q,*.q?")
        self.assertLess(max(fine), 5e-3)
        self.assertLess(max(fine), max(coarse) / 3.5)
        self.assertLess(max(fine[k + d] for k in jumps for d in range(-2, 4)), 1e-3)

    def test_from_rates(self):
        # slopes of splines through the rates: h^4, but h^3 at the ends
        coarse, _ = self.torques(0.004, "*.q,*.q?,*.qd,*.qd?")
        fine, jumps = self.torques(0.002, "*.q,*.q?,*.qd,*.qd?")
        self.assertLess(max(fine), 1e-4)
        self.assertLess(max(fine), max(coarse) / 7)
        self.assertLess(max(fine[20:-20]), max(coarse[10:-10]) / 12)
        self.assertLess(max(fine[k + d] for k in jumps for d in range(-2, 4)), 2e-6)

    def test_exchanged_everywhere(self):
        """Which of the rotation vectors of one rotation a recording has does not matter: here always the shortest."""
        motion, torques = self.place / "motion.csv", self.place / "torques.csv"
        self.good("run", self.SCENE, "--quiet", "--out", motion, "--channels", "*.q,*.q?")
        table = read_csv(motion)
        for k, turn in enumerate(zip(*(table[f"top.q{c}"] for c in range(3)))):
            angle = math.hypot(*turn)
            for c in range(3):
                table[f"top.q{c}"][k] = turn[c] * (1 if angle <= math.pi else 1 - 2 * math.pi / angle)
        write_csv(motion, table)
        self.good("inverse", self.SCENE, motion, "--out", torques, "--quiet")
        self.assertLess(max(abs(x) for name, column in read_csv(torques).items() if name != "t" for x in column), 5e-3)


class FewRows(Command):
    def test_parabola(self):
        """Two rows are a line, three a parabola, four or more a spline: a parabola is found again exactly."""
        pendulum = SCENES / "pendulum.yaml"
        for rows in (2, 3, 4, 5, 7):
            times = [0.1 * k * (1 + 0.3 * k) for k in range(rows)]
            bend = 0.5 if rows > 2 else 0
            motion = self.write("motion.csv", "t,rod.q\n" + "".join(
                f"{t!r},{0.2 + t + 0.5 * bend * t * t!r}\n" for t in times))
            known = self.write("known.csv", "t,rod.q,rod.qd,rod.qdd\n" + "".join(
                f"{t!r},{0.2 + t + 0.5 * bend * t * t!r},{1 + bend * t!r},{bend!r}\n" for t in times))
            for file in (motion, known):
                self.good("inverse", pendulum, file, "--quiet", "--out", file.with_suffix(".out"))
            found, wanted = (read_csv(file.with_suffix(".out"))["rod.tau"] for file in (motion, known))
            for x, y in zip(found, wanted):
                self.assertAlmostEqual(x, y, places=11)


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


    def test_slips(self):
        """A column that was meant for a joint must not leave that joint held in silence."""
        def refused(column, meant):
            motion = self.write("motion.csv", f"t,turret.q,{column}\n0,0,0\n1,0,0\n")
            self.bad(BAD_INPUT, f"{motion}: column '{column}' is not used, and there is no '{meant}': "
                     "is that what it should be called?", "inverse", SCENE, motion, "--hold", "--quiet")
        refused("uper.q", "upper.q")
        refused("Upper.q", "upper.q")
        refused("upper.q0", "upper.q")
        refused("upper.qd", "upper.q")
        refused("wrist.q", "wrist.q0")
        refused("bal.qd1", "ball.q0")
        # another mechanism's columns, and those that are no coordinates, do not matter
        motion = self.write("motion.csv", "t,turret.q,elephant.q,turet.tau,uper\n0,0,0,0,0\n1,0,0,0,0\n")
        self.good("inverse", SCENE, motion, "--hold", "--quiet")
        # nor a name that is near to one which is there
        motion.write_text("t,turret.q,turet.q\n0,0,0\n1,0,0\n")
        self.good("inverse", SCENE, motion, "--hold", "--quiet")


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

    def test_friction_is_left_out(self):
        scene = self.write("rubs.yaml", "sinew: 1\nbodies: {a: {joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.3, pin_radius: 0.1, pin_length: 0.1}}, "
                           "inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}}\nrun: {method: redmax}\n")
        done = sinew("inverse", scene, self.write("motion.csv", "t,a.q\n0,0\n1,0\n"))
        self.assertEqual((done.returncode, done.stderr), (0, f"warning: {scene}: friction in joints is left out: the torques do not overcome it\n"))

    def test_contact_is_left_out(self):
        scene = self.write("touches.yaml", "sinew: 1\ncontacts: {m: {}}\nbodies:\n"
                           "  floor: {joint: {type: fixed, at: [0, 0, -0.5]}, shapes: [{type: plane, contact: m}]}\n"
                           "  a: {joint: {type: revolute, axis: [0, 1, 0]}, shapes: [{type: sphere, radius: 0.1, at: [0.5, 0, 0], density: 1000, contact: m}]}\n"
                           "run: {method: redmax}\n")
        motion = self.write("motion.csv", "t,a.q\n0,0\n1,0\n")
        done = sinew("inverse", scene, motion)
        self.assertEqual((done.returncode, done.stderr), (0, f"warning: {scene}: contacts are left out: the torques bear all of the weight\n"))
        self.good("inverse", scene, motion, "--quiet")

    def test_loops(self):
        scene = self.write("loop.yaml", """\
sinew: 1
bodies:
  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}
loops:
  pin: {type: revolute, axis: [0, 1, 0], a: {body: world}, b: {body: a}}
""")
        motion = self.write("motion.csv", "t,a.q\n0,0\n1,0\n")
        out = self.place / "out.csv"
        self.bad(BAD_INPUT, f"{scene}: has loops or other constraints (1): with these the motion alone does not"
                 " determine the joint forces, only trees have an inverse", "inverse", scene, motion, "--out", out)
        self.assertFalse(out.exists())

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
        text = self.good("inverse", SCENES / "pendulum.yaml", motion, "--out", self.place / "out.csv")
        self.assertIn("out.csv: 1 row, t = 0 to 0\n", text)

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
