"""sinew check: valid or not, all problems at once, and the scene explained."""
import json
import re
import unittest

from command import BAD_INPUT, DONE, SCENES, STOPPED, Command, sinew

SEVERAL = """\
sinew: 1
bodies:
  rod:
    parent: world
    joint: {type: revolute, axis: [0, 0, 0]}
    inertia: {mass: 1, xx: 1, yy: 1, zz: 5}
  bob:
    parent: rood
    joint: {type: revolute, axis: [0, 1, 0]}
    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}
"""

STRUCTURAL = """\
sinew: 1
bodies:
  rod:
    joint: {type: hinge, axis: [0, 1, 0]}
    colour: red
"""

MOTION = """\
sinew: 1
units: mm g s
up: y
gravity: [0, -9810, 0]
bodies:
  slide:
    joint: {type: prismatic, axis: [1, 0, 0]}
    shapes: [{type: box, size: [2, 4, 6], density: 1}]
  ball:
    parent: slide
    joint: {type: spherical, at: [0, 10, 0]}
    shapes: [{type: sphere, radius: 1, density: 1}]
motions:
  push: {joint: slide, q: 3*sin(t)}
run: {step: 0.01, duration: 1}
"""

FOUR_BARS = """\
sinew: 1
bodies:
  crank:
    joint: {type: revolute, axis: [0, 1, 0]}
    inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}
  rod:
    parent: crank
    joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}
    inertia: {mass: 1, at: [0, 0, -0.5], xx: 0.1, yy: 0.1, zz: 0.01}
  rocker:
    parent: rod
    joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -1]}
    inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}
loops:
  pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1.5, 0, -1.2]}, b: {body: rocker, at: [0.5, 0, 0]}}
run: {duration: 1}
"""

GIMBAL = """\
sinew: 1
bodies:
  wheel:
    joint: {type: composite, parts: [{type: revolute, axis: [0, 0, 1]}, {type: revolute, axis: [0, 1, 0]},
                                     {type: revolute, axis: [1, 0, 0]}]}
    inertia: {mass: 1, xx: 0.1, yy: 0.2, zz: 0.15}
initial: {wheel: {q: [0, 90*deg, 0]}}
"""

GIVE_INERTIA = "give the body mass and moments of inertia, or its joint armature"

PIN = """\
sinew: 1
bodies:
  pin:
    joint: {type: revolute, axis: [0, 0, 1], stiffness: 10}
    inertia: {mass: 2, at: [0, 0, 1], xx: 0, yy: 0, zz: 0}
run: {method: redmax, duration: 0.1}
"""

# Bars without moments about themselves; a loop that is open at first, as bars with moments could close.
THIN = """\
sinew: 1
defaults: {joint: {type: spherical}, body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0, yy: 1/12, zz: 1/12}}}
bodies: {p: {joint: {}, repeat: {count: 4, joint: {at: [1, 0, 0]}}}}
loops: {l: {type: spherical, a: {body: p_4, at: [1, 0, 0]}, b: {body: world, at: [3, 0, 0]}}}
initial: {p_1: {q: [0, -0.4, 0]}, p_2: {q: [0, 0.8, 0.2]}, p_3: {q: [0.0, -0.6, 0.1]}}
run: {duration: 0.1}
"""

SINGULAR = ("is in a singular pose of its joint, where coordinates can change and nothing moves:"
            " keep away from this pose, or choose another kind of joint")


