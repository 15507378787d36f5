"""A failed run leaves a bundle, and sinew replay repeats its bad step."""
import json
import os
import re
import shutil
import unittest

from command import BAD_INPUT, DATA, DONE, STOPPED, Command, sinew

EXPLICIT = """
sinew: 1
bodies:
  anchor:
    joint: {type: prismatic, axis: [1, 0, 0]}
    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}
  ball:
    parent: anchor
    joint: {type: prismatic, axis: [1, 0, 0], at: [1, 0, 0]}
    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}
forces:
  cord:
    type: spring
    implicit: false
    stiffness: 1e6
    rest_length: 0.5
    a: {body: world, at: [0, 1, 0]}
    b: {body: ball}
run: {method: redmax, step: 0.01, duration: 20}
"""


class Broken(Command):
    def broken(self, scene="explicit.yaml", *arguments, text=EXPLICIT, **keywords):
        """A run that diverges; gives back the name of the bundle and the error."""
        if text and not (self.place / scene).exists():
            self.write(scene, text)
        done = sinew("run", scene, *arguments, cwd=self.place, **keywords)
        self.assertEqual(done.returncode, STOPPED, done.stderr)
        match = re.search(r"^(.*)\nthe step that failed is kept: sinew replay (.*)\n$", done.stderr)
        self.assertTrue(match, done.stderr)
        return match[2], match[1]

    def replay(self, *arguments):
        done = sinew("replay", *arguments, "--json", cwd=self.place)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)


