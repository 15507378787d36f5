"""--save and --load: a run of 2N equals two of N, bit for bit."""
import unittest

from command import BAD_INPUT, DATA, SCENES, Command, sinew


class Resume(Command):
    def two_ways(self, scene, half, *arguments):
        """Rows and last state of one long run, and of two short ones."""
        place = self.place
        common = ["run", scene, "--quiet", *arguments]
        self.good(*common, "--duration", 2 * half, "--out", place / "whole.csv", "--save", place / "whole")
        self.good(*common, "--duration", half, "--out", place / "first.csv", "--save", place / "middle")
        self.good(*common, "--duration", half, "--out", place / "second.csv", "--load", place / "middle",
                  "--save", place / "end")
        first, second = ((place / name).read_bytes().splitlines() for name in ("first.csv", "second.csv"))
        self.assertEqual(first[-1], second[1], "the second run starts where the first ended")
        return ((place / "whole.csv").read_bytes().splitlines(), (place / "whole").read_bytes(),
                first + second[2:], (place / "end").read_bytes())

    def test_bit_for_bit(self):
        """With springs, drives, functions of time that break, ball joints that change coordinates."""
        scenes = [(SCENES / "pendulum.yaml", 1.5, 0.01), (SCENES / "robot_arm.yaml", 0.5, 0.001),
                  (SCENES / "gyroscope.yaml", 0.5, 0.001), (SCENES / "demo.yaml", 0.1, 0.0005),
                  (DATA / "known_torques.yaml", 1, 0.002), (DATA / "tumbling.yaml", 1, 0.002)]
        for scene, half, step in scenes:
            for arguments in (["--integrator", "dopri5"], ["--integrator", "rk4", "--step", step]):
                with self.subTest(scene=scene.name, integrator=arguments):
                    rows, state, rows2, state2 = self.two_ways(scene, half, *arguments)
                    self.assertGreater(len(rows), 5)
                    self.assertEqual(rows, rows2)
                    self.assertEqual(state, state2)

    def test_in_many_parts(self):
        scene, place = SCENES / "gyroscope.yaml", self.place
        self.good("run", scene, "--quiet", "--duration", "0.5", "--save", place / "whole")
        self.good("run", scene, "--quiet", "--duration", "0.1", "--save", place / "part")
        for _ in range(4):
            self.good("run", scene, "--quiet", "--duration", "0.1", "--load", place / "part", "--save", place / "part")
        self.assertEqual((place / "whole").read_bytes(), (place / "part").read_bytes())

    def test_tuning_does_not_change_the_model(self):
        """Numbers may change between the two runs; bodies and joints may not."""
        scene, state = SCENES / "pendulum.yaml", self.place / "state"
        self.good("run", scene, "--quiet", "--duration", "1", "--save", state)
        self.good("run", scene, "--quiet", "--duration", "1", "--load", state, "--set", "gravity=[0, 0, -1.62]",
                  "--set", "bodies.rod.joint.damping=0.1", "--integrator", "rk4", "--step", "0.001")


class Refused(Command):
    def setUp(self):
        super().setUp()
        self.state = self.place / "state"
        self.good("run", SCENES / "pendulum.yaml", "--quiet", "--duration", "0.1", "--save", self.state)

    def test_other_model(self):
        self.bad(BAD_INPUT, f"'{self.state}' was saved from another model (its bodies, joints or constraints differ): load it with"
                 " the scene that it came from", "run", SCENES / "double_pendulum.yaml", "--load", self.state)

    def test_damaged(self):
        data = bytearray(self.state.read_bytes())
        data[100] ^= 1
        self.state.write_bytes(data)
        self.bad(BAD_INPUT, f"'{self.state}' is damaged: save it again",
                 "run", SCENES / "pendulum.yaml", "--load", self.state)

    def test_other_version(self):
        """States of an older version may be shorter or longer: those with contacts have become longer."""
        data = bytearray(self.state.read_bytes())
        for more in (-8, 8):
            size = len(data) - 8 + more  # all but the hash at the end
            self.state.write_bytes(data[:8] + size.to_bytes(8, "little") + data[16:])
            self.bad(BAD_INPUT, f"'{self.state}' was saved by another version of Sinew, whose states have {size} bytes and"
                     f" not {len(data) - 8}: run from the start once more",
                     "run", SCENES / "pendulum.yaml", "--load", self.state)

    def test_cut_off(self):
        data = self.state.read_bytes()
        for n, message in ((0, "this is not a state file of Sinew"), (50, "this is not a state file of Sinew"),
                           (len(data) - 1, None)):
            self.state.write_bytes(data[:n])
            done = sinew("run", SCENES / "pendulum.yaml", "--load", self.state)
            self.assertEqual(done.returncode, BAD_INPUT)
            expected = f"'{self.state}': {message}" if message else f"'{self.state}' is damaged: save it again"
            self.assertEqual(done.stderr, expected + "\n")

    def test_something_else(self):
        self.bad(BAD_INPUT, f"'{SCENES / 'demo.yaml'}': this is not a state file of Sinew",
                 "run", SCENES / "pendulum.yaml", "--load", SCENES / "demo.yaml")


if __name__ == "__main__":
    unittest.main()