class Valid(Command):
    def test_pendulum(self):
        text = self.good("check", "pendulum.yaml", cwd=SCENES)
        self.assertEqual(text.split("  methods")[0], """\
pendulum.yaml: valid
  bodies              1, mass 10.0631
  joints              1 revolute
  degrees of freedom  1 = 1 (1 revolute joint)
  bounding box        x -1.02 to 0.02, y -0.02 to 0.02, z -0.02 to 0.02 at the start
  units               m kg s, up z, gravity (0, 0, -9.81)
""")
        self.assertIn("recursive: can simulate it\n", text)
        self.assertTrue(text.endswith("""
  run                 recursive (integrator dopri5, rel_tol 1e-08, abs_tol 1e-10, max_steps 1000000)
                      step 0.01, duration 10, records every 0.02
"""), text)

    def test_humanoid(self):
        text = self.good("check", SCENES / "humanoid.yaml")
        self.assertIn("  degrees of freedom  27 = 6 (1 free joint) + 21 (21 revolute joints)\n", text)

    def test_several_coordinates_each(self):
        text = self.good("check", SCENES / "demo.yaml")
        self.assertIn(" + 219 (73 spherical joints with 3 each) + ", text)
        self.assertIn("  what acts           1 force, 4 drives\n", text)

    def test_drives_of_loops(self):
        """They count among the drives."""
        text = re.sub(r"(?m)^(  \w+: \{type: revolute, )", r"\1drive: {target: 0.1, stiffness: 10}, ", FOUR_BARS)
        loops = text.count("drive:")
        self.assertGreater(loops, 0)
        self.assertRegex(self.good("check", "-", stdin=text), rf"  what acts           {loops} drives?, {loops} loops?\n")

    def test_motion(self):
        text = self.good("check", "-", stdin=MOTION)
        self.assertTrue(text.startswith("-: valid\n"))
        self.assertIn("  degrees of freedom  4 = 1 (1 prismatic joint) + 3 (1 spherical joint);"
                      " 1 follows a motion, 3 are free to move\n", text)
        self.assertIn("  what acts           1 motion\n", text)
        self.assertIn("  units               mm g s, up y, gravity (0, -9810, 0)\n", text)
        self.assertIn("  bounding box        x -1 to 1, y -2 to 11, z -3 to 3 at the start\n", text)
        self.assertIn("records every step\n", text)
        text = self.good("check", "-", stdin=MOTION.replace("3*sin(t)", "3*sin(t), active: t - 1"))
        self.assertIn("; 1 follows a motion while it is active\n", text)

    def test_little_in_it(self):
        text = self.good("check", "-", stdin="sinew: 1\nbodies: {a: {joint: {type: fixed}}}\n")
        self.assertIn("  joints              1 fixed\n  degrees of freedom  0\n", text)
        self.assertIn("  bounding box        none: there are no shapes\n  units               not said, up z,", text)

    def test_method_that_cannot(self):
        text = self.good("check", "-", stdin=MOTION.replace("prismatic,", "prismatic, friction: {mu: 0.1, size: [0.1, 0.1, 0.1]},"))
        self.assertIn("recursive: cannot: method 'recursive' (dopri5, rk4) has no friction in joints (joint 'slide'): take redmax with the integrator euler or extrapolated, or leave out 'friction'\n",
                      text)

    def test_method_that_is_not_there(self):
        arguments = "check", "pendulum.yaml", "--set", "run.method=projective"
        done = sinew(*arguments, cwd=SCENES)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "warning: pendulum.yaml: run.method: this version has no method 'projective'\n"))
        self.assertTrue(done.stdout.startswith("pendulum.yaml: valid\n"), done.stdout)
        result = json.loads(sinew(*arguments, "--json", cwd=SCENES).stdout)
        self.assertEqual((result["valid"], [w["path"] for w in result["warnings"]]), (True, ["run.method"]))
        self.good(*arguments, "--quiet", cwd=SCENES)

    def freedom(self, text):
        found = re.search(r"  degrees of freedom  (.*)\n", self.good("check", "-", stdin=text))
        return found.group(1)

    def test_loops(self):
        """In the plane a pin takes two, whatever its kind says in space."""
        self.assertEqual(self.freedom(FOUR_BARS), "1 = 3 (3 revolute joints) - 2 (loops: 5 rows, 3 redundant)")
        ball = FOUR_BARS.replace("pin: {type: revolute, axis: [0, 1, 0]", "pin: {type: spherical")
        self.assertEqual(self.freedom(ball), "1 = 3 (3 revolute joints) - 2 (loops: 3 rows, 1 redundant)")
        driven = FOUR_BARS + "motions: {turn: {joint: crank, q: t}}\n"
        self.assertEqual(self.freedom(driven), "1 = 3 (3 revolute joints) - 2 (loops: 5 rows, 3 redundant);"
                         " 1 follows a motion, 0 are free to move")
        in_space = FOUR_BARS.replace("type: revolute, axis: [0, 1, 0], at: [1, 0, 0]", "type: free, at: [1, 0, 0]")
        self.assertEqual(self.freedom(in_space), "3 = 2 (2 revolute joints) + 6 (1 free joint) - 5 (loops: 5 rows)")
        off = FOUR_BARS.replace("pin: {", "pin: {active: t - 1, ")
        self.assertEqual(self.freedom(off), "3 = 3 (3 revolute joints)")
        for method in ("recursive", "redmax"):
            summary = json.loads(self.good("check", "-", "--json", "--set", f"run.method={method}", stdin=driven))["summary"]
            self.assertEqual([summary[k] for k in ("dofs", "constraint_rows", "constraint_rows_redundant", "dofs_free")],
                             [3, 5, 3, 0])

    def test_many_loops(self):
        """A ladder, n bars held at both ends: too many rows are not counted."""
        def ladder(n):
            bars = "".join(f"  b{k}: {{joint: {{type: free}}, inertia: {{mass: 1, xx: 1, yy: 1, zz: 1}}}}\n" for k in range(n))
            pins = "".join(f"  p{k}: {{type: spherical, a: {{body: world}}, b: {{body: b{k}}}}}\n" for k in range(n))
            return f"sinew: 1\nbodies:\n{bars}loops:\n{pins}"
        self.assertEqual(self.freedom(ladder(3)), "9 = 18 (3 free joints with 6 each) - 9 (loops: 9 rows)")
        self.assertEqual(self.freedom(ladder(300)), "900 = 1800 (300 free joints with 6 each) - 900 (loops: 900 rows)")
        # so many that they are counted by a sparse factorisation: five rows each, of which two count
        linkages = self.good("make", "fourbar", "--count", 400)
        self.assertEqual(self.freedom(linkages), "1 = 801 (801 revolute joints) - 800 (loops: 2000 rows, 1200 redundant)")
        self.assertEqual(self.redundant(linkages), ", ".join(f"pin_{k}" for k in range(1, 9)) + " and 392 more")
        self.assertEqual(self.freedom(self.good("make", "ladder", "--count", 150)),
                         "900 = 1350 (450 spherical joints with 3 each) - 450 (loops: 450 rows)")

    def redundant(self, text):
        found = re.search(r"  redundant           rows of (.*) say what others say\n", self.good("check", "-", stdin=text))
        return found and found.group(1)

    def test_redundant_constraints_are_named(self):
        self.assertEqual(self.redundant(FOUR_BARS), "pin")
        gear = self.good("make", "gear")
        self.assertRegex(self.redundant(gear), r"^(inner|outer)_\d, (inner|outer)_\d$")
        summary = json.loads(self.good("check", "-", "--json", stdin=gear))["summary"]
        self.assertEqual((len(summary["redundant"]), summary["constraint_rows_redundant"]), (2, 2))
        self.assertIsNone(self.redundant(self.good("make", "umbrella", "--count", 4)))
        self.assertIsNone(self.redundant(self.good("make", "ladder", "--count", 3)))

    def test_rows_that_hold_anyway_are_rounding(self):
        door = "{joint: {JOINT}, inertia: {mass: 5, at: [0.4, 0, 0.1], xx: 0.3, yy: 0.4, zz: 0.5}}"
        for joint, at in (("type: revolute, axis: [1, 2, 3]", "[0.1, 0.2, 0.3]"), ("type: revolute, axis: [0.3, 0.1, 1]", "[0.3, 0.1, 1]"),
                          ("type: revolute, axis: [1, 1, 0]", "[0, 0, 0]"), ("type: prismatic, axis: [0.3, 0.1, 1]", "[0.1, 0.3, 0.5]")):
            text = self.good("check", "-", stdin=f"sinew: 1\nbodies:\n  door: {door.replace('JOINT', joint)}\n"
                             f"loops:\n  second: {{{joint}, a: {{body: world, at: {at}}}, b: {{body: door, at: {at}}}}}\n")
            self.assertRegex(text, r"degrees of freedom  1 = 1 \(1 \w+ joint\) - 0 \(loops: 5 rows, 5 redundant\)\n")
            self.assertNotIn("singular", text)
        hinge = "type: revolute, axis: [0, 1, 0]"
        text = self.good("check", "-", stdin=f"sinew: 1\nbodies:\n  a: {door.replace('JOINT', hinge)}\n"
                         f"  b: {{parent: a, {door[1:].replace('JOINT', hinge + ', at: [0.6, 0, 0]')}\n"
                         "constraints: {rod: {type: distance, a: {body: world}, b: {body: b}}}\n")
        self.assertIn("degrees of freedom  2 = 2 (2 revolute joints) - 0 (constraints: 1 row, 1 redundant)\n", text)
        self.assertNotIn("singular", text)

    def test_singular_start(self):
        """Rods of a parallelogram that lie flat: here the pins take one coordinate, nearby two."""
        flat = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, at: [0.5, 0, 0],"
                " xx: 0.1, yy: 0.1, zz: 0.1}}}\nbodies:\n  a: {joint: {at: [0, 0, 0]}}\n  b: {parent: a, joint: {at: [1, 0, 0]}}\n"
                "  c: {joint: {at: [1, 0, 0]}}\nconstraints: {pin: {type: point, a: {body: b, at: [1, 0, 0]},"
                " b: {body: c, at: [1, 0, 0]}}}\n")
        text = self.good("check", "-", stdin=flat)
        self.assertIn("  degrees of freedom  2 = 3 (3 revolute joints) - 1 (constraints: 3 rows, 2 redundant)\n", text)
        self.assertIn("  singular            this pose: nearby the constraints take 2, here 1, so that the motion may branch\n", text)
        self.assertNotIn("singular", self.good("check", "-", stdin=FOUR_BARS))

    def test_motions_that_say_the_same_are_counted(self):
        """Two cranks of one parallelogram have motors: one of them would do, and the numbers add up."""
        driven = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
                  "bodies:\n  a: {joint: {}}\n  b: {parent: a, joint: {at: [0, 0, 1]}}\n  c: {parent: b, joint: {at: [1.6, 0, 0]}}\n"
                  "loops: {l: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1.6, 0, 0]}, b: {body: c, at: [0, 0, -1]}}}\n"
                  "motions: {m: {joint: a, q: 0}, n: {joint: c, q: 0}}\n")
        text = self.good("check", "-", stdin=driven)
        self.assertIn("; 2 follow a motion (1 of them would anyway), 0 are free to move", text)

    def test_limits_that_motions_pass_are_named(self):
        """The limit and the motion, each once, and not the other end of the range, which is far away."""
        scene = ("sinew: 1\nbodies: {a: {joint: {type: revolute, axis: [0, 1, 0], limits: [-0.1, 0.1]}, inertia: {mass: 1, xx: 1, yy: 1,"
                 " zz: 1}}}\nmotions: {m: {joint: a, q: 1}}\n")
        done = sinew("check", "-", stdin=scene)
        named = re.findall(r"^stdin: (\S+): .* 0\.45", done.stderr, re.M)
        self.assertEqual((done.returncode, sorted(named)), (BAD_INPUT, ["bodies.a", "motions.m"]), done.stderr)

    def test_singular_start_where_branches_cross(self):
        """Three cranks that lie flat: closing from nearby leads back to where branches cross, which has the rank of none."""
        flat = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, at: [0, 0, 0.5],"
                " xx: 0.1, yy: 0.1, zz: 0.01}}}\nbodies:\n  a: {parent: world, joint: {}}\n  b: {parent: a, joint: {at: [0, 0, 1]}}\n"
                "  c: {parent: b, joint: {at: [2, 0, 0]}}\n  d: {parent: b, joint: {at: [1, 0, 0]}}\nloops:\n"
                "  l: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [2, 0, 0]}, b: {body: c, at: [0, 0, -1]}}\n"
                "  m: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1, 0, 0]}, b: {body: d, at: [0, 0, -1]}}\n"
                "initial: {a: {q: pi/2}, b: {q: -pi/2}, c: {q: pi/2}, d: {q: pi/2}}\n")
        self.assertIn("  singular            this pose: nearby the constraints take 3, here 2, so that the motion may branch\n",
                      self.good("check", "-", stdin=flat))

    def test_beside_a_crossing(self):
        """Three cranks nearly flat: the pose is regular, and what closing meets nearby must not be the crossing. Put together
        from a start that is open, they may come to lie in the crossing itself: that is said."""
        cranks = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, at: [0, 0, 0.5],"
                  " xx: 0.1, yy: 0.1, zz: 0.01}}}\nbodies:\n  a: {joint: {at: [0, 0, 0]}}\n  b: {joint: {at: [1, 0, 0]}}\n"
                  "  c: {joint: {at: [2, 0, 0]}}\n  bar: {parent: a, joint: {at: [0, 0, 1]}}\nloops:\n"
                  "  lb: {type: revolute, axis: [0, 1, 0], a: {body: bar, at: [1, 0, 0]}, b: {body: b, at: [0, 0, 1]}}\n"
                  "  lc: {type: revolute, axis: [0, 1, 0], a: {body: bar, at: [2, 0, 0]}, b: {body: c, at: [0, 0, 1]}}\n"
                  "initial: {a: {q: pi/2-D}, b: {q: pi/2-D}, c: {q: pi/2-D}, bar: {q: D-pi/2+OPEN}}\n")
        for d in ("0.01", "0.001", "1e-4", "1e-6"):
            text = self.good("check", "-", stdin=cranks.replace("D", d).replace("OPEN", "0"))
            self.assertIn("1 = 4 (4 revolute joints) - 3 (loops: 10 rows, 7 redundant)", text, d)
            self.assertNotIn("singular", text, d)
        for d, gap in (("0", "0"), ("0.003", "0.002")):
            text = self.good("check", "-", stdin=cranks.replace("D", d).replace("OPEN", gap))
            self.assertIn("nearby the constraints take 3, here 2, so that", text, d)

    def test_a_thread_of_many_turns_is_closed(self):
        """5 mm a turn, and a carriage that is drawn at 30 of them; and where it is not, who was open is named."""
        axis = ("sinew: 1\nbodies:\n  screw: {joint: {type: revolute, axis: [1, 0, 0]}, inertia: {mass: 1, xx: 1e-4, yy: 0.02, zz: 0.02}}\n"
                "  carriage: {joint: {type: prismatic, axis: [1, 0, 0], at: [AT, 0, 0]}, inertia: {mass: 4, xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                "loops: {thread: {type: screw, axis: [1, 0, 0], pitch: 0.005/(2*pi), a: {body: screw}, b: {body: carriage}}}\n")
        self.assertNotIn("start  ", self.good("check", "-", stdin=axis.replace("AT", "0.15")))
        self.assertRegex(self.good("check", "-", stdin=axis.replace("AT", "0.151")),
                         r"\n  start               'thread' was open by 0\.001: screw\.q is \S+ instead of 0")

    def test_the_box_is_that_of_the_start_as_it_is_put_together(self):
        scene = ("sinew: 1\nbodies:\n  a: {joint: {type: prismatic, axis: [1, 0, 0]}, shapes: [{type: box, size: [1, 1, 1], density: 1}]}\n"
                 "constraints: {c: {type: distance, a: {body: world, at: [5, 0, 0]}, b: {body: a}, length: 2}}\n")
        self.assertIn("bounding box        x 2.5 to 3.5, y -0.5 to 0.5", self.good("check", "-", stdin=scene))

    def test_bodies_that_hang_are_counted_as_their_loops(self):
        scene = ("sinew: 1\nbodies: {rod: {shapes: [{type: capsule, from: [0, 0, 1], to: [1, 0, 1], radius: 0.1, density: 1}]}}\n"
                 "loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [0, 0, 1]}, b: {body: rod, at: [0, 0, 1]}}}\n")
        self.assertIn("  joints              1 revolute\n", self.good("check", "-", stdin=scene))

    def test_rounding_is_no_gap(self):
        """Of what is out of reach the others are left open by how closely they have been met."""
        scene = ("sinew: 1\ndefaults: {joint: {type: revolute, axis: [0, 1, 0]}, body: {inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}}\n"
                 "bodies: {l: {joint: {}}, m: {parent: l, joint: {at: [0, 0, 1]}}, r: {joint: {at: [1.5, 0, 0]}}}\n"
                 "constraints: {pin: {type: point, a: {body: m, at: [1, 0, 0]}, b: {body: r, at: [0, 0, 1]}},"
                 " k: {type: distance, a: {body: l}, b: {body: r}, length: 9}}\n")
        done = sinew("check", "-", stdin=scene)
        self.assertRegex(done.stderr, r"^\S+ constraints\.k: .*cannot close: a gap of \S+ stays open\n$")

    def test_motions_that_no_pose_follows(self):
        """A seat on four equal rods, pulled aside: to first order it may turn, but then the rods do not fit. Hanging, or with rods
        that stand in one line, every motion that can begin goes on; so it does with three rods."""
        rod = "  r{}: {{type: distance, a: {{body: world, at: [{}, {}, 0]}}, b: {{body: seat, at: [{}, {}, 0]}}, length: 1}}\n"
        corners = ((0.25, 0.15), (0.25, -0.15), (-0.25, 0.15), (-0.25, -0.15))

        def swing(n, q):
            rods = "".join(rod.format(k, *corners[k], *corners[k]) for k in range(n))
            return ("sinew: 1\nbodies: {seat: {joint: {type: free, at: [0, 0, -1]}, shapes: [{type: box, size: [0.5, 0.3, 0.05], density: 100}]}}\n"
                    f"constraints:\n{rods}initial: {{seat: {{q: [{q}, 0, 0, 0]}}}}\n")
        aside = "0.3, 0.2, 1-sqrt(0.87)"
        line = "  singular            this pose: of 3 motions that can begin here poses follow 2, so that a run may stop\n"
        self.assertIn(line, self.good("check", "-", stdin=swing(4, aside)))
        self.assertEqual(json.loads(self.good("check", "-", "--json", stdin=swing(4, aside)))["summary"]["motions_followed"], 2)
        self.assertNotIn("singular", self.good("check", "-", stdin=swing(3, aside)))

    def test_branches_that_differ(self):
        """Five four-bars in a row lie flat: each may go on as a parallelogram, or its first rod stay where it is."""
        flat = self.good("make", "fourbar", "--count", 5)
        flat = re.sub(r"(rod_\d): {qd: 1}", r"\1: {q: pi/2}", re.sub(r"(bar_\d): {qd: -1}", r"\1: {q: -pi/2}", flat))
        self.assertIn("nearby the constraints take 6 to 10, here 5, so that", self.good("check", "-", stdin=flat))

    def test_limits_of_some_coordinates(self):
        """null: no limit, of a coordinate or on one side. What is part of a rotation vector can have none."""
        scene = ("sinew: 1\nbodies:\n  s: {joint: {type: free, limits: %s}, shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n"
                 "run: {method: redmax, duration: 1}\n")
        for limits, end in (("[null, null, [-0.3, null], null, null, null]", -0.3), ("[null, null, null, null, null, null]", -5),
                            ("[[-1, 1], null, [null, 0.2], null, null, null]", -5)):
            text = self.good("run", "-", "--quiet", "--out", "-", "--channels", "s.q2", stdin=scene % limits)
            z = float(text.splitlines()[-1].split(",")[1])
            self.assertTrue(abs(z + 0.3) < 1e-9 if end == -0.3 else z < -4.8, text)
        for limits, what in (("[null, [0, 1], null]", "has 3 pairs, the joint has 6 coordinates"),
                             ("[null, null, [], null, null, null]", "limits[2]: has 0 numbers, needs 2"),
                             ("[null, null, null, [0, 1], null, null]", "coordinate 3 is part of a rotation vector")):
            done = sinew("check", "-", stdin=scene % limits)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertIn(what, done.stderr)

    def test_loop_taken_for_a_joint(self):
        for part in ("motions={m: {joint: pin, q: 0.1}}", "constraints={m: {type: couple, terms: [{joint: crank}, {joint: pin}]}}"):
            done = sinew("check", "-", "--set", part, stdin=FOUR_BARS)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertIn("'pin' is a loop, needs a body or its joint: coordinates of loops cannot be prescribed", done.stderr)

    def test_disc_that_lies_flat(self):
        scene = ("sinew: 1\nbodies: {d: {joint: {type: free, at: [0, 0, 0.3]}, inertia: {mass: 1, xx: 0.1, yy: 0.2, zz: 0.1}}}\n"
                 "constraints: {r: {type: roll, body: d, radius: 0.3, axis: [0, 1, 0]}}\ninitial: {d: {q: [0, 0, %s, %s, 0, 0]}}\n")
        flat = sinew("check", "-", stdin=scene % ("-0.3", "pi/2"))
        self.assertIn("constraints.r: the disc lies flat, where it has no lowest point to roll on", flat.stdout + flat.stderr)
        self.assertEqual(flat.returncode, DONE)
        self.assertNotIn("flat", self.good("check", "-", stdin=scene % ("0", "0")))

    def test_start_that_only_a_method_can(self):
        """A spring holds what has no inertia, for a method that steps implicitly."""
        self.good("check", "-", stdin=PIN)
        self.bad(BAD_INPUT, "stdin: bodies.pin: at t = 0: 'pin' has no inertia against its own motion:"
                 f" {GIVE_INERTIA}", "check", "-", "--set", "run.method=recursive", stdin=PIN)

    def test_point_masses_that_turn_are_named(self):
        text = ("sinew: 1\nbodies: {b: {joint: {type: free}, inertia: {mass: 1, xx: 0, yy: 0, zz: 0}}}\n"
                "run: {method: redmax, step: 0.01, duration: 1}\n")
        why = f"bodies.b: at t = 0: 'b' has no inertia against its own motion: {GIVE_INERTIA}"
        self.bad(BAD_INPUT, f"stdin: {why}", "check", "-", stdin=text)
        self.assertIn(why, sinew("run", "-", stdin=text, cwd=self.place).stderr)

    def test_restitution_of_what_gives_way(self):
        """It does nothing, there or where the other one gives way, and that is told."""
        text = ("sinew: 1\ncontacts: {a: {restitution: 0.5%s}, b: {stiffness: %s}}\nbodies:\n"
                "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: b}]}\n"
                "  ball: {joint: {type: free, at: [0, 0, 1]}, shapes: [{type: sphere, radius: 0.1, density: 500, contact: a}]}\n")
        for own, other, told in (("", 0, ""), ("", 1e5, "does nothing on 'b', which has stiffness"),
                                 (", stiffness: 1e5", 0, "does nothing with stiffness, which gives back what damping leaves")):
            done = sinew("check", "-", stdin=text % (own, other))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stderr, told and f"warning: stdin: line 2, contacts.a.restitution: {told}\n")

    def test_loops_of_what_has_no_inertia(self):
        """Masses put a start together: all methods refuse where they cannot, and say what to change."""
        for method in ("recursive", "redmax", "structured"):
            for command, code in (("check", BAD_INPUT), ("run", STOPPED)):
                done = sinew(command, "-", "--set", f"run.method={method}", stdin=THIN)
                self.assertEqual(done.returncode, code, (method, command, done.stderr))
                self.assertRegex(done.stderr, r"bodies\.p_\d: at t = 0: 'p_\d' has no inertia against its own motion:"
                                 f" {GIVE_INERTIA}")
                self.assertNotIn("cannot close", done.stderr, (method, command))
            self.good("check", "-", "--set", f"run.method={method}", "--set", "defaults.body.inertia.xx=1e-4", stdin=THIN)

    def test_json(self):
        result = json.loads(self.good("check", "-", "--json", stdin=MOTION))
        self.assertEqual((result["valid"], result["errors"], result["warnings"]), (True, [], []))
        summary = result["summary"]
        self.assertEqual(summary["bodies"], 2)
        self.assertAlmostEqual(summary["mass"], 48 + 4.1887902047863905, places=12)
        self.assertEqual(summary["joints"], [{"type": "prismatic", "count": 1, "dofs": 1},
                                             {"type": "spherical", "count": 1, "dofs": 3}])
        self.assertEqual((summary["dofs"], summary["dofs_following_motions"], summary["motions"]), (4, 1, 1))
        self.assertEqual(summary["bounding_box"], {"min": [-1, -2, -3], "max": [1, 11, 3]})
        self.assertEqual((summary["units"], summary["up"], summary["gravity"]), ("mm g s", "y", [0, -9810, 0]))
        self.assertIn({"name": "recursive", "can": True}, summary["methods"])
        self.assertEqual(summary["run"], {
            "method": "recursive", "step": 0.01, "duration": 1, "record_every": 0,
            "recursive": {"integrator": "dopri5", "rel_tol": 1e-8, "abs_tol": 1e-10, "max_steps": 1000000}})

    def test_quiet(self):
        self.assertEqual(self.good("check", SCENES / "pendulum.yaml", "--quiet"), "")

    def test_set(self):
        text = self.good("check", SCENES / "pendulum.yaml", "--set", "bodies.rod.shapes[0].density=0.001",
                         "--set", "run.step=0.5", "--set", "run.recursive.integrator=rk4")
        self.assertIn("mass 1.29", text)
        self.assertIn("integrator rk4", text)
        self.assertIn("step 0.5, ", text)


