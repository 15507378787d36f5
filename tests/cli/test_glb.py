"""Animations: `.glb` files have the motion of the recording, number by number."""
import json
import signal
import struct
import subprocess
import time
import unittest

import numpy as np

from command import SCENES, SINEW, Command, sinew
from snr import Recording

ALL = sorted(SCENES.rglob("*.yaml"))
WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
COMPONENT = {5126: "<f4", 5125: "<u4"}


class Glb:
    """glTF 2.0, binary, by its specification."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, version, length, n, kind = struct.unpack_from("<4sIII4s", data)
        assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
        self.json = json.loads(data[20:20 + n])
        self.bytes = b""
        if 20 + n < len(data):
            size, kind = struct.unpack_from("<I4s", data, 20 + n)
            assert kind == b"BIN\0" and 28 + n + size == len(data)
            self.bytes = data[28 + n:]

    def accessor(self, k):
        a = self.json["accessors"][k]
        view = self.json["bufferViews"][a["bufferView"]]
        width = WIDTH[a["type"]]
        x = np.frombuffer(self.bytes, COMPONENT[a["componentType"]], a["count"] * width,
                          view["byteOffset"] + a["byteOffset"])
        return x if width == 1 else x.reshape(-1, width)

    def tracks(self):
        """{node: {path: (times, values)}}"""
        found = {}
        for animation in self.json.get("animations", []):
            for channel in animation["channels"]:
                s = animation["samplers"][channel["sampler"]]
                values = self.accessor(s["input"]), self.accessor(s["output"])
                found.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = values
        return found


def rotate(q, v):
    """Unit quaternions x, y, z, w."""
    q = np.asarray(q, dtype=float)
    u, w = q[..., :3], q[..., 3:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)


class Animation(Command):
    def make(self, scene, *more, duration="0.2"):
        snr, glb = self.place / "a.snr", self.place / "a.glb"
        self.good("run", scene, "--set", f"run.duration={duration}", "--quiet", "--out", snr, *more)
        self.good("convert", snr, glb, "--quiet")
        return Recording(snr), Glb(glb)

    def test_motion_is_that_of_the_recording(self):
        for scene in ALL:
            with self.subTest(scene=scene.name):
                r, g = self.make(scene)
                nodes, tracks = g.json["nodes"], g.tracks()
                for b, name in enumerate(r.bodies):
                    self.assertEqual(nodes[b + 1]["name"], name)
                    t, x = tracks[b + 1]["translation"]
                    np.testing.assert_array_equal(t, np.array(r.t, dtype=np.float32) - np.float32(r.t[0]))
                    np.testing.assert_array_equal(x, r.pose[:, b, :3])
                    q = tracks[b + 1]["rotation"][1]
                    np.testing.assert_allclose(np.abs((q * r.pose[:, b, 3:]).sum(axis=1)), 1, atol=1e-6)
                    self.assertTrue(((q[1:] * q[:-1]).sum(axis=1) >= 0).all(), "a turn the long way round")

    def test_bodies_without_shapes_are_seen(self):
        """A ball at the centre of mass, and bones from the joint to it and to what hangs on it."""
        scene = self.write("bare.yaml", """
