"""sinew make: the scenes that are made by rule are valid, run, and are what they say."""
import csv
import json
import math
import re
import subprocess
import unittest

import yaml

import knots
from command import BAD_INPUT, SCENES, SINEW, Command, sinew

NAMES = ["bridge", "deck", "net", "tensegrity", "arm", "hand", "umbrella", "ring", "fourbar", "ladder", "gear", "slider-crank",
         "hagfish", "stack", "heap", "dominoes", "ramp", "gripper", "seaweed", "pendulum-strings", "characters", "surface",
         "chain", "klann"]
SCENE_FILES = {  # of scenes/redmax or another folder, and what makes them
    "bridge": ["bridge", "--count", "40"],
    "bridge_flexible": ["bridge", "--count", "20", "--towers", "flexible", "--weight", "4800*500"],
    "deck": ["deck"],
    "net": ["net"],
    "tensegrity": ["tensegrity"],
    "tensegrity_balls": ["tensegrity", "--shape", "icosahedron", "--size", "3"],
    "arm": ["arm"],
    "hand": ["hand"],
    "umbrella": ["umbrella"],
    "ring": ["ring"],
    "fourbar": ["fourbar", "--count", "3"],
    "ladder": ["ladder"],
    "planetary_gear": ["gear"],
    "slider_crank": ["slider-crank"],
    "hagfish": ["hagfish"],
    "chain": ["chain"],
    "chain_large_pins": ["chain", "--radius", "1"],
    "klann": ["klann"],
    "../contact/coil": ["hagfish", "--ties", "coil"],
    "../contact/dominoes": ["dominoes"],
    "../contact/gripper": ["gripper"],
    "../contact/heap": ["heap", "--count", "60"],
    "../contact/ramp": ["ramp"],
    "../contact/stack": ["stack", "--count", "10"],
}