class Invalid(Command):
    def test_all_at_once(self):
        path = self.write("several.yaml", SEVERAL)
        done = sinew("check", path.name, cwd=self.place)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertEqual(done.stdout, "several.yaml: not valid: 3 errors\n")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[0].startswith("several.yaml: line 5, bodies.rod.joint.axis: "), lines)
        self.assertTrue(lines[1].startswith("several.yaml: line 6, bodies.rod.inertia: "), lines)
        self.assertTrue(lines[2].startswith("several.yaml: line 8, bodies.bob.parent: "), lines)

    def test_kinds_in_json(self):
        for text, kind, count in ((SEVERAL, "semantic", 3), (STRUCTURAL, "structural", 2)):
            done = sinew("check", "-", "--json", stdin=text)
            self.assertEqual(done.returncode, BAD_INPUT)
            result = json.loads(done.stdout)
            self.assertFalse(result["valid"])
            self.assertNotIn("summary", result)
            self.assertEqual([e["kind"] for e in result["errors"]], [kind] * count)
            self.assertEqual(len(done.stderr.splitlines()), count)
            for error, line in zip(result["errors"], done.stderr.splitlines()):
                self.assertEqual(set(error), {"kind", "file", "line", "column", "path", "text"})
                self.assertEqual(line, f"stdin: line {error['line']}, {error['path']}: {error['text']}")
                self.assertGreater(error["column"], 0)

    def test_the_first_of_many(self):
        """One mistake in each of many bodies: enough of them to see what it is, and all in the JSON."""
        bodies = "".join(f"  b{k}: {{joint: {{type: revolute}}}}\n" for k in range(60))
        path = self.write("many.yaml", "sinew: 1\nunits: m kg s\nup: z\nbodies:\n" + bodies)
        done = sinew("check", path.name, "--json", cwd=self.place)
        count = len(json.loads(done.stdout)["errors"])
        lines = done.stderr.splitlines()
        self.assertGreaterEqual(count, 60)
        self.assertEqual(len(lines), 41)
        self.assertEqual(lines[-1], f"and {count - 40} more errors: 'sinew check many.yaml --json' lists all")

    def test_loop_that_cannot_close(self):
        text = FOUR_BARS.replace("[1.5, 0, -1.2]", "[1.5, 0, 7]")
        for method in ("recursive", "redmax", "projective"):
            done = sinew("check", "-", "--quiet", "--set", f"run.method={method}", stdin=text)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertRegex(done.stderr, r"^stdin: loops\.pin: at t = 0: 'pin' cannot close: a gap of \S+ stays open\n$")
        done = sinew("check", "-", stdin=text)
        self.assertEqual(done.stdout, "-: not valid: 1 error\n")
        result = json.loads(sinew("check", "-", "--json", stdin=text).stdout)
        self.assertEqual((result["valid"], [e["path"] for e in result["errors"]]), (False, ["loops.pin"]))
        self.assertNotIn("summary", result)

    def test_start_that_is_moved(self):
        """Where the start is not as it was written, check says so."""
        start = re.search(r"^  start +(.*)$", self.good("check", "-", stdin=FOUR_BARS), re.M)
        self.assertRegex(start[1], r"^'pin' was open by 0\.2: \w+\.q is \S+ instead of \S+, and \d more differ")
        self.assertEqual(json.loads(self.good("check", "-", "--json", stdin=FOUR_BARS))["summary"]["start"], start[1])
        self.assertNotIn("  start ", self.good("check", SCENES / "redmax" / "fourbar.yaml"))

    def test_start_that_cannot_move(self):
        self.bad(BAD_INPUT, f"stdin: bodies.wheel: at t = 0: 'wheel' {SINGULAR}", "check", "-", "--quiet", stdin=GIMBAL)
        self.good("check", "-", "--set", "initial.wheel.q=[0, 80*deg, 0]", stdin=GIMBAL)
        still = MOTION.replace("{type: prismatic, axis: [1, 0, 0]}",
                               "{type: spline_curve, frames: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]}")
        still = still.replace("motions:", "").replace("  push: {joint: slide, q: 3*sin(t)}\n", "")
        self.bad(BAD_INPUT, f"stdin: bodies.slide: at t = 0: 'slide' {SINGULAR}", "check", "-", "--quiet", stdin=still)

    def test_start_that_is_not_finite(self):
        self.bad(BAD_INPUT, "pendulum.yaml: forces.f: force 'f': its function of time is not finite at t = 0",
                 "check", "pendulum.yaml", "--quiet", "--set", "forces={f: {type: joint_torque, joint: rod, torque: 1/t}}",
                 cwd=SCENES)

    def test_channels(self):
        self.bad(BAD_INPUT, "pendulum.yaml: run.record.channels[1]: 'rodd.q' fits no channel: did you mean 'rod.q'?\n"
                 "pendulum.yaml: run.record.channels[2]: 'x*x' fits no channel; examples: E, NAME.q, NAME.pos.x, *.tau",
                 "check", "pendulum.yaml", "--quiet", "--set", "run.record.channels=[E, rodd.q, x*x]", cwd=SCENES)

    def test_quiet_still_says_what_is_wrong(self):
        done = sinew("check", "-", "--quiet", stdin=SEVERAL)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (BAD_INPUT, "", 3))

    def test_a_weight_that_nothing_comes_of_is_told(self):
        text = ("sinew: 1\nbodies: {bar: {inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}}\n"
                "loops: {foot: {type: revolute, axis: [0, 1, 0], a: {body: world}, b: {body: bar}, weight: %s}}\n")
        self.assertEqual(sinew("check", "-", stdin=text % 3).stderr,
                         "warning: stdin: line 3, loops.foot.weight: does nothing: body 'bar' hangs by this loop, which always holds\n")
        self.assertEqual(sinew("check", "-", stdin=text % 1).stderr, "")

    def test_what_touches_nothing_is_told(self):
        text = ("sinew: 1\ncontacts: {wood: {friction: 0.5}}\nbodies:\n"
                "  floor: {joint: {type: fixed}, shapes: [{type: plane%s}]}\n"
                "  box: {joint: {type: free}, shapes: [{type: box, size: [1, 1, 1], density: 1000, contact: wood}]}\n")
        self.assertEqual(sinew("check", "-", stdin=text % "").stderr,
                         "warning: stdin: line 5, bodies.box.shapes: touch nothing: no shape of another body names a contact\n")
        self.assertEqual(sinew("check", "-", stdin=text % ", contact: wood").stderr, "")

    def test_warnings(self):
        text = MOTION.replace("run: {", "run: {projective: {iterations: 10}, ")
        done = sinew("check", "-", stdin=text)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr.startswith("warning: stdin: line 15, run.projective: not used"), done.stderr)
        self.assertEqual(sinew("check", "-", "--quiet", stdin=text).stderr, "")
        self.assertEqual(len(json.loads(sinew("check", "-", "--json", stdin=text).stdout)["warnings"]), 1)

    def test_files(self):
        self.bad(BAD_INPUT, "none.yaml: No such file or directory", "check", "none.yaml", cwd=self.place)
        self.bad(BAD_INPUT, f"{self.place}: is a directory", "check", self.place)
        done = sinew("check", "-", stdin="")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertTrue(done.stderr.startswith("stdin: "), done.stderr)

    def test_no_name(self):
        out = self.bad(BAD_INPUT, "the name of the scene file is empty", "check", "")
        self.assertEqual(out, "'': not valid: 1 error\n")

    def test_set_repeated(self):
        """rope_2 is in no file, also where the file with the rope is used by another."""
        self.write("rope.yaml", "sinew: 1\nbodies:\n  rope:\n    joint: {type: spherical}\n"
                   "    shapes: [{type: sphere, radius: 0.1, density: 100}]\n    repeat: {count: 3}\n")
        user = self.write("user.yaml", "sinew: 1\nuse: [{file: rope.yaml, prefix: left/}]\n")
        for file, prefix in ((self.place / "rope.yaml", ""), (user, "left/")):
            self.bad(BAD_INPUT, f"--set: bodies.{prefix}rope_2.joint.damping: '{prefix}rope_2' is made by repeat: "
                     f"set bodies.{prefix}rope.joint.damping for all of them",
                     "check", file, "--quiet", "--set", f"bodies.{prefix}rope_2.joint.damping=1")
            self.good("check", file, "--quiet", "--set", f"bodies.{prefix}rope.joint.damping=1")
            self.good("check", file, "--quiet", "--set", f"initial.{prefix}rope_2.q=1")

    def test_outside(self):
        (self.place / "inner").mkdir()
        self.write("part.yaml", MOTION)
        self.write("inner/scene.yaml", "sinew: 1\nuse: [{file: ../part.yaml, prefix: a/}]\n")
        done = sinew("check", "inner/scene.yaml", cwd=self.place)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("leads out of the scene's folder", done.stderr)
        done = sinew("check", "inner/scene.yaml", "--allow-outside", cwd=self.place)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_set(self):
        scene = SCENES / "pendulum.yaml"
        self.bad(BAD_INPUT, "--set: run.step: is 0, needs > 0", "check", scene, "--quiet", "--set", "run.step=0")
        self.bad(BAD_INPUT, "--set: run.step: has no value: write path=value", "check", scene, "--quiet",
                 "--set", "run.step")


if __name__ == "__main__":
    unittest.main()
