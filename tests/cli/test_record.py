"""Recordings: `sinew run --out x.snr` and what `sinew convert` makes of them."""
import base64
import json
import re
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

from command import BAD_INPUT, DATA, PATIENCE, SCENES, SINEW, STOPPED, Command, memory_of, sinew
from snr import Recording

ALL = sorted(p for p in SCENES.rglob("*.yaml"))
SHORT = ["--set", "run.duration=0.2", "--quiet"]


def quaternion_matrix(q):
    x, y, z, w = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


class Record(Command):
    def test_table_from_recording_equals_table_of_the_run(self):
        for scene in ALL:
            with self.subTest(scene=scene.name):
                snr, csv, made = (self.place / f"a.{s}" for s in ("snr", "csv", "made.csv"))
                self.good("run", scene, *SHORT, "--out", snr)
                self.good("run", scene, *SHORT, "--out", csv)
                self.good("convert", snr, made, "--quiet")
                self.assertEqual(csv.read_bytes(), made.read_bytes())

    def test_table_has_every_digit(self):
        snr, made = self.place / "a.snr", self.place / "a.csv"
        self.good("run", SCENES / "double_pendulum.yaml", *SHORT, "--out", snr)
        self.good("convert", snr, made, "--quiet")
        head, *rows = made.read_text().splitlines()
        r = Recording(snr)
        self.assertEqual(head.split(","), r.channels)
        np.testing.assert_array_equal([[float(x) for x in row.split(",")] for row in rows], r.channel)

    def test_poses_and_tensions_are_those_of_the_channels(self):
        scene = SCENES / "redmax" / "bridge.yaml"
        scene = scene if scene.exists() else next(p for p in ALL if "forces" in p.read_text())
        snr = self.place / "a.snr"
        self.good("run", scene, *SHORT, "--out", snr, "--channels", "*.pos.*,*.quat.*,*.tension")
        r = Recording(snr)
        column = {name: r.channel[:, k] for k, name in enumerate(r.channels)}
        self.assertGreater(len(r.header["lines"]), 0)
        for b, name in enumerate(r.bodies):
            want = [column[f"{name}.{c}"] for c in ("pos.x", "pos.y", "pos.z", "quat.x", "quat.y", "quat.z", "quat.w")]
            np.testing.assert_array_equal(r.pose[:, b], np.array(want, dtype=np.float32).T)
        for k, line in enumerate(r.header["lines"]):
            np.testing.assert_array_equal(r.tension[:, k], column[f"{line['name']}.tension"].astype(np.float32))
        self.assertEqual(r.end, (len(r.t), r.t[-1], 0))
        self.assertEqual(r.header["scene"], scene.name)

    def test_what_does_not_hold_is_told(self):
        """Loops first, then constraints; and pictures leave it out."""
        text = ("sinew: 1\ndefaults: {body: {inertia: {mass: 1, xx: 1, yy: 1, zz: 1}, shapes: [{type: sphere, radius: 0.1}]}}\n"
                "bodies: {a: {parent: world, joint: {type: free}}, b: {parent: a, joint: {type: spherical, at: [1, 0, 0]}}}\n"
                "loops: {early: {type: spherical, a: {body: world}, b: {body: a}, active: t < 0.1}}\n"
                "constraints: {late: {type: distance, a: {body: world}, b: {body: b}, length: 1, active: t > 0.2}}\n"
                "run: {method: redmax, step: 0.01, duration: 0.3}\n")
        snr = self.place / "off.snr"
        self.good("run", "-", "--quiet", "--every", 0.05, "--out", snr, stdin=text)
        told = [[arrow[0] for arrow in frame if arrow[1] == 3] for frame in Recording(snr).arrows]
        self.assertEqual(told, [[1], [1], [0, 1], [0, 1], [0, 1], [0], [0]])
        pictures = {}
        for moment in 0.15, 0.3:
            for layers in "bodies", "bodies,loops":
                picture = self.place / "off.png"
                self.good("render", snr, "-o", picture, "--time", moment, "--show", layers, "--size", "200x150", "--zoom", 0.5, "--quiet")
                pictures[moment, layers] = picture.read_bytes()
        self.assertEqual(pictures[0.15, "bodies"], pictures[0.15, "bodies,loops"])
        self.assertNotEqual(pictures[0.3, "bodies"], pictures[0.3, "bodies,loops"])

    def test_points_of_lines_are_where_lengths_say(self):
        """Points of the header carried by the poses give the lengths that the run computed."""
        for scene in ALL:
            if "forces" not in scene.read_text():
                continue
            snr = self.place / "a.snr"
            if sinew("run", scene, *SHORT, "--out", snr, "--channels", "*.length").returncode:
                continue  # no springs in it
            r = Recording(snr)
            size = np.abs(r.pose[:, :, :3]).max()
            for line in r.header["lines"]:
                x = []
                for p in line["points"]:
                    at = np.array(p["at"])
                    pose = r.pose[:, p["body"]].astype(float)
                    x.append(np.tile(at, (len(r.t), 1)) if p["body"] < 0 else
                             pose[:, :3] + np.einsum("ijk,j->ki", quaternion_matrix(pose[:, 3:]), at))
                length = sum(np.linalg.norm(b - a, axis=1) for a, b in zip(x, x[1:]))
                want = r.channel[:, r.channels.index(line["name"] + ".length")]
                np.testing.assert_allclose(length, want, atol=2e-6 * max(1, size), err_msg=f"{scene} {line['name']}")

    def test_bodies_start_where_header_and_joint_say(self):
        """With every coordinate 0 a body is at its parent's pose times `at`."""
        snr = self.place / "a.snr"
        self.good("run", SCENES / "humanoid.yaml", "--duration", "0", "--quiet", "--out", snr, "--set", "initial={}")
        r = Recording(snr)
        pose = r.pose[0].astype(float)
        for b, body in enumerate(r.header["bodies"]):
            p = body["parent"]
            at = np.array(body["joint"]["at"])
            E = quaternion_matrix(pose[p, 3:]) if p >= 0 else np.eye(3)
            origin = pose[p, :3] if p >= 0 else np.zeros(3)
            np.testing.assert_allclose(pose[b, :3], origin + E @ at[:3], atol=1e-6, err_msg=body["name"])
            np.testing.assert_allclose(quaternion_matrix(pose[b, 3:]), E @ quaternion_matrix(at[3:]), atol=1e-6)

    def test_bodies_without_shapes_tell_their_centre_of_mass(self):
        snr = self.place / "a.snr"
        self.good("run", SCENES / "redmax" / "gears.yaml", *SHORT, "--out", snr)
        bodies = {body["name"]: body for body in Recording(snr).header["bodies"]}
        self.assertEqual(bodies["upper_gear"]["com"], [0.0008380921315367408, -0.25550476377738784, 0.0009139575590578522])
        self.assertNotIn("com", bodies["upper_shaft"])

    def test_killed_run_leaves_whole_frames(self):
        snr, made = self.place / "a.snr", self.place / "a.csv"
        arguments = ["run", SCENES / "pendulum.yaml", "--duration", "1e6", "--every", "0", "--step", "0.001", "--out"]
        run = subprocess.Popen([SINEW, *map(str, arguments), str(snr), "--quiet"])
        self.wait_for(lambda: snr.exists() and snr.stat().st_size > 200000)
        run.send_signal(signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGKILL)
        r = Recording(snr)
        self.assertGreater(len(r.t), 100)
        self.assertEqual((r.end, r.rest), (None, 0))
        done = sinew("convert", snr, made)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, f"warning: '{snr}' has no end: the run was cut short; {len(r.t)} frames, "
                                      f"up to t = {r.t[-1]:g}, are good\n")
        rows = made.read_text().splitlines()
        self.assertEqual(len(rows), len(r.t) + 1)

    def wait_for(self, what):
        for _ in range(100 * PATIENCE):
            if what():
                return
            time.sleep(0.01)
        self.fail("waited too long")

    def test_cut_inside_a_frame(self):
        snr, made = self.place / "a.snr", self.place / "a.csv"
        self.good("run", SCENES / "pendulum.yaml", *SHORT, "--out", snr)
        whole = Recording(snr)
        snr.write_bytes(snr.read_bytes()[:-100])
        done = sinew("convert", snr, made, "--json")
        frames = json.loads(done.stdout)
        self.assertEqual((frames["frames"], frames["complete"]), (len(whole.t) - 1, False))
        self.assertIn("is damaged or cut short at byte", done.stderr)

    def test_memory_does_not_grow_with_the_run(self):
        """A recording grows tenfold, the memory of the run that writes it does not."""
        snr, taken = self.place / "a.snr", []
        run = subprocess.Popen([SINEW, "run", SCENES / "double_pendulum.yaml", "--duration", "1e6", "--every", "0.001",
                                "--out", snr, "--quiet"])
        self.addCleanup(run.kill)
        for size in (2 << 20, 20 << 20):
            self.wait_for(lambda: snr.exists() and snr.stat().st_size > size)
            taken.append(memory_of(run))
        run.kill()
        self.assertEqual(run.wait(), -signal.SIGKILL)
        self.assertLess(taken[1], taken[0] + 512, "kilobytes")

    def test_failed_run_says_why(self):
        snr = self.place / "a.snr"
        done = sinew("run", DATA / "stiff.yaml", "--out", snr, "--quiet", "--bundle", "none")
        self.assertEqual(done.returncode, STOPPED)
        r = Recording(snr)
        self.assertEqual(r.end[2], 2)
        self.assertEqual([n["level"] for n in r.notes], ["error"])
        self.assertTrue(r.notes[0]["path"].startswith("bodies."), r.notes)
        self.assertIn(r.notes[0]["text"], done.stderr)

    def test_replay_tells_a_recording(self):
        snr = self.place / "a.snr"
        done = sinew("run", DATA / "stiff.yaml", "--out", snr, "--quiet", "--bundle", "none")
        told = sinew("replay", snr)
        self.assertEqual((told.returncode, told.stderr), (STOPPED, ""))
        self.assertIn(f"  error       {done.stderr.splitlines()[0]}\n", told.stdout)
        self.assertIn("  the run     failed\n", told.stdout)
        r = Recording(snr)
        self.assertIn(f"  frames      {len(r.t)} of {len(r.bodies)} bodies and {len(r.channels)} channels", told.stdout)
        lines = sinew("replay", snr, "--trace").stdout.splitlines()
        self.assertEqual(sum(line.startswith("t ") for line in lines), len(r.t))
        k = len(r.t) // 2
        _, t, _, E, body, speed, _ = lines[k].split()
        self.assertAlmostEqual(float(t), r.t[k], delta=1e-5 * r.t[k])
        self.assertAlmostEqual(float(E) / r.channel[k, r.channels.index("E")], 1, delta=1e-6)
        step = np.linalg.norm(r.pose[k, :, :3].astype(float) - r.pose[k - 1, :, :3], axis=1) / (r.t[k] - r.t[k - 1])
        self.assertEqual(body, f"'{r.bodies[int(np.argmax(step))]}'")
        self.assertAlmostEqual(float(speed) / step.max(), 1, delta=1e-3)
        self.bad(BAD_INPUT, "sinew replay: a recording is only told: of the options, --trace alone is for it",
                 "replay", snr, "--step", "0.1")

    def test_full_disk(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        snr = self.place / "a.snr"
        done = subprocess.run([SINEW, "run", str(SCENES / "pendulum.yaml"), "--quiet", "--out", str(snr)],
                              preexec_fn=small, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (BAD_INPUT, f"cannot write '{snr}': File too large\n"))

    @unittest.skipIf(h5py is None, "there is no h5py")
    def test_hdf5(self):
        snr, h5 = self.place / "a.snr", self.place / "a.h5"
        scene = next(p for p in ALL if "forces" in p.read_text())
        self.good("run", scene, *SHORT, "--out", snr)
        done = sinew("convert", snr, h5, "--quiet")
        if "built without HDF5" in done.stderr:
            self.skipTest("built without HDF5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        r = Recording(snr)
        with h5py.File(h5, "r") as f:
            self.assertEqual(json.loads(f.attrs["header"]), r.header)
            self.assertEqual([x.decode() for x in f["channel_names"]], r.channels)
            self.assertEqual([x.decode() for x in f["body_names"]], r.bodies)
            np.testing.assert_array_equal(f["t"], r.t)
            np.testing.assert_array_equal(f["channels"], r.channel)
            np.testing.assert_array_equal(f["poses"], r.pose)
            np.testing.assert_array_equal(f["tensions"], r.tension)
        self.assertEqual(sinew("convert", snr, self.place / "none" / "a.h5").returncode, BAD_INPUT)
        self.good("run", SCENES / "pendulum.yaml", *SHORT, "--out", h5)

    def test_page_has_the_recording_in_it(self):
        snr, html = self.place / "a.snr", self.place / "a.html"
        self.good("run", SCENES / "double_pendulum.yaml", *SHORT, "--out", snr)
        done = sinew("convert", snr, html, "--quiet")
        if "built without the viewer's page" in done.stderr:
            self.skipTest("built without the viewer's page")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = html.read_text(encoding="utf-8")
        inside = re.findall('<script type="application/x-sinew-recording" id="recording">([^<]*)</script>', text)
        self.assertEqual([base64.b64decode(x, validate=True) for x in inside], [snr.read_bytes()])
        direct = self.place / "direct.html"
        self.good("run", SCENES / "double_pendulum.yaml", *SHORT, "--out", direct)
        self.assertEqual(direct.read_bytes(), html.read_bytes())

    def test_refused(self):
        text = self.write("text.snr", "t,E\n0,1\n")
        self.bad(BAD_INPUT, f"'{text}' is no recording: it does not begin with SNR1", "convert", text, self.place / "a.csv")
        snr = self.place / "a.snr"
        self.good("run", SCENES / "pendulum.yaml", *SHORT, "--out", snr)
        done = sinew("convert", snr, self.place / "a.xyz")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("has no suffix that says what to make; known: .csv", done.stderr)
        self.assertEqual(sinew("convert", self.place / "none.snr", self.place / "a.csv").returncode, BAD_INPUT)
        newer = snr.read_bytes().replace(b'"version":1', b'"version":2')
        (self.place / "b.snr").write_bytes(newer)
        self.bad(BAD_INPUT, f"'{self.place / 'b.snr'}' has version 2 of the format, needs 1", "convert",
                 self.place / "b.snr", self.place / "a.csv")


if __name__ == "__main__":
    unittest.main()
