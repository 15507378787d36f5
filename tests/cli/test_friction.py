"""Friction in joints by the command: every scene that has any, and what is said of it.  SINEW_SOAK lets the walker walk for longer, with more friction."""
import csv
import itertools
import json
import os
import re
import unittest

from command import BAD_INPUT, SCENES, STOPPED, Command, sinew

RUBS = re.compile(r"friction: *\{[^}]*(mu|law|force)")


class Friction(Command):
    def report(self, *arguments):
        return json.loads(self.good("run", "--json", "--quiet", *arguments))

    def test_few_iterations_on_every_scene(self):
        names = [path for path in sorted(SCENES.rglob("*.yaml")) if RUBS.search(path.read_text())]
        self.assertGreaterEqual(len(names), 9)
        print("\nscene                          iterations a step, at most")
        for path in names:
            result = self.report(path)
            friction = result["friction"]
            print(f"  {path.name:28} {friction['iterations']:17.2f} {friction['iterations_most']:8d}")
            self.assertLessEqual(friction["iterations"], 10, path.name)
            self.assertEqual(friction["unsettled"], 0, path.name)
            self.assertEqual(result.get("solver", {}).get("retries", 0), 0, path.name)
            if path.name == "friction_floor.yaml":  # where pins and contact hold each other
                self.assertLessEqual(friction["iterations_most"], 10)

    def test_the_summary_tells(self):
        text = self.good("run", SCENES / "redmax/chain.yaml", "--duration", 0.1)
        self.assertRegex(text, r"(?m)^  friction    in joints: [0-9.]+ iterations a step, at most [0-9]+$")
        text = self.good("run", SCENES / "pendulum.yaml", "--duration", 0.1)
        self.assertNotRegex(text, r"(?m)^ +friction")

    def rows_of(self, *arguments):
        out = self.place / "rows.csv"
        self.good("run", "--quiet", "--out", out, *arguments)
        with open(out, encoding="utf-8", newline="") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def test_the_paper_s_problem_moves_alike(self):
        """As usual, as well as the tolerance asks for; with a small one, to rounding.  In the loop also where a gap opens, against whose closing its contacts rub."""
        print("\nscene                 closure        off by, and with a tolerance of 1e-11")
        for name, closure in (("revolute", "project"), ("spherical", "project"), ("prismatic", "project"), ("loop", "project"), ("loop", "baumgarte")):
            off = []
            for fine in ([], ["--set", "run.redmax.friction.tolerance=1e-11", "--set", "run.redmax.friction.max_iterations=20000"]):
                both = [self.rows_of(SCENES / f"redmax/friction_{name}.yaml", "--duration", 0.3, "--channels", "*.q*", "--set", f"run.redmax.closure={closure}", *fine,
                                     "--set", f"run.redmax.friction.problem={problem}") for problem in ("reduced", "maximal")]
                off.append(max(abs(a[key] - b[key]) for a, b in zip(*both) for key in a if re.search(r"\.q[0-9]?$", key)))
            print(f"  {name:20}{closure:15}{off[0]:.2g}, {off[1]:.2g}")
            self.assertLess(off[0], 1e-5)
            self.assertLess(off[1], 1e-9)

    def test_friction_agrees_where_feet_come_down(self):
        """Half a turn with a foot that comes down: a step is solved once more with it, and only that solution counts."""
        scene = self.place / "walker.yaml"
        scene.write_text(self.good("make", "klann", "--friction", 0.8))
        self.assertEqual(self.report(scene, "--duration", 0.5, "--set", "run.redmax.on_unconverged=stop")["friction"]["unsettled"], 0)

    def turn_of_klann(self, mu, turns):
        """Of each turn after the first: way of the body, mean size of the torque, work that goes back to the motors; and iterations a step."""
        out = self.place / "walk.csv"
        text = self.good("make", "klann", "--friction", mu)
        done = json.loads(self.good("run", "-", "--duration", turns, "--json", "--quiet", "--out", out, "--channels", "t,frame.pos.x,motor_*.tau",
                                    "--set", "run.step=0.002", "--set", "run.record.every=0.002", stdin=text))
        with open(out, encoding="utf-8", newline="") as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        turn = (len(rows) - 1) // turns
        step = 1 / turn
        result = []
        for first in range(turn, turn * turns, turn):
            torques = [row[f"motor_{side}.tau"] for row in rows[first + 1:first + turn + 1] for side in ("left", "right")]
            back = sum(max(-tau, 0) for tau in torques) * 2 * 3.14159265 * step
            result.append((rows[first + turn]["frame.pos.x"] - rows[first]["frame.pos.x"], sum(map(abs, torques)) / len(torques), back))
        return result, done["friction"]["iterations"] if mu else 0

    def test_klann_over_whole_turns(self):
        """Two strides of 0.1 m a turn, each turn; the more its pins rub, the more torque it needs; without friction the motors are driven where it sinks."""
        soak = bool(os.environ.get("SINEW_SOAK"))
        turns = 5 if soak else 2
        mus = (0, 0.2, 0.4, 0.6, 0.8) if soak else (0, 0.4)
        means = []
        print("\nmu    m a turn    mean |tau| N m    back J a turn    iterations a step")
        for mu in mus:
            result, iterations = self.turn_of_klann(mu, turns)
            for way, mean, back in result:
                print(f"{mu:3} {way:10.4f} {mean:15.4f} {back:15.4f} {iterations:15.2f}")
                self.assertTrue(0.2 < way < 0.25, way)
                self.assertTrue(back > 0.1 if mu == 0 else back == 0, back)
            means.append([mean for _, mean, _ in result])
            self.assertLessEqual(iterations, 10)
        for less, more in itertools.pairwise(means):
            self.assertTrue(all(b > 1.2 * a for a, b in zip(less, more)), (less, more))

    def test_what_cannot_agree_is_told(self):
        """A motor that lifts a bracket on a guide which jams."""
        jam = self.place / "jam.yaml"
        jam.write_text("""sinew: 1
bodies:
  post:
    joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: 0.8, size: [0.05, 0.05, 0.05]}}
    inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}
motions: {lift: {body: post, at: [0.5, 0, 0], frame: world, twist: [null, null, null, null, null, 0.5]}}
run: {method: redmax, step: 0.01, duration: 0.1}
""")
        self.assertRegex(self.good("run", jam), r"(?m)^ +in 10 steps loads and friction did not agree: bounds are off by up to [0-9.]+ of what they should be$")
        self.assertEqual(self.report(jam)["friction"]["unsettled"], 10)
        done = sinew("run", jam, "--set", "run.redmax.on_unconverged=stop", "--quiet", cwd=self.place)
        self.assertEqual(done.returncode, STOPPED)
        self.assertIn("loads and friction in joints do not agree", done.stderr)

    def test_who_has_none_says_so(self):
        way = "'redmax' with this integrator goes the way of 'recursive': "
        for said, *arguments in (("", "--method", "recursive"), (way, "--set", "run.redmax.integrator=rk4"), (way, "--set", "run.redmax.integrator=dopri5")):
            self.bad(BAD_INPUT, f"{said}method 'recursive' (dopri5, rk4) has no friction in joints (joint 'link_10'): take redmax with the integrator euler or extrapolated, or leave out 'friction'",
                     "run", SCENES / "redmax/chain.yaml", *arguments)
        self.bad(BAD_INPUT, "method 'structured' cannot yet let joints rub ('link_10'): take the method redmax", "run", SCENES / "redmax/chain.yaml", "--method", "structured")


if __name__ == "__main__":
    unittest.main()