class Bundle(Broken):
    def test_explicit_spring(self):
        name, error = self.broken()
        self.assertEqual(name, "explicit.failed")
        self.assertRegex(error, r"^bodies\.ball: at t = \S+: 'ball' ")
        files = {str(path.relative_to(self.place)) for path in (self.place / name).rglob("*") if path.is_file()}
        self.assertEqual(files, {f"{name}/{file}" for file in ("bundle.json", "before.state", "earlier.state",
                                                               "scene/explicit.yaml")})
        code, seen = self.replay(name)
        self.assertEqual((code, seen["error_then"], seen["error_now"], seen["same"]), (STOPPED, error, error, True))
        self.assertEqual(seen["before"]["forces"][0]["name"], "cord")
        self.assertIn(seen["before"]["body"], ("anchor", "ball"))

    def test_same_bits(self):
        """Whatever is asked: two replays say the same, and from the earlier state the same step fails."""
        name, error = self.broken()
        first, second = (sinew("replay", name, cwd=self.place).stdout for _ in range(2))
        self.assertEqual(first, second)
        self.assertIn("the error comes again", first)
        code, seen = self.replay(name, "--earlier")
        self.assertEqual((code, seen["error_now"]), (STOPPED, error))
        self.assertGreaterEqual(seen["steps"], 10)
        _, before = self.replay(name)
        self.assertEqual(seen["after"], before["before"])  # where it stopped is where the run did

    def test_moved_elsewhere(self):
        """The bundle needs nothing of the place where it was made."""
        name, error = self.broken()
        (self.place / "explicit.yaml").unlink()
        shutil.move(self.place / name, self.place / "far")
        self.assertEqual(self.replay("far")[1]["error_now"], error)

    def test_other_settings(self):
        name, _ = self.broken()
        code, seen = self.replay(name, "--earlier", "--set", "forces.cord.implicit=true", "--steps", 30)
        self.assertEqual((code, seen["steps"], "error_now" in seen), (DONE, 30, False))
        code, seen = self.replay(name, "--earlier", "--step", "1e-4", "--steps", 30)
        self.assertEqual((code, seen["step"]), (DONE, 1e-4))
        self.assertAlmostEqual(seen["after"]["t"], seen["before"]["t"] + 30e-4)
        code, seen = self.replay(name, "--earlier", "--method", "recursive", "--steps", 5)
        self.assertEqual((code, seen["method"]), (DONE, "recursive"))
        code, seen = self.replay(name, "--earlier", "--set", "run.step=2e-4", "--steps", 2)
        self.assertEqual(seen["step"], 2e-4)
        code, seen = self.replay(name, "--earlier", "--integrator", "extrapolated", "--steps", 1)
        self.assertEqual(seen["redmax"]["integrator"], "extrapolated")

    def test_changes_of_the_run(self):
        """--set, --step and --integrator of the run count in the replay."""
        name, error = self.broken("explicit.yaml", "--set", "forces.cord.stiffness=1e7", "--step", "0.02",
                                "--integrator", "rk4")
        self.assertEqual(json.loads((self.place / name / "bundle.json").read_text())["set"],
                         ["forces.cord.stiffness=1e7"])
        code, seen = self.replay(name)
        self.assertEqual((code, seen["error_now"], seen["step"], seen["redmax"]["integrator"]),
                         (STOPPED, error, 0.02, "rk4"))

    def test_from_standard_input(self):
        name, error = self.broken("-", text=None, stdin=EXPLICIT)
        self.assertEqual(name, "stdin.failed")
        self.assertEqual((self.place / name / "scene" / "stdin.yaml").read_text(), EXPLICIT)
        self.assertEqual(self.replay(name)[1]["error_now"], error)

    def test_all_files_are_kept(self):
        """Used scenes, tables and meshes, where they lie."""
        (self.place / "parts" / "data").mkdir(parents=True)
        self.write("parts/data/push.csv", "t,f\n0,0\n1,1\n")
        self.write("parts/data/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        self.write("parts/cart.yaml", "sinew: 1\nbodies:\n  cart:\n    joint: {type: prismatic, axis: [1, 0, 0]}\n"
                   "    shapes: [{type: mesh, file: data/cube.obj, density: 1}]\n"
                   "forces:\n  push: {type: point_force, body: cart, force: [{csv: data/push.csv, column: f}, 0, 0]}\n")
        text = EXPLICIT + "use: [{file: parts/cart.yaml, prefix: a/}, {file: ./parts/cart.yaml, prefix: b/}]\n"
        name, error = self.broken(text=text)
        scene = self.place / name / "scene"
        self.assertEqual({str(path.relative_to(scene)) for path in scene.rglob("*") if path.is_file()},
                         {"explicit.yaml", "parts/cart.yaml", "parts/data/push.csv", "parts/data/cube.obj"})
        shutil.rmtree(self.place / "parts")
        self.assertEqual(self.replay(name)[1]["error_now"], error)

    def test_files_outside(self):
        """Places above the scene keep their relation to it."""
        (self.place / "deep" / "er").mkdir(parents=True)
        self.write("cart.yaml", "sinew: 1\nbodies:\n  cart:\n    joint: {type: prismatic, axis: [1, 0, 0]}\n"
                   "    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}\n")
        self.write("deep/er/explicit.yaml", EXPLICIT + "use: [{file: ../../cart.yaml, prefix: a/}]\n")
        name, error = self.broken("deep/er/explicit.yaml", "--allow-outside")
        self.assertTrue((self.place / name / "scene" / "down" / "down" / "explicit.yaml").exists())
        self.assertTrue((self.place / name / "scene" / "cart.yaml").exists())
        (self.place / "cart.yaml").unlink()
        self.assertEqual(self.replay(name)[1]["error_now"], error)

    def test_nothing_is_overwritten(self):
        names = [self.broken()[0] for _ in range(3)]
        self.assertEqual(names, ["explicit.failed", "explicit.failed-2", "explicit.failed-3"])
        self.assertEqual(len({(self.place / name / "before.state").read_bytes() for name in names}), 1)

    def test_beside_the_recording(self):
        (self.place / "results").mkdir()
        name, error = self.broken("explicit.yaml", "--out", "results/motion.csv")
        self.assertEqual(name, "results/motion.failed")
        self.assertEqual(self.replay(name)[1]["error_now"], error)
        name, _ = self.broken("explicit.yaml", "--out", "results/motion.csv", "--bundle", "mine")
        self.assertEqual(name, "mine")

    def test_none(self):
        self.write("explicit.yaml", EXPLICIT)
        done = sinew("run", "explicit.yaml", "--bundle", "none", cwd=self.place)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (STOPPED, 1))
        self.assertEqual(os.listdir(self.place), ["explicit.yaml"])

    def test_not_converged(self):
        scene = EXPLICIT.replace("implicit: false", "implicit: true").replace("body: world, at: [0, 1, 0]", "body: anchor, at: [0, 1, 0]")
        scene = scene.replace("step: 0.01", "step: 0.01, redmax: {solver: pcg, max_iterations: 1, tolerance: 1e-15, on_unconverged: stop}")
        scene += "initial: {ball: {qd: 1}}\n"
        name, error = self.broken("loose.yaml", text=scene)
        self.assertIn("the linear solver stopped at a residual of", error)
        code, seen = self.replay(name)
        self.assertEqual((code, seen["error_now"]), (STOPPED, error))
        self.assertGreater(seen["residual"], 1e-15)
        code, seen = self.replay(name, "--set", "run.redmax.solver=graph", "--steps", 20)
        self.assertEqual((code, seen["steps"]), (DONE, 20))

    def test_recording_that_is_not_finite(self):
        done = sinew("run", DATA / "stiff.yaml", "--out", "out.csv", cwd=self.place)
        self.assertEqual(done.returncode, STOPPED)
        code, seen = self.replay("out.failed")
        self.assertEqual((code, seen["same"]), (STOPPED, True))

    def test_json_of_the_run(self):
        self.write("explicit.yaml", EXPLICIT)
        done = sinew("run", "explicit.yaml", "--json", cwd=self.place)
        self.assertEqual(json.loads(done.stdout)["bundle"], "explicit.failed")

    def test_good_runs_leave_nothing(self):
        self.write("explicit.yaml", EXPLICIT)
        self.good("run", "explicit.yaml", "--set", "forces.cord.implicit=true", "--duration", "1", cwd=self.place)
        self.assertEqual(os.listdir(self.place), ["explicit.yaml"])