sinew: 1
bodies:
  a: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.4, 0, 0], xx: 1, yy: 1, zz: 1}}
  b: {parent: a, joint: {type: revolute, at: [0, 0, 1], axis: [0, 1, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}
  c: {parent: b, joint: {type: revolute, at: [0, 0, 1], axis: [0, 1, 0]}, shapes: [{type: box, size: [1, 1, 1], density: 1}]}
run: {duration: 0.1}
""")
        _, g = self.make(scene)
        boxes = []
        for node in g.json["nodes"][1:4]:
            primitives = [g.accessor(p["attributes"]["POSITION"]) for p in g.json["meshes"][node["mesh"]]["primitives"]]
            boxes.append([(x.min(axis=0), x.max(axis=0)) for x in primitives])
        (ball, arm, up), (other, bone), cube = boxes
        radius = (ball[1] - ball[0])[0] / 2
        self.assertTrue(0.005 < radius < 0.1, radius)
        np.testing.assert_allclose((ball[0] + ball[1]) / 2, [0.4, 0, 0], atol=1e-6)
        np.testing.assert_allclose((other[0] + other[1]) / 2, 0, atol=1e-6)
        for (low, high), along in (arm, [0.4, 0, 0]), (up, [0, 0, 1]), (bone, [0, 0, 1]):
            np.testing.assert_allclose((low + high) / 2, np.array(along) / 2, atol=1e-6)
            self.assertTrue((high - low >= along).all() and (high - low <= np.array(along) + 2 * radius).all())
        np.testing.assert_allclose(cube, [([-0.5] * 3, [0.5] * 3)], atol=1e-6)

    def test_lines_reach_from_end_to_end(self):
        checked = 0
        for scene in ALL:
            if "forces" not in scene.read_text():
                continue
            r, g = self.make(scene)
            node, tracks = len(r.bodies) + 1, g.tracks()
            for k, line in enumerate(r.header["lines"]):
                x = [np.tile(p["at"], (len(r.t), 1)) if p["body"] < 0 else
                     r.pose[:, p["body"], :3] + rotate(r.pose[:, p["body"], 3:], np.array(p["at"]))
                     for p in line["points"]]
                acts = ~np.isnan(r.tension[:, k])
                for a, b in zip(x, x[1:]):
                    middle, turn, size = (tracks[node][p][1].astype(float) for p in ("translation", "rotation", "scale"))
                    half = rotate(turn, 0.5 * size * [0, 1, 0])
                    scale = max(1, np.abs(a).max(), np.abs(b).max())
                    np.testing.assert_allclose((middle - half)[acts], a[acts], atol=2e-6 * scale)
                    np.testing.assert_allclose((middle + half)[acts], b[acts], atol=2e-6 * scale)
                    self.assertTrue((size[~acts] == 0).all())
                    self.assertEqual(g.json["nodes"][node]["name"], line["name"])
                    node += 1
                    checked += 1
            self.assertEqual(node, len(g.json["nodes"]))
        self.assertGreater(checked, 20)

    def test_metres_and_y_up(self):
        scene = self.write("a.yaml", """sinew: 1
units: mm g s
gravity: [0, 0, -9810]
bodies:
  a:
    joint: {type: free}
    shapes: [{type: box, size: [20, 30, 40], density: 1e-3, color: [1, 0.5, 0]}]
  b:
    joint: {type: free, at: [100, 0, 0]}
    shapes: [{type: box, size: [20, 30, 40], density: 1e-3, color: [1, 0.5, 0]}]
  c:
    joint: {type: free, at: [200, 0, 0]}
    shapes: [{type: box, size: [20, 30, 40], density: 1e-3}]
""")
        _, g = self.make(scene)
        root = g.json["nodes"][0]
        np.testing.assert_allclose(rotate(root["rotation"], np.array([0, 0, 1.0])), [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(rotate(root["rotation"], np.array([1.0, 0, 0])), [1, 0, 0], atol=1e-12)
        self.assertEqual(root["scale"], [1e-3] * 3)
        self.assertEqual([n["mesh"] for n in g.json["nodes"][1:]], [0, 0, 1], "the same shapes, the same mesh")
        box = g.json["accessors"][g.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
        self.assertEqual((box["min"], box["max"]), ([-10, -15, -20], [10, 15, 20]))
        color = g.json["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"]
        np.testing.assert_allclose(color, [1, 0.214041, 0, 1], atol=1e-6)
        scene.write_text(scene.read_text().replace("mm g s", "m kg s\nup: y").replace("0, -9810", "-9.81, 0"))
        root = self.make(scene)[1].json["nodes"][0]
        self.assertEqual(set(root), {"name", "children"})

    def test_run_writes_it_directly(self):
        _, _ = self.make(SCENES / "demo.yaml")
        direct = self.place / "direct.glb"
        self.good("run", SCENES / "demo.yaml", "--set", "run.duration=0.2", "--quiet", "--out", direct)
        self.assertEqual(direct.read_bytes(), (self.place / "a.glb").read_bytes())
        self.assertEqual(sorted(p.name for p in self.place.iterdir()), ["a.glb", "a.snr", "direct.glb"])

    def test_killed_run_leaves_the_recording(self):
        run = subprocess.Popen([SINEW, "run", str(SCENES / "pendulum.yaml"), "--duration", "1e6", "--every", "0",
                                "--out", str(self.place / "a.glb"), "--quiet"])
        while not any(p.stat().st_size > 100000 for p in self.place.iterdir()):
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        left, = self.place.iterdir()
        self.assertEqual(left.suffix, ".snr")
        self.assertEqual(sinew("convert", left, self.place / "b.glb").returncode, 0)
        self.assertGreater(len(Glb(self.place / "b.glb").accessor(-1)), 100)

    def test_times_increase(self):
        """Frames whose times float32 cannot tell apart are left out."""
        r, _ = self.make(SCENES / "pendulum.yaml")
        data = bytearray((self.place / "a.snr").read_bytes())
        at = 8 + struct.unpack_from("<I", data, 4)[0]
        times = [100, 101, 101 + 1e-9, 101 + 2e-9, 102]
        for t in times:
            self.assertEqual(data[at:at + 4], b"FRAM")
            struct.pack_into("<d", data, at + 8, t)
            at += 8 + struct.unpack_from("<I", data, at + 4)[0]
        (self.place / "b.snr").write_bytes(data[:at])
        self.assertEqual(sinew("convert", self.place / "b.snr", self.place / "b.glb").returncode, 0)
        t, x = Glb(self.place / "b.glb").tracks()[1]["translation"]
        self.assertEqual(list(t), [0, 1, 2])
        np.testing.assert_array_equal(x, r.pose[[0, 1, 4], 0, :3])


if __name__ == "__main__":
    unittest.main()