class Make(Command):
    def run_scene(self, text, duration=1, **settings):
        """Runs it and gives back the summary and the recorded rows."""
        out = self.place / "out.csv"
        changes = [f"--set={key}={value}" for key, value in settings.items()]
        summary = json.loads(self.good("run", "-", "--duration", duration, "--json", "--out", out, *changes, stdin=text))
        with open(out, encoding="utf-8", newline="") as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        self.assertEqual(summary["status"], "done")
        return summary, rows

    def sane(self, *arguments, duration=1):
        """Valid without a warning, runs at 10 ms, and gains no more energy than it was given."""
        text = self.good("make", *arguments)
        self.assertIn("sinew: 1", text)
        self.assertTrue(text.startswith(f"# Made by 'sinew make {arguments[0]}'"))
        self.assertIn("valid", self.good("check", "-", stdin=text))
        _, rows = self.run_scene(text, duration)
        self.assertTrue(all(math.isfinite(value) for row in rows for value in row.values()))
        return text, rows

    def test_list(self):
        text = self.good("make")
        for name in NAMES:
            self.assertRegex(text, rf"(?m)^{name} +\S")

    def test_help(self):
        for name in NAMES:
            text = self.good("make", name, "--help")
            self.assertTrue(text.startswith(f"usage: sinew make {name}"))
            self.assertIn("\noptions:\n", text)
            self.assertRegex(text, rf"\nexamples:\n(  .*\n)*  sinew make {name}")

    def test_examples_of_the_help(self):
        for name in NAMES:
            examples = self.good("make", name, "--help").split("\nexamples:\n")[1].splitlines()
            for example in examples:
                words = example.split()
                self.good(*words[1:words.index(">")])

    def test_same_every_time(self):
        for name in NAMES:
            self.assertEqual(self.good("make", name), self.good("make", name))

    def test_files_of_the_tree(self):
        for name, arguments in SCENE_FILES.items():
            with self.subTest(file=name):
                self.assertEqual((SCENES / "redmax" / f"{name}.yaml").read_text(), self.good("make", *arguments))

    def test_readable(self):
        for name in NAMES:
            lines = self.good("make", name).split("\n")
            self.assertTrue(all(len(line) <= 130 for line in lines), max(lines, key=len))
            self.assertFalse(any("-0," in line or "-0]" in line or "nan" in line for line in lines))

    def test_refused(self):
        self.bad(BAD_INPUT, "sinew make: there is no generator 'brige': did you mean 'bridge'?", "make", "brige")
        self.bad(BAD_INPUT, "sinew make: there is no generator 'xyz': 'sinew make' lists them", "make", "xyz")
        self.bad(BAD_INPUT, "sinew make: there is no option --count: see 'sinew make --help'", "make", "--count", "3")
        self.bad(BAD_INPUT, "sinew make bridge: --count: is 3, needs a whole number from 4 to 100000",
                 "make", "bridge", "--count", "3")
        self.bad(BAD_INPUT, "sinew make deck: --count: is 2.5, needs a whole number from 1 to 100000",
                 "make", "deck", "--count", "5/2")
        self.bad(BAD_INPUT, "sinew make bridge: --towers: is 'soft', needs rigid or flexible",
                 "make", "bridge", "--towers", "soft")
        self.bad(BAD_INPUT, "sinew make net: --rows: is 0, needs a whole number from 1 to 100000",
                 "make", "net", "--rows", "0")
        self.bad(BAD_INPUT, "sinew make bridge: there is no option --size: see 'sinew make bridge --help'",
                 "make", "bridge", "--size", "3")
        self.bad(BAD_INPUT, "sinew make deck: 'x' is one too many: sinew make deck [--count N]", "make", "deck", "x")

    # ---- what each is ----

    def test_smallest_of_all_that_is_allowed(self):
        """Each number of the help at its lower end gives a scene that is valid."""
        tried = 0
        for name in NAMES:
            for option, least in re.findall(r"(--[a-z_-]+) [A-Z]+ (?:(?!--).)*?from ([\d.e-]+) to ",
                                            re.sub(r"\s+", " ", self.good("make", name, "--help"))):
                self.good("check", "-", stdin=self.good("make", name, option, least))
                tried += 1
        self.assertGreater(tried, 15)

    def test_bridge(self):
        for count in (4, 5, 20, 80, 161):
            text, rows = self.sane("bridge", "--count", count)
            scene = yaml.safe_load(text)
            self.assertEqual(sum(name.startswith("deck_") for name in scene["bodies"]), count)
            self.assertEqual((len(scene["forces"]), list(scene["loops"])), (30, ["end"]))
            self.assertEqual(scene["gravity"], [0, 0, -9.8])
            # the deck ends at its anchor, and stays there: the last piece turns about it
            for row in rows:
                gap = math.hypot(12 - row[f"deck_{count}.pos.x"], 3 - row[f"deck_{count}.pos.z"])
                self.assertLess(abs(gap - scene["defaults"]["body"]["shapes"][0]["size"][0]), 1e-9)
            end = [[row[f"deck_{count}.pos.{axis}"] for axis in "xz"] for row in rows]
            length = scene["defaults"]["body"]["shapes"][0]["size"][0]
            self.assertLess(abs(end[0][0] + length - 12), 0.02 + length / 2)
            for x, z in end:
                self.assertLess(math.hypot(x - end[0][0], z - end[0][1]), 0.05)
            # it gives way under its own weight, a little, and comes to rest
            self.assertLess(rows[-1]["E"], rows[0]["E"])

    def test_bridge_with_a_spring_at_its_end(self):
        text, rows = self.sane("bridge", "--count", 20, "--end", "spring")
        scene = yaml.safe_load(text)
        self.assertNotIn("loops", scene)
        self.assertEqual(scene["forces"]["tie"]["rest_length"], 0)
        _, hinged = self.sane("bridge", "--count", 20)
        self.assertLess(abs(rows[-1]["deck_10.pos.z"] - hinged[-1]["deck_10.pos.z"]), 2e-3)  # the loop closes what the drawing leaves open

    def test_umbrella(self):
        for count, freedom in ((10, 241), (16, 385), (5, 113)):
            text, rows = self.sane("umbrella", "--count", count)
            report = json.loads(self.good("check", "-", "--json", stdin=text))["summary"]
            self.assertEqual((report["dofs"], report["dofs_free"]), (freedom, freedom - 24))
            self.assertEqual(len(yaml.safe_load(text)["forces"]), 8 * count + 1)
            # the ribs stay in their planes
            self.assertLess(max(abs(row[f"rib_1_{count}.pos.y"]) for row in rows), 1e-4)
            if count == 10:  # an independent program, which closes the loops in two rows, says 1.75
                self.assertLess(abs(rows[-1]["runner.q"] - 1.75), 0.01)

    def test_umbrella_opens(self):
        _, rows = self.run_scene(self.good("make", "umbrella", "--count", 6), 4)
        self.assertGreater(max(row["runner.q"] for row in rows), 15)
        self.assertGreater(max(row["rib_1_6.pos.x"] for row in rows), 25)

    def test_hand(self):
        for coordinates, freedom in (("hyper", 19), ("reduced", 23)):
            text, rows = self.sane("hand", "--coordinates", coordinates, duration=2)
            report = json.loads(self.good("check", "-", "--json", stdin=text))["summary"]
            self.assertEqual((report["dofs"], report["dofs_free"]), (23, freedom - 16))
            bent = max(abs(row["index_2.q"] - 2 * row["index_3.q"]) for row in rows)
            self.assertEqual(bent < 1e-8, coordinates == "hyper")
            self.assertLess(max(abs(row["palm.q1"]) for row in rows), 0.1)  # the wrist hardly gives way
            self.assertGreater(min(row["index_3.q"] for row in rows), 0.1)

    def test_fourbar(self):
        for count, energy in ((1, 20.4533), (10, 158.8883), (40, 620.3383)):
            for closure in ("hinge", "point"):
                text, rows = self.sane("fourbar", "--count", count, "--closure", closure, duration=0.1)
                scene = yaml.safe_load(text)
                self.assertEqual((len(scene["bodies"]), len(scene["initial"])), (2 * count + 1, 2 * count + 1))
                self.assertLess(abs(rows[0]["E"] - energy), 1e-3)
                for row in rows:
                    self.assertLess(abs(math.hypot(row["bar_1.pos.x"], row["bar_1.pos.z"]) - 1), 1e-9)
                    self.assertLess(abs(row["bar_1.pos.x"] - math.sin(row["rod_0.q"])), 1e-9)

    def test_fourbar_ends_where_the_library_says(self):
        for count, x, z in ((2, 0.328458111541, 0.944518538179), (40, 0.180512226687, 0.983572740582)):
            _, rows = self.sane("fourbar", "--count", count, duration=10)
            self.assertEqual(rows[-1]["t"], 10)
            self.assertLess(math.hypot(rows[-1]["bar_1.pos.x"] - x, rows[-1]["bar_1.pos.z"] - z), 1e-5)
            self.assertLess(max(abs(row["E"] - rows[0]["E"]) for row in rows), 1e-3)

    def test_ladder(self):
        for count, pattern in ((1, 1), (3, 1), (2, 5)):
            text, rows = self.sane("ladder", "--count", count, "--pattern", pattern, duration=0.5)
            report = json.loads(self.good("check", "-", "--json", stdin=text))["summary"]
            self.assertEqual(report["bodies"], count * (2 * pattern + 1))
            self.assertEqual(report["dofs_free"], 3 * count * (2 * pattern + 1) - 3 * count)
            self.assertEqual(len(yaml.safe_load(text)["loops"]), count)
            # it falls straight, until it whips
            self.assertTrue(all(abs(row[f"rung_{count}.pos.y"]) < 1e-6 for row in rows if row["t"] < 0.2))
            self.assertLess(min(row[f"rung_{count}.pos.z"] for row in rows), -0.1)

    def test_ring(self):
        for count in (3, 4, 40, 101):
            text, rows = self.sane("ring", "--count", count, duration=3)
            scene = yaml.safe_load(text)
            self.assertEqual((scene["bodies"]["link"]["repeat"]["count"], list(scene["loops"])), (count, ["closing"]))
            far = [row[f"link_{count // 2 + 1}.pos.x"] for row in rows]
            self.assertLess(min(far), -0.4)
            self.assertGreater(max(far), 0.3)  # it swings
            self.assertLess(rows[-1]["E"], rows[0]["E"])

    def hagfish(self, *options, stdin):
        """Thickness of the parts, for each moment their places and the joints' coordinates, and all of the table."""
        out = self.place / "fish.csv"
        channels = "T,part_*.pos.*,part_*.q*,part_*.tau*"
        self.good("run", "-", "--quiet", "--channels", channels, "--out", out, *options, stdin=stdin)
        with open(out, encoding="utf-8", newline="") as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        scene = yaml.safe_load(stdin)["bodies"]
        radius = [scene[f"part_{k}"]["shapes"][0]["radius"] for k in range(101)]
        places = [[[row[f"part_{k}.pos.{axis}"] for axis in "xyz"] for k in range(101)] for row in rows]
        joints = [[value for key, value in row.items() if re.search(r"\.q\d?$", key)] for row in rows]
        return radius, places, joints, rows

    def moves_by_work(self, rows):
        """Nothing moves faster than by what muscles, and the springs beside them, have done so far."""
        rates = [name for name in rows[0] if re.search(r"\.qd\d?$", name)]
        work, before = 0, 0
        for row in rows:
            work += (row["t"] - before) * sum(row[name] * row[name.replace(".qd", ".tau")] for name in rates)
            before = row["t"]
            self.assertLessEqual(row["T"], work + 1e-12)

    def least_gap(self, radius, points):
        """Between parts that are further apart along the body than it is thick."""
        return min(knots.distance(points[i], points[j]) - radius[i] - radius[j]
                   for i in range(101) for j in range(i + 11, 101))

    def touching(self, radius, points):
        """Parts of the body that others, further along it than it is thick, touch: within 0.3 mm."""
        return [i for i in range(101) if any(knots.distance(points[i], points[j]) - radius[i] - radius[j] < 3e-4
                                             for j in range(101) if abs(i - j) > 10)]

    def test_hagfish(self):
        """The tail ties an overhand knot, without touching itself, and draws it tight until it does."""
        text = self.good("make", "hagfish")
        radius, places, joints, rows = self.hagfish("--every", 0, stdin=text)
        limit = 2 * 0.0042 / 0.013
        self.assertTrue(all(abs(value) <= limit + 1e-9 for row in joints for value in row))
        self.assertEqual(knots.determinant(places[0]), 1)
        tied = places[1200]  # after 12 s
        for points in (tied, places[-1]):
            self.assertEqual(knots.determinant(points), 3)
        self.assertEqual(self.touching(radius, tied), [])
        touching = self.touching(radius, places[-1])
        self.assertGreater(len(touching), 12)  # parts ...
        self.assertGreater(len([k for k in touching if k - 5 not in touching]), 2)  # ... of several strands
        for points in places[::20]:
            self.assertGreater(self.least_gap(radius, points), -2.5e-4)
        self.moves_by_work(rows)
        self.assertLess(rows[-1]["T"], 1e-6)  # of 5e-5 that it had

    def test_hagfish_that_coils(self):
        """Two turns and more, and though its own body is in the way nothing passes through it."""
        text = self.good("make", "hagfish", "--ties", "coil")
        radius, places, joints, _ = self.hagfish("--duration", "4", stdin=text)
        self.assertGreater(sum(abs(value) for value in joints[-1]), 4 * math.pi)
        for points in places[::10]:
            self.assertGreater(self.least_gap(radius, points), -2.5e-4)  # beads, and not the tube between them
        self.assertLess(self.least_gap(radius, places[-1]), 1e-3)  # it touches itself

    def test_slider_crank(self):
        for length, weight in ((0.3, 1), (0.11, 5)):
            _, rows = self.sane("slider-crank", "--length", length, "--weight", weight, duration=1)
            for row in rows:
                a = row["crank.q"]
                x = 0.1 * math.cos(a) + math.sqrt(length ** 2 - (0.1 * math.sin(a)) ** 2)
                self.assertLess(abs(row["slider.q"] - x), 1e-9)

    def test_gear(self):
        """The carrier is three times slower than the sun, and the planets turn against it."""
        for count in (1, 3, 9):
            text, rows = self.sane("gear", "--count", count, duration=2)
            self.assertEqual(len(yaml.safe_load(text)["constraints"]), 2 * count)
            for row in rows:
                self.assertLess(abs(row["carrier.qd"] - row["sun.qd"] / 3), 1e-9)
                self.assertLess(abs(row["planet_1.qd"] + 4 * row["carrier.qd"]), 1e-9)
            self.assertGreater(rows[-1]["sun.qd"], 1)
            # what holds the ring takes twice the torque of the sun, but for what speeds up the planets
            self.assertGreater(abs(rows[-1]["brake.tau"]), 1)

    def test_flexible_bridge(self):
        for count in (4, 20, 80):
            text, rows = self.sane("bridge", "--count", count, "--towers", "flexible", "--weight", "4800*500", duration=5)
            scene = yaml.safe_load(text)
            self.assertEqual(scene["bodies"]["left"]["repeat"]["count"], count)
            middle = [row[f"deck_{(count + 1) // 2}.pos.z"] for row in rows]
            if count >= 20:  # fewer pieces have fewer hinges to bend in
                self.assertGreater(middle[0] - min(middle), 0.1)
            self.assertLess(abs(middle[-1] - middle[0]), 0.2)  # it comes back

    def test_deck(self):
        for count in (1, 2, 80, 320):
            _, rows = self.sane("deck", "--count", count)
            self.assertLess(abs(rows[-1]["E"]), 1)
            self.assertLess(rows[-1]["T"], 1e-6)  # at rest after a second
            self.assertTrue(all(abs(row[f"link_{count}.pos.z"]) < 0.05 for row in rows))

    def test_net(self):
        for arguments, ropes, links in ((("--size", 2), 2, 2), ((), 10, 10), (("--rows", 3, "--columns", 12), 12, 3)):
            text, rows = self.sane("net", *arguments)
            scene = yaml.safe_load(text)
            self.assertEqual((len(scene["bodies"]), scene["bodies"]["rope_1"]["repeat"]["count"]), (ropes, links))
            self.assertEqual(sum(name.startswith("knot") for name in scene["forces"]), (ropes - 1) * links)
            # after the gust it only loses energy
            later = [row["E"] for row in rows if row["t"] > 0.51]
            self.assertLess(later[-1], later[0])
            self.assertLess(max(later), later[0] + 1e-6 * abs(later[0]))

    def test_tensegrity_is_in_balance(self):
        """Without weight and push nothing moves: the tensions are those that the struts can bear."""
        for arguments in (("--size", 1), ("--size", 2), ("--size", 10), ("--shape", "icosahedron", "--size", 1)):
            text, _ = self.sane("tensegrity", *arguments)
            _, rows = self.run_scene(text, 2, gravity="[0, 0, 0]",
                                     **{"forces.push.active": 0, "run.record.channels": "['*.pos.*']"})
            # the numbers of the scene have ten digits
            for axis in [key for key in rows[0] if ".pos." in key]:
                self.assertLess(max(abs(row[axis] - rows[0][axis]) for row in rows), 1e-8, arguments)

    def test_tensegrity_stands(self):
        """As tall as the manual says, and after the push it comes to rest where it began."""
        text = self.good("make", "tensegrity", "--size", 20)
        _, rows = self.run_scene(text, 30, **{"run.step": 0.02})
        for axis in [key for key in rows[0] if ".pos." in key]:
            self.assertLess(abs(rows[-1][axis] - rows[0][axis]), 0.03)  # of 16 m, under its weight

    def test_tensegrity(self):
        for shape, struts in (("prism", 3), ("icosahedron", 6)):
            for size in (1, 4, 10):
                text, rows = self.sane("tensegrity", "--shape", shape, "--size", size, duration=2)
                scene = yaml.safe_load(text)
                self.assertEqual(len(scene["bodies"]), struts * size)
                axis = f"strut_{struts * size}.pos.z"  # it stands, or hangs
                self.assertLess(max(abs(row[axis] - rows[0][axis]) for row in rows), 0.1 * size + 0.05)
                later = [row["E"] for row in rows if row["t"] > 0.41]
                self.assertLess(max(later), later[0] + 1e-6 * abs(later[0]))

    def test_arm(self):
        """The biceps bends the elbow in the first second, the triceps stretches it in the next."""
        for weight in (0, 1, 3):
            text, rows = self.sane("arm", "--weight", weight, duration=2)
            forces = yaml.safe_load(text)["forces"]
            self.assertEqual((len(forces), {len(force["via"]) for force in forces.values()}), (6, {2, 3}))
            first = [row["forearm.q"] for row in rows if row["t"] <= 1]
            second = [row["forearm.q"] for row in rows if row["t"] > 1.3]
            self.assertGreater(max(first), 0.9)
            self.assertLess(max(second), 0.5)
            self.assertTrue(all(-0.4 < q < 1.6 for q in first + second))

    def test_all_cables_are_in_tension(self):
        scene = yaml.safe_load(self.good("make", "tensegrity", "--size", 3))
        rings = [force for name, force in scene["forces"].items() if name.startswith("ring")]
        self.assertEqual(len(rings), 18)  # two triangles a prism
        side = 0.4 * math.sqrt(3)
        self.assertTrue(all(0.98 * side < force["rest_length"] < 0.999 * side for force in rings))

    def test_net_spreads_along_the_springs(self):
        """The gust is strongest in the middle, and the knots carry it to the edge."""
        text = self.good("make", "net", "--size", "6")
        _, rows = self.run_scene(text)
        edge, middle = (max(abs(row[f"rope_{c}_6.pos.y"]) for row in rows) for c in (1, 3))
        self.assertGreater(middle, edge)
        self.assertGreater(edge, 0.3 * middle)

    def test_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([SINEW, "make", "deck"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (BAD_INPUT, "sinew make deck: cannot write to standard output\n"))

    def test_in_a_pipe(self):
        text = self.good("make", "deck", "--count", "3")
        self.assertEqual(sinew("check", "-", stdin=text).returncode, 0)

    def test_ramp_holds_below_the_angle_of_friction(self):
        for angle, slides in (26.5, False), (26.6, True):
            rows = self.sane("ramp", "--angle", angle)[1]
            way = math.hypot(rows[-1]["block.pos.x"] - rows[0]["block.pos.x"], rows[-1]["block.pos.z"] - rows[0]["block.pos.z"])
            a = 9.81 * (math.sin(math.radians(angle)) - 0.5 * math.cos(math.radians(angle)))
            self.assertAlmostEqual(way, 0.5 * a if slides else 0, delta=2e-4, msg=f"at {angle} degrees")

    def test_stack_stands(self):
        rows = self.sane("stack", "--count", 5)[1]
        self.assertAlmostEqual(rows[-1]["box_5.pos.z"], 0.9, delta=1e-6)
        rows = self.sane("stack", "--count", 3, "--weight", 1000)[1]
        self.assertAlmostEqual(rows[-1]["box_3.pos.z"], 0.5, delta=1e-6)

    def test_gripper_lifts_what_friction_can_hold(self):
        for weight, height in (1, 0.34), (5.6, 0.34), (8, 0.04):
            rows = self.sane("gripper", "--weight", weight, duration=2)[1]
            self.assertAlmostEqual(rows[-1]["block.pos.z"], height, delta=2e-3, msg=f"{weight} kg")

    def test_dominoes_fall_one_after_the_other(self):
        rows = self.sane("dominoes", "--count", 4, duration=1.2)[1]
        self.assertAlmostEqual(rows[0]["domino_4.pos.z"], 0.1, delta=1e-9)
        self.assertLess(rows[-1]["domino_4.pos.z"], 0.05)

    def test_heap_stays_in_its_pen(self):
        text, rows = self.sane("heap", "--count", 8, duration=1.5)
        half = 0.5 * 0.34 * 2 + 0.05
        _, rows = self.run_scene(text, 1.5, **{"run.record.channels": "['*.pos.*']"})
        for key, value in rows[-1].items():
            if key.startswith("body_"):
                self.assertTrue(0.02 < value if key.endswith("z") else abs(value) < half, f"{key} is {value}")

    def test_chain_stops_from_the_root_on_and_sooner_and_after_less_of_its_way_on_larger_pins(self):
        """What sticks has the same digits from step to step. On small pins the tip swings back."""
        ways, rest = [], []
        keys = [f"link_{k}.q" for k in range(1, 11)]
        for radius in (0.5, 1):
            _, rows = self.run_scene(self.sane("chain", "--radius", radius, duration=0.1)[0], 2, **{"run.record.every": 0.001, "run.record.channels": "['*.q']"})
            late = [max(b["t"] for a, b in zip(rows, rows[1:]) if b[key] != a[key]) for key in keys]
            self.assertTrue(all(a < b for a, b in zip(late, late[1:])), late)
            rest.append(max(late))
            ways.append([abs(rows[-1][key]) for key in keys])
        self.assertTrue(rest[1] < rest[0] - 0.2 and rest[0] < 1.6, rest)
        self.assertLess(ways[1][0], ways[0][0])

    def test_klann_leg_goes_round_its_path(self):
        """Crank pin, knee and foot of the first leg every 30 degrees."""
        text = self.good("make", "klann", "--stand", "air", "--friction", 0)
        scene = yaml.safe_load(text)
        foot = scene["bodies"]["leg_left_1"]["shapes"][2]["at"]
        height = scene["bodies"]["frame"]["joint"]["at"][2]
        _, rows = self.run_scene(text, 11 / 12, **{"run.step": "1/480", "run.record.every": "1/12",
                                                   "run.record.channels": "['rod_left_1.pos.*', 'leg_left_1.pos.*', 'leg_left_1.quat.*']"})
        with open(SCENES.parent / "tests/data/vectors/klann.json", encoding="utf-8") as file:
            table = json.load(file)["table"]
        self.assertEqual(len(rows), 12)
        for row, entry in zip(rows, table):
            turn = 2 * math.atan2(row["leg_left_1.quat.y"], row["leg_left_1.quat.w"])
            found = {"P29": (row["rod_left_1.pos.x"], row["rod_left_1.pos.z"]),
                     "P35": (row["leg_left_1.pos.x"], row["leg_left_1.pos.z"]),
                     "P33": (row["leg_left_1.pos.x"] + math.cos(turn) * foot[0] + math.sin(turn) * foot[2],
                             row["leg_left_1.pos.z"] - math.sin(turn) * foot[0] + math.cos(turn) * foot[2])}
            for name, (x, z) in found.items():
                self.assertAlmostEqual(x / 0.1 + 1.599, entry[name][0], delta=1e-8, msg=f"{name} at {entry['deg']}")
                self.assertAlmostEqual((z - height) / 0.1 + 0.75, entry[name][1], delta=1e-8, msg=f"{name} at {entry['deg']}")

    def test_klann_walks(self):
        """A foot goes a stride of 0.1 m along the floor in half a turn of its crank, in the middle faster
        than at the ends: two strides a turn, and a little more, because feet carry in the middle; upright."""
        rows = self.sane("klann", duration=2)[1]
        turn = len(rows) // 2
        way = rows[-1]["frame.q0"] - rows[turn]["frame.q0"]
        self.assertTrue(0.2 < way < 0.25, way)
        self.assertTrue(all(abs(row[f"frame.q{k}"]) < 0.3 for row in rows for k in (3, 4)))


if __name__ == "__main__":
    unittest.main()