class Trouble(Broken):
    def test_cannot_be_written(self):
        """A warning, and the run ends as it would have."""
        self.write("explicit.yaml", EXPLICIT)
        done = sinew("run", "explicit.yaml", "--bundle", "no/such", cwd=self.place)
        self.assertEqual(done.returncode, STOPPED)
        self.assertEqual(done.stderr.splitlines()[1], "warning: cannot keep the step that failed: cannot make the"
                         " folder 'no/such': No such file or directory")

    def test_changed_meanwhile(self):
        """What was edited while it ran is not what failed."""
        path = self.write("explicit.yaml", EXPLICIT)
        os.utime(path, (4e9, 4e9))
        done = sinew("run", "explicit.yaml", cwd=self.place)
        self.assertIn("warning: cannot keep the step that failed: 'explicit.yaml' has changed since the run began",
                      done.stderr)
        self.bad(BAD_INPUT, "explicit.failed/bundle.json: No such file or directory",
                 "replay", "explicit.failed", cwd=self.place)

    def test_no_bundle(self):
        (self.place / "empty").mkdir()
        done = sinew("replay", "empty", cwd=self.place)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("empty/bundle.json", done.stderr)
        for text in ("{}", "[]", '{"sinew_bundle": 2}', "x"):
            self.write("empty/bundle.json", text)
            self.bad(BAD_INPUT, "'empty' is no bundle that this version knows", "replay", "empty", cwd=self.place)

    def test_damaged(self):
        name, _ = self.broken()
        facts = self.place / name / "bundle.json"
        good = json.loads(facts.read_text())
        for key in ("scene", "method", "step", "version", "error"):
            facts.write_text(json.dumps({k: v for k, v in good.items() if k != key}))
            self.bad(BAD_INPUT, f"'{name}/bundle.json' is damaged", "replay", name, cwd=self.place)
        for scene in ("/etc/passwd", "../explicit.yaml", "scene/../../explicit.yaml"):
            facts.write_text(json.dumps({**good, "scene": scene}))
            self.bad(BAD_INPUT, f"'{name}/bundle.json' is damaged", "replay", name, cwd=self.place)
        facts.write_text(json.dumps(good))
        state = self.place / name / "before.state"
        state.write_bytes(state.read_bytes()[:40])
        done = sinew("replay", name, cwd=self.place)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("before.state", done.stderr)

    def test_refused(self):
        name, _ = self.broken()
        self.bad(BAD_INPUT, "sinew replay: --steps: is 0, needs a whole number from 1 to 1e9",
                 "replay", name, "--steps", "0", cwd=self.place)
        self.bad(BAD_INPUT, "sinew replay: --step: is -1, needs a number > 0", "replay", name, "--step", "-1",
                 cwd=self.place)
        self.bad(BAD_INPUT, "sinew replay: something is missing: sinew replay BUNDLE|RECORDING.snr [OPTION...]", "replay")

    def test_trace(self):
        name, _ = self.broken()
        text = sinew("replay", name, "--earlier", "--trace", cwd=self.place).stdout
        rows = re.findall(r"(?m)^t (\S+) +E (\S+) +'(\w+)' (\S+) m/s", text)
        self.assertGreater(len(rows), 10)
        speeds = [float(row[3]) for row in rows]
        self.assertGreater(speeds[-1], 1e3 * speeds[0])


if __name__ == "__main__":
    unittest.main()
