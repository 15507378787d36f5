"""sinew settle: static equilibria against closed forms, and what it says where there is none."""
import json
import math
import re
import unittest

import yaml

from command import BAD_INPUT, Command, SCENES, STOPPED, read_csv, sinew

SPRING = """
sinew: 1
gravity: [0, 0, -9.81]
bodies:
  ball:
    parent: world
    joint: {type: prismatic, axis: [0, 0, -1], stiffness: 250}
    inertia: {mass: 3, xx: 1, yy: 1, zz: 1}
"""

ROLLING = """sinew: 1
gravity: [1, 0, -9.81]
bodies:
  ball: {joint: {type: free, at: [0, 0, 0.1]}, shapes: [{type: sphere, radius: 0.1, density: 1000}]}
constraints: {floor: {type: roll, body: ball, radius: 0.1}}
"""

# On a spring that is tied to a point of the ball.
TETHERED = """sinew: 1
gravity: [0, 0, -9.81]
bodies:
  ball: {joint: {type: free, at: [0.5, 0.2, 0.1]}, shapes: [{type: sphere, radius: 0.1, density: 1000}]}
constraints: {floor: {type: roll, body: ball, radius: 0.1}}
forces:
  pull: {type: spring, a: {body: ball, at: %s}, b: {body: world, at: [0, 0, 0.1]}, stiffness: 100, rest_length: 0, damping: 20}
run: {method: redmax, step: 0.01}
"""

# Two sliders as one coordinate, which 100 N push against a spring.
PUSHED = """sinew: 1
gravity: [0, 0, 0]
defaults: {joint: {type: prismatic, axis: [1, 0, 0]}, body: {inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}}
bodies: {a: {joint: {}}, b: {joint: {at: [1, 0, 0]}}}
forces: {s: {type: spring, stiffness: 200, a: {body: world, at: [-1, 0, 0]}, b: {body: a}}}
constraints: {m: {type: map, coordinates: [{name: z, force: 100}], joints: [{joint: a, value: z}, {joint: b, value: 2*z}]}}
"""

# Ten links of 1 m between points 7 m apart; they start as a V.
CHAIN = """
sinew: 1
gravity: [0, 0, -9.81]
defaults:
  joint: {type: revolute, axis: [0, 1, 0]}
  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 1e-3, yy: 1/12, zz: 1/12}}
bodies:
  link: {parent: world, joint: {at: [0, 0, 0]}, repeat: {count: 10, joint: {at: [1, 0, 0]}}}
loops:
  end: {type: revolute, axis: [0, 1, 0], a: {body: link_10, at: [1, 0, 0]}, b: {body: world, at: [7, 0, 0]}}
initial:
  link_1: {q: acos(0.7)}
  link_6: {q: -2*acos(0.7)}
"""

# A crank on which the bar between the cranks and a spring balance.
FOURBAR = """
sinew: 1
gravity: [0, 0, -9.81]
defaults:
  joint: {type: revolute, axis: [0, 1, 0]}
  body: {inertia: {mass: 1, at: [0, 0, 0.5], xx: 1/12, yy: 1/12, zz: 1e-3}}
bodies:
  left: {parent: world, joint: {stiffness: 30}}
  right: {parent: world, joint: {at: [2, 0, 0]}}
  bar: {parent: left, joint: {at: [0, 0, 1]}, inertia: {mass: 2, at: [1, 0, 0], xx: 1e-3, yy: 1/12, zz: 1/12}}
loops:
  pin: {type: revolute, axis: [0, 1, 0], a: {body: bar, at: [2, 0, 0]}, b: {body: right, at: [0, 0, 1]}}
initial:
  left: {q: 0.4}
  right: {q: 0.4}
  bar: {q: -0.4}
"""

# The first rod lies on its stop, the second hangs.
STOP = """
sinew: 1
gravity: [0, 0, -9.81]
defaults:
  body: {inertia: {mass: 1, at: [1, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}}
bodies:
  rod: {parent: world, joint: {type: revolute, axis: [0, 1, 0], limits: [-1, 0.5]}}
  tip: {parent: rod, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}}
"""

# A rod on a hinge over a floor; and three of them, one on another.
ROD = """
sinew: 1
gravity: [0, 0, -9.81]
defaults:
  joint: {type: revolute, axis: [0, 1, 0]}
  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 1/12, zz: 1/12}}
bodies:
  rod: {parent: world, joint: {}}
constraints:
  floor: {type: half_space, body: rod, at: [1, 0, 0], on: {body: world, at: [0, 0, -0.8]}}
run: {step: 0.01}
"""

