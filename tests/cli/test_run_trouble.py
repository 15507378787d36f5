"""sinew run when steps are not what they should be: solves that do not converge, motions that blow up."""
import json
import re
import unittest

from command import BAD_INPUT, DONE, SCENES, STOPPED, Command, sinew

# pcg, asked for more than it can give in three iterations
UNCONVERGED = ["--set", "run.redmax.solver=pcg", "--set", "run.redmax.max_iterations=3",
               "--set", "run.redmax.tolerance=1e-14", "--duration", "0.5", "--bundle", "bad"]

EXPLICIT = """
sinew: 1
bodies:
  arm: {joint: {type: spherical}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]}
  fore:
    parent: arm
    joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0]}
    shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]
forces:
  cord: {type: spring, implicit: false, stiffness: 1e7, a: {body: world, at: [1, 1, 1]}, b: {body: fore, at: [1, 0, 0]}}
  soft: {type: spring, implicit: false, stiffness: 10, a: {body: world, at: [1, 1, 1]}, b: {body: fore, at: [1, 0, 0]}}
run: {method: redmax, step: 0.01, duration: 5}
"""


class Unconverged(Command):
    def run_net(self, what, *arguments):
        return sinew("run", SCENES / "redmax" / "net.yaml", "--set", f"run.redmax.on_unconverged={what}",
                     *UNCONVERGED, *arguments, cwd=self.place)

    def test_accepted(self):
        """The run goes on, and says how many steps were taken so and how bad they were."""
        done = self.run_net("accept")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertRegex(done.stdout, r"(?m)^  unconverged (4\d|50) steps accepted with a residual up to \S+$")
        seen = json.loads(self.run_net("accept", "--json").stdout)
        self.assertEqual((seen["status"], seen["steps"], seen["errors"]), ("done", 50, []))
        self.assertGreater(seen["solver"]["unconverged"], 40)
        self.assertGreater(seen["solver"]["residual_accepted"], 1e-3)

    def test_nothing_to_accept(self):
        text = self.good("run", SCENES / "redmax" / "net.yaml", "--duration", "0.1",
                         "--set", "run.redmax.on_unconverged=accept")
        self.assertNotIn("accepted", text)

    def test_stopped(self):
        done = self.run_net("stop")
        self.assertEqual(done.returncode, STOPPED)
        self.assertRegex(done.stderr, r"^at t = \S+: the linear solver stopped at a residual of \S+ after \d+ iterations: take solver graph,"
                         r" a smaller step, or allow more with max_iterations\n")

    def test_replayed(self):
        self.run_net("stop")
        done = sinew("replay", "bad", "--set", "run.redmax.on_unconverged=accept", cwd=self.place)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertRegex(done.stdout, r"(?m)^  unconverged 1 accepted$")
        seen = json.loads(sinew("replay", "bad", "--set", "run.redmax.on_unconverged=accept", "--steps", 3, "--json",
                                cwd=self.place).stdout)
        self.assertEqual((seen["steps"], seen["unconverged"]), (3, 3))

    def test_nameless_bundle(self):
        self.bad(BAD_INPUT, "sinew replay: the name of the bundle is empty: needs the folder that a failed run left",
                 "replay", "")


class BlownUp(Command):
    def warning(self, *arguments, text=EXPLICIT):
        done = sinew("run", "-", *arguments, stdin=text)
        self.assertEqual(done.returncode, DONE)
        return done.stderr

    def test_explicit_spring(self):
        text = self.warning()
        self.assertRegex(text, r"^warning: the energy rose by \S+, which nothing explains: the motion has probably blown "
                               r"up: the explicit force 'cord' has k h\^2/m = 3\d\d, stable below 4; take a smaller "
                               r"step, or say implicit: true\n$")
        self.assertEqual(self.warning("--quiet"), "")

    def test_effective_mass(self):
        """A slider of 2 kg on a spring: k h^2/m is known."""
        scene = """
sinew: 1
bodies: {s: {joint: {type: prismatic, axis: [1, 0, 0]}, inertia: {mass: 2, xx: 1, yy: 1, zz: 1}}}
forces: {f: {type: spring, implicit: false, stiffness: 1e5, rest_length: 1.9, a: {body: world, at: [2, 0, 0]}, b: {body: s}}}
run: {method: redmax, step: 0.01, duration: 0.2}
"""
        self.assertIn("'f' has k h^2/m = 5, stable below 4", self.warning(text=scene))
        self.assertEqual(self.warning("--set", "forces.f.stiffness=7e4", text=scene), "")  # 3.5: stable
        damped = self.warning("--set", "forces.f.stiffness=1", "--set", "forces.f.damping=600", text=scene)
        self.assertIn("'f' has d h/m = 3, stable below 2", damped)

    def test_json(self):
        seen = json.loads(sinew("run", "-", "--json", stdin=EXPLICIT).stdout)
        self.assertEqual(seen["status"], "done")
        self.assertEqual(len(seen["warnings"]), 1)
        self.assertRegex(seen["warnings"][0]["text"], "^the energy rose by")

    def test_fixed_steps(self):
        """rk4 knows no implicit forces."""
        text = self.warning("--method", "recursive", "--integrator", "rk4", "--duration", "0.05",
                            "--set", "forces.cord.implicit=true", "--set", "forces.cord.stiffness=6e5")
        self.assertRegex(text, r"'cord' has k h\^2/m = \S+, stable below 8; take a smaller step, or the method redmax "
                               r"with its implicit integrators\n$")

    def test_before_it_stopped(self):
        """A hoop whose springs rk4 cannot follow tears in the second step: that is no matter of the loop."""
        hoop = self.good("make", "ring", "--count", 30)
        done = sinew("run", "-", "--integrator", "rk4", "--bundle", "none", stdin=hoop)
        self.assertEqual(done.returncode, STOPPED)
        self.assertRegex(done.stderr, r"'closing' cannot close[^\n]*\nwarning: the energy rose by \S+, which nothing explains: "
                                      r"the motion has probably blown up; take a smaller step, or")

    def test_driven(self):
        """What is driven may have any energy: without a stiff explicit force there is no warning."""
        driven = EXPLICIT.replace("implicit: false, stiffness: 1e7", "implicit: true, stiffness: 1") + """
motions: {spin: {joint: fore, q: 1000*t^2}}
"""
        self.assertEqual(self.warning(text=driven), "")

    def test_sound(self):
        """Implicit, or in small steps, all is well."""
        self.assertEqual(self.warning("--set", "forces.cord.implicit=true"), "")
        self.assertEqual(self.warning("--step", "0.0005"), "")
        for scene in ("deck", "tensegrity", "arm", "bridge"):
            done = sinew("run", SCENES / "redmax" / f"{scene}.yaml", "--duration", "1")
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))


class Help(Command):
    def test_integrators(self):
        text = re.sub(r"\s+", " ", self.good("run", "--help"))
        for name in ("euler", "extrapolated", "dopri5", "rk4"):
            self.assertRegex(text, rf"--integrator I .*\b{name}\b.* --duration")


if __name__ == "__main__":
    unittest.main()