RODS = """
sinew: 1
gravity: [0, 0, -9.81]
defaults:
  joint: {type: revolute, axis: [0, 1, 0]}
  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 1/12, zz: 1/12}}
bodies:
  a: {parent: world, joint: {at: [0, 0, 1]}}
  b: {parent: a, joint: {at: [1, 0, 0]}}
  c: {parent: b, joint: {at: [1, 0, 0]}}
constraints:
  on_a: {type: half_space, body: a, at: [1, 0, 0]}
  on_b: {type: half_space, body: b, at: [1, 0, 0]}
  on_c: {type: half_space, body: c, at: [1, 0, 0]}
"""

FREE = """
sinew: 1
gravity: [0, 0, -9.81]
bodies:
  post: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0, 0, -1], xx: 1, yy: 1, zz: 1}}
  stone: {parent: world, joint: {type: free}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}
"""


class Settle(Command):
    def rest(self, scene, *arguments):
        """{body: coordinates}"""
        path = self.write("scene.yaml", scene)
        found = yaml.safe_load(self.good("settle", path, "--yaml", *arguments))["initial"]
        return {name: values["q"] for name, values in found.items()}

    def test_hanging_spring(self):
        q, = self.rest(SPRING)["ball"]
        stretch = 3 * 9.81 / 250
        self.assertAlmostEqual(q / stretch, 1, delta=1e-9)

    def test_pushed_along_a_map(self):
        q = self.rest(PUSHED, "--tolerance", "1e-11")
        self.assertAlmostEqual(q["a"][0], 0.5, delta=1e-9)
        self.assertAlmostEqual(q["b"][0], 1, delta=1e-9)

    def test_chain_between_two_points(self):
        """Of a link the same pull acts left and right, and the difference of what they bear is its weight."""
        q = [values[0] for values in self.rest(CHAIN, "--tolerance", "1e-11").values()]
        angle = [sum(q[:k + 1]) for k in range(10)]
        self.assertAlmostEqual(sum(math.cos(a) for a in angle), 7, delta=1e-9)
        for k in range(10):
            self.assertAlmostEqual(angle[k], -angle[9 - k], delta=1e-9)
        # the slope of link k times the pull is what hangs below its middle: 4.5, 3.5, ... weights
        pull = 4.5 / math.tan(angle[0])
        for k in range(10):
            self.assertAlmostEqual(pull * math.tan(angle[k]), 4.5 - k, delta=1e-8)

    def test_fourbar_with_a_spring(self):
        """The cranks at q: weights of two cranks at 1/2 and of the bar at 1 push, 3 g sin q, against 30 q."""
        q = self.rest(FOURBAR)
        left, right, bar = q["left"][0], q["right"][0], q["bar"][0]
        self.assertAlmostEqual(left, right, delta=1e-9)
        self.assertAlmostEqual(left, -bar, delta=1e-9)
        self.assertAlmostEqual(30 * left, 3 * 9.81 * math.sin(left), delta=3 * 9.81 * 1e-8)

    def test_buckled_fourbar(self):
        q = self.rest(FOURBAR.replace("stiffness: 30", "stiffness: 20"))["left"][0]
        self.assertGreater(q, 1)
        self.assertAlmostEqual(20 * q, 3 * 9.81 * math.sin(q), delta=3 * 9.81 * 1e-8)

    def test_lies_on_its_stop(self):
        q = self.rest(STOP)
        self.assertAlmostEqual(q["rod"][0], 0.5, delta=1e-9)
        self.assertAlmostEqual(q["tip"][0], math.pi / 2 - 0.5, delta=1e-8)

    def test_lies_on_the_floor(self):
        """It lies there, and does not hang where a long step would have reached it."""
        for height in (-0.3, -0.5, -0.8, -0.99):
            q, = self.rest(ROD.replace("-0.8", str(height)))["rod"]
            self.assertAlmostEqual(q, math.asin(-height), delta=1e-8, msg=f"floor at {height}")

    def test_nothing_accelerates_where_it_rests(self):
        for scene in (ROD, RODS, STOP):
            path, state = self.write("scene.yaml", scene), self.place / "rest.state"
            self.good("settle", path, "--save", state, "--quiet")
            for method in "recursive", "redmax":
                out = self.place / "out.csv"
                self.good("run", path, "--method", method, "--load", state, "--step", "0.01", "--duration", "0.1", "--out", out,
                          "--channels", "*.qdd", "--quiet")
                for name, values in read_csv(out).items():
                    for value in values if name != "t" else []:
                        self.assertAlmostEqual(value, 0, delta=1e-5, msg=f"{name} by {method}")

    def test_what_longer_steps_touch_is_not_touched(self):
        """A step of 0.1 s ends above the floor and presses on it.  For shorter ones it hangs there, and falls."""
        path, state, out = self.write("scene.yaml", ROD), self.place / "end.state", self.place / "out.csv"
        self.good("run", path, "--method", "redmax", "--step", "0.1", "--duration", "0.4", "--save", state, "--quiet")
        for step, presses in (("0.1", True), ("0.001", False)):
            self.good("run", path, "--method", "redmax", "--load", state, "--step", step, "--duration", "0.1", "--out", out,
                      "--channels", "rod.q,rod.qdd,constraints.floor.force", "--quiet")
            table = read_csv(out)
            gap = 0.8 - math.sin(table["rod.q"][0])
            self.assertGreater(gap, 1e-3)
            self.assertEqual(table["constraints.floor.force"][0] > 1, presses)

    def test_who_drives_at_a_rate_never_rests(self):
        scene = STOP.replace(", limits: [-1, 0.5]", "")
        for kind, what in (("motions:\n  motor: {joint: rod, rate: 2}\n", "motions.motor"),
                           ("motions:\n  motor: {joint: rod, rate: 1 - t}\n", "motions.motor"),
                           ("motions:\n  motor: {body: tip, twist: [null, 0.5, null, null, null, null]}\n", "motions.motor")):
            path = self.write("scene.yaml", scene + kind)
            self.bad(BAD_INPUT, f"{what}: moves on at a rate, so nothing comes to rest: let it hold a place, or take it away",
                     "settle", path)
        q = self.rest(scene + "motions:\n  motor: {joint: rod, rate: sin(t)}\n")
        self.assertAlmostEqual(q["rod"][0], 0, delta=1e-9)
        self.assertAlmostEqual(q["tip"][0], math.pi / 2, delta=1e-8)

    def test_motion_holds_it(self):
        scene = STOP.replace(", limits: [-1, 0.5]", "") + "motions:\n  hold: {joint: rod, q: 0.3 + t}\n"
        q = self.rest(scene)
        self.assertAlmostEqual(q["rod"][0], 0.3, delta=1e-9)
        self.assertAlmostEqual(q["tip"][0], math.pi / 2 - 0.3, delta=1e-8)

    def test_motion_that_moves_is_named(self):
        """It is held where it is at t = 0; whoever asks for rest shall know."""
        scene = STOP.replace(", limits: [-1, 0.5]", "") + "motions:\n  turn: {joint: rod, q: %s}\n"
        path = self.write("turns.yaml", scene % "0.3 + t")
        self.assertIn("  held        motion 'turn', where it is at t = 0, though it moves then\n", self.good("settle", path))
        self.assertEqual(json.loads(self.good("settle", path, "--json"))["held"], "motion 'turn'")
        self.assertNotIn("held", self.good("settle", self.write("rests.yaml", scene % "0.3 + t^2")))

    def test_functions_of_time_stand_still(self):
        scene = SPRING + "forces:\n  pull: {type: point_force, body: ball, force: [0, 0, -2 - 5*t]}\n"
        q, = self.rest(scene)["ball"]
        self.assertAlmostEqual(q / ((3 * 9.81 + 2) / 250), 1, delta=1e-9)

    def test_stays_where_it_is(self):
        for scene in (SPRING, CHAIN, FOURBAR):
            path = self.write("scene.yaml", scene)
            state, table = self.place / "rest.state", self.place / "motion.csv"
            text = self.good("settle", path, "--save", state)
            self.assertRegex(text, r"scene\.yaml: at rest after \d+ steps\n  residual    \S+ of the weight\n"
                             r"  energy      V = \S+ at the start, \S+ at rest\n  saved       \S+rest\.state\n")
            self.good("run", path, "--method", "redmax", "--load", state, "--duration", "2", "--step", "0.01", "--out", table,
                      "--channels", "T", "--quiet")
            self.assertLess(max(read_csv(table)["T"]), 1e-12)

    def test_initial_block_is_a_start(self):
        found = self.good("settle", self.write("scene.yaml", CHAIN), "--yaml")
        again = re.sub(r"(?s)\ninitial:.*", "\n" + found, CHAIN)
        result = json.loads(self.good("settle", "-", "--json", stdin=again))
        self.assertEqual((result["status"], result["steps"]), ("at rest", 0))

    def test_scenes(self):
        for name in ("rope", "pendulum", "double_pendulum", "robot_arm"):
            result = json.loads(self.good("settle", SCENES / f"{name}.yaml", "--json"))
            self.assertLess(result["residual"], 1e-9)
            self.assertLess(result["potential"]["end"], result["potential"]["start"])
            self.assertLess(result["steps"], 1000)

    def test_ladder(self):
        scene = self.good("make", "ladder", "--count", "6")
        result = json.loads(self.good("settle", "-", "--json", stdin=scene))
        height = 2 * sum(0.25 * (k - 0.5) for k in range(1, 7)) + sum(0.25 * k for k in range(1, 7))
        self.assertAlmostEqual(result["potential"]["end"], -9.81 * height, delta=1e-6)

    def test_nothing_holds_it(self):
        path, state = self.write("scene.yaml", FREE), self.place / "rest.state"
        self.bad(STOPPED, f"{path}: does not come to rest: body 'stone' moves away faster and faster, nothing holds it",
                 "settle", path, "--save", state)
        self.assertFalse(state.exists())
        done = sinew("settle", path, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["status"]), (STOPPED, "not at rest"))

    def test_what_rolls_away(self):
        path = self.write("scene.yaml", ROLLING)
        self.bad(STOPPED, f"{path}: does not come to rest: body 'ball' moves away faster and faster, nothing holds it", "settle", path)

    def test_gives_up(self):
        path = self.write("scene.yaml", CHAIN)
        done = sinew("settle", path, "--max-steps", "5")
        self.assertEqual(done.returncode, STOPPED)
        self.assertRegex(done.stderr, r"scene\.yaml: not at rest after 5 steps: \S+ of the weight remains, most at body"
                         r" 'link_\d+': try more --max-steps or a larger --tolerance\n$")

    def test_without_gravity(self):
        """What remains is a part of what there was at the start."""
        path = self.write("scene.yaml", SPRING.replace("-9.81", "0") + "initial: {ball: {q: 0.1}}\n")
        self.assertRegex(self.good("settle", path), r"(?m)^  residual    \S+ of the forces at the start$")
        done = sinew("settle", path, "--max-steps", "2")
        self.assertRegex(done.stderr, r"not at rest after 2 steps: \S+ of the forces at the start remains, most at body 'ball'")

    def test_refused(self):
        path = self.write("scene.yaml", SPRING)
        self.bad(BAD_INPUT, "sinew settle: --tolerance: is 0, needs a number > 0", "settle", path, "--tolerance", "0")
        self.bad(BAD_INPUT, "sinew settle: --max-steps: is 0, needs a number from 1 to 1e9", "settle", path, "--max-steps", "0")
        self.bad(BAD_INPUT, "sinew settle: --json and --yaml both want standard output", "settle", path, "--json", "--yaml")
        self.assertEqual(sinew("settle", path, "--save", path).returncode, BAD_INPUT)
        self.assertEqual(sinew("settle", path, "--save", "/none/x").returncode, BAD_INPUT)
        self.assertEqual(path.read_text(), SPRING)
        self.assertEqual(self.good("settle", path, "--quiet"), "")

    def test_what_rolls_ends_where_nothing_moves_it(self):
        """A ball that is pulled by its centre ends below the end of the spring.  Pulled by another
        point it may rest in many places, and stays in the one that is told.  What is left, 1e-9 of
        the weight over the spring, is 4e-10 m; the softest ways of the ball are some times softer."""
        centre = self.write("centre.yaml", TETHERED % "[0, 0, 0]")
        q = yaml.safe_load(self.good("settle", centre, "--yaml"))["initial"]["ball"]["q"]
        self.assertLess(math.hypot(q[0] + 0.5, q[1] + 0.2), 1e-9)
        beside = self.write("beside.yaml", TETHERED % "[0.05, 0.02, 0.03]")
        state, table = self.place / "rest.state", self.place / "rest.csv"
        self.good("settle", beside, "--save", state)
        self.good("run", beside, "--load", state, "--duration", "5", "--every", "1", "--out", table,
                  "--channels", "ball.pos.*", "--quiet")
        for name, column in read_csv(table).items():
            if name != "t":
                self.assertLess(max(abs(x - column[0]) for x in column), 1e-8, name)

    UPRIGHT = """sinew: 1
bodies:
  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0, 0, 0.5], xx: 0.1, yy: 0.1, zz: 0.1}%s}
initial: {a: {q: %s}}
"""

    def test_who_balances_on_a_tip_is_told(self):
        for extra, q, stable in (("", "0", False), ("", "pi", True)):
            scene = self.write("rod.yaml", self.UPRIGHT % (extra, q))
            self.assertIs(json.loads(self.good("settle", scene, "--json"))["stable"], stable)
            self.assertEqual("unstable" in self.good("settle", scene), not stable)

    def test_friction_and_contact_are_refused(self):
        rubs = self.write("rubs.yaml", self.UPRIGHT.replace("0, 1, 0]", "0, 1, 0], friction: {law: dry, force: 100}") % ("", "1"))
        self.bad(BAD_INPUT, "joints with friction may rest in many poses: take the friction away, and settle finds "
                 "where they rest without it", "settle", rubs)
        box = self.write("box.yaml", "sinew: 1\ncontacts: {c: {}}\nbodies:\n  box: {joint: {type: free, at: [0, 0, 1]},"
                         " shapes: [{type: box, size: [1, 1, 1], density: 1, contact: c}]}\n"
                         "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: c}]}\n")
        done = sinew("settle", box)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertRegex(done.stderr, "settle knows no contact, and '.*' collides")


if __name__ == "__main__":
    unittest.main()
