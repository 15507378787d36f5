"""`sinew render`: the picture shows bodies where camera and motion put them, films have as many pictures as they should."""
import math
import os
import shutil
import struct
import subprocess
import unittest
import zlib

from command import BAD_INPUT, DONE, SCENES, SINEW, Command, sinew

BALL = """
sinew: 1
up: {up}
gravity: {gravity}
bodies:
  ball:
    parent: world
    joint: {{type: translation3}}
    shapes: [{{type: sphere, radius: 0.1, density: 1000, color: [1, 0, 0]}}]
  post:
    parent: world
    joint: {{type: fixed}}
    shapes: [{{type: box, size: [1, 1, 1], at: {at}, color: [0.2, 0.2, 1]}}]
initial:
  ball: {{q: {start}}}
run: {{duration: 0.2, record: {{every: 0.1}}}}
"""


def read_png(path):
    """(width, height, rows of bytes), with every filter that this program writes undone."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, pixels, size = 8, b"", None
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0], kind
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", body)
        if kind == b"IDAT":
            pixels += body
        at += 12 + n
    assert kind == b"IEND" and size[2:] == (8, 2, 0, 0, 0)
    width, height = size[:2]
    raw, rows, above = zlib.decompress(pixels), [], bytes(3 * width)
    for y in range(height):
        line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        assert line[0] == 2
        above = bytes((a + b) & 255 for a, b in zip(line[1:], above))
        rows.append(above)
    return width, height, rows


def centre_of(rows, is_it):
    """Mean place of the pixels that are of a kind."""
    found = [(x + 0.5, y + 0.5) for y, row in enumerate(rows) for x in range(len(row) // 3)
             if is_it(*row[3 * x:3 * x + 3])]
    assert found, "there is no such pixel"
    return sum(x for x, _ in found) / len(found), sum(y for _, y in found) / len(found)


def project(p, low, high, width, height, azimuth, elevation):
    """Where docs/pictures.md puts a point: y up; low, high: the box of all that is shown."""
    a, e = math.radians(azimuth), math.radians(elevation)
    back = (math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e))
    right = (math.cos(a), 0, -math.sin(a))
    up = (back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
          back[0] * right[1] - back[1] * right[0])
    dot = lambda u, v: sum(x * y for x, y in zip(u, v))
    middle = [(x + y) / 2 for x, y in zip(low, high)]
    tangent = math.tan(math.radians(35) / 2)
    distance = 0
    for k in range(8):
        corner = [(high if k >> i & 1 else low)[i] - middle[i] for i in range(3)]
        across = abs(dot(corner, right)) / (tangent * width / height)
        down = abs(dot(corner, up)) / tangent
        distance = max(distance, 1.1 * max(across, down) + dot(corner, back))
    d = [x - m for x, m in zip(p, middle)]
    depth = distance - dot(d, back)
    focal = 0.5 * height / tangent
    return width / 2 + focal * dot(d, right) / depth, height / 2 - focal * dot(d, up) / depth


def is_red(r, g, b):
    return r > 100 and g < 0.4 * r and b < 0.4 * r


class Render(Command):
    def draw(self, scene, *options, name="out.png"):
        done = sinew("render", scene, "-o", self.place / name, *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return self.place / name

    def check_place(self, up, start, at, azimuth, elevation):
        gravity = "[0, 0, 0]"
        scene = self.write("ball.yaml", BALL.format(up=up, gravity=gravity, start=start, at=at))
        path = self.draw(scene, "--size", "320x200", "--azimuth", azimuth, "--elevation", elevation)
        width, height, rows = read_png(path)
        self.assertEqual((width, height), (320, 200))
        turn = (lambda p: (p[0], p[2], -p[1])) if up == "z" else tuple
        ball, box = turn(start), turn(at)
        low = [min(b - 0.1, c - 0.5) for b, c in zip(ball, box)]
        high = [max(b + 0.1, c + 0.5) for b, c in zip(ball, box)]
        want = project(ball, low, high, width, height, azimuth, elevation)
        found = centre_of(rows, is_red)
        # a sphere off the axis is seen as an ellipse whose middle is not its centre: half a pixel here
        self.assertLess(math.dist(want, found), 1.5, f"wanted {want}, found {found}")

    def test_ball_where_it_belongs(self):
        self.check_place("z", [1.5, -0.2, 1.2], [0, 0, 0.5], 23, 19)
        self.check_place("z", [0.2, -1.5, 0.9], [0, 0, 0.5], 67, 30)
        self.check_place("y", [-1.5, 1.2, 0.3], [0, 0.5, 0], -20, 5)

    def test_nearer_things_hide_those_behind(self):
        scene = self.write("ball.yaml", BALL.format(up="z", gravity="[0, 0, 0]", start=[0, 2, 0.5], at=[0, 0, 0.5]))
        _, _, rows = read_png(self.draw(scene, "--size", "160x120", "--azimuth", 0, "--elevation", 0))
        with self.assertRaisesRegex(AssertionError, "no such pixel"):
            centre_of(rows, is_red)
        _, _, rows = read_png(self.draw(scene, "--size", "160x120", "--azimuth", 180, "--elevation", 0))
        centre_of(rows, is_red)

    def test_moment(self):
        scene = self.write("ball.yaml", BALL.format(up="z", gravity="[10, 0, 0]", start=[-1.5, -1, 0.5], at=[0, 0, 0.5]))
        places = []
        for time in (0, 0.1, 0.2):
            path = self.draw(scene, "--size", "160x100", "--time", time, "--azimuth", 0, "--elevation", 89)
            places.append(centre_of(read_png(path)[2], is_red)[0])
        self.assertLess(places[0], places[1])
        self.assertLess(places[1], places[2])

    def test_same_bytes(self):
        first = self.draw(SCENES / "pendulum.yaml", "--size", "200x120", "--time", 0.3).read_bytes()
        again = self.draw(SCENES / "pendulum.yaml", "--size", "200x120", "--time", 0.3, name="again.png").read_bytes()
        self.assertEqual(first, again)
        self.assertEqual(sorted(p.name for p in self.place.iterdir()), ["again.png", "out.png"])

    def test_from_recording(self):
        recording = self.place / "p.snr"
        self.assertEqual(sinew("run", SCENES / "pendulum.yaml", "--duration", 0.3, "--every", 0.1,
                               "--out", recording).returncode, DONE)
        a = self.draw(recording, "--size", "200x120").read_bytes()
        b = self.draw(SCENES / "pendulum.yaml", "--size", "200x120", "--time", 0.3, name="b.png").read_bytes()
        self.assertEqual(a, b)

    def test_any_rate_with_any_step(self):
        """Fixed steps have states only at their ends: films of 30 pictures a second are made of the nearest before."""
        scene = SCENES / "redmax" / "joint_torque.yaml"
        for step in (0.01, 0.001, 0.04, 1 / 30):
            done = sinew("render", scene, "-o", self.place / "p.webp", "--duration", 0.3, "--method", "redmax", "--step", step, "--size", "32x32")
            if "without libwebp" not in done.stderr:
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertIn("10 pictures", done.stdout)
        self.draw(scene, "--time", 0.25, "--method", "redmax", "--step", 0.03, "--size", "32x32")

    def test_webp(self):
        done = sinew("render", SCENES / "pendulum.yaml", "-o", self.place / "p.webp", "--duration", 0.5, "--fps", 10,
                     "--size", "96x64")
        if "without libwebp" in done.stderr:
            self.assertEqual(done.returncode, BAD_INPUT)
            return
        self.assertEqual(done.returncode, DONE, done.stderr)
        data = (self.place / "p.webp").read_bytes()
        self.assertEqual((data[:4], data[8:12]), (b"RIFF", b"WEBP"))
        self.assertEqual(len(data), 8 + struct.unpack("<I", data[4:8])[0])
        self.assertEqual(data.count(b"ANMF"), 6)
        self.assertIn("6 pictures", done.stdout)

    @unittest.skipUnless(shutil.which("ffmpeg"), "films in MP4 are made by ffmpeg, which is not here")
    def test_mp4(self):
        path = self.draw(SCENES / "pendulum.yaml", "--duration", 0.5, "--fps", 10, "--size", "97x65", name="p.mp4")
        data = path.read_bytes()
        self.assertEqual(data[4:8], b"ftyp")
        self.assertIn(b"avc1", data)

    def test_mp4_without_ffmpeg(self):
        self.assertEqual(self.refused("-o", self.place / "p.mp4", path="").returncode, BAD_INPUT)

    def refused(self, *options, path=None):
        environment = dict(os.environ) if path is None else {**os.environ, "PATH": path}
        return subprocess.run([SINEW, "render", str(SCENES / "pendulum.yaml"), *map(str, options)], capture_output=True,
                              text=True, check=False, env=environment, timeout=60)

    def test_refused(self):
        out = ("-o", self.place / "x.png")
        for options, words in [
            ((), "-o FILE.png"),
            (("-o", self.place / "x.jpg"), "needs .png, .webp or .mp4"),
            ((*out, "--size", "big"), "--size: is 'big'"),
            ((*out, "--size", "10x10"), "needs two numbers from 16 to 16384"),
            ((*out, "--zoom", "0"), "--zoom: is 0, needs a number > 0"),
            ((*out, "--elevation", "90"), "--elevation: is 90"),
            ((*out, "--fps", "0"), "--fps: is 0"),
            (("-o", self.place / "nowhere" / "x.png"), "cannot write"),
        ]:
            done = self.refused(*options)
            self.assertEqual(done.returncode, BAD_INPUT, options)
            self.assertIn(words, done.stderr)
            self.assertEqual(list(self.place.iterdir()), [])
        done = sinew("render", self.write("bad.yaml", "sinew: 1\nbodies: {a: {}}\n"), *out)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("bad.yaml:", done.stderr)

    def test_bodies_without_shapes(self):
        """A ball at the centre of mass, bones to it and to the joints of children: here from 0 to 1 along x, and up."""
        scene = self.write("bare.yaml", """
sinew: 1
gravity: [0, 0, 0]
bodies:
  a: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [1, 0, 0], xx: 1, yy: 1, zz: 1}}
  b: {parent: a, joint: {type: revolute, at: [0, 0, 1], axis: [0, 1, 0]}, inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}
run: {duration: 0}
""")
        look = "--size", "160x160", "--azimuth", 0, "--elevation", 0
        _, _, rows = read_png(self.draw(scene, *look))
        coloured = lambda r, g, b: max(r, g, b) - min(r, g, b) > 40
        found = [(x, y) for y, row in enumerate(rows) for x in range(160) if coloured(*row[3 * x:3 * x + 3])]
        left, right, top, bottom = min(x for x, _ in found), max(x for x, _ in found), min(y for _, y in found), max(y for _, y in found)
        side = right - left  # from the joint to the ball, and as far up
        self.assertGreater(side, 100)
        self.assertLess(abs(side - (bottom - top)), 0.1 * side)
        on = set(found)
        for share in (0.2, 0.5, 0.8):
            column = [y for x, y in on if x == round(left + share * side)]
            self.assertTrue(column and min(column) > bottom - 0.1 * side, f"the bone along x, {share}: {column}")
            row = [x for x, y in on if y == round(top + share * side)]
            self.assertTrue(row and max(row) < left + 0.1 * side, f"the bone upwards, {share}: {row}")
        alone = self.write("alone.yaml", "sinew: 1\nbodies:\n  a: {parent: world, joint: {type: free}, inertia: "
                           "{mass: 1, xx: 1, yy: 1, zz: 1}}\nrun: {duration: 0}\n")
        _, _, rows = read_png(self.draw(alone, "--size", "64x64"))
        self.assertLess(math.dist(centre_of(rows, coloured), (32, 32)), 1.5)

    def colours(self, path):
        rows = read_png(path)[2]
        return [row[3 * x:3 * x + 3] for row in rows for x in range(len(row) // 3)]

    def test_layers(self):
        """Loops, axes, forces and trails have colours that nothing else in these pictures has."""
        scene = self.write("layers.yaml", """
sinew: 1
gravity: [0, 0, 0]
defaults: {shape: {density: 100, color: [0.5, 0.5, 0.5]}}
bodies:
  a: {parent: world, joint: {type: revolute, axis: [0, 1, 0]}, shapes: [{type: box, size: [0.5, 0.5, 0.5], at: [0.25, 0, 0]}]}
  b: {parent: a, joint: {type: revolute, at: [0.5, 0, 0], axis: [0, 1, 0]}, shapes: [{type: box, size: [0.5, 0.5, 0.5], at: [0.25, 0, 0], color: [0.1, 0.6, 0.1]}]}
loops:
  pin: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [1, 0, 0]}, b: {body: b, at: [0.5, 0, 0]}}
forces:
  push: {type: point_force, body: b, at: [0.25, 0, 0.25], force: [0, 0, 10]}
run: {duration: 0}
""")
        pink = lambda p: p[0] > 1.8 * p[1] and p[2] > 1.5 * p[1] and p[2] > 90
        dark = lambda p: max(p) < 90 and p[2] >= p[0]
        red = lambda p: p[0] > 1.7 * p[1] and p[2] < 0.6 * p[0]
        look = "--size", "320x240", "--azimuth", 20, "--elevation", 15
        for layers, want in (None, (True, False, True)), ("bodies", (False, False, False)), ("bodies,loops", (True, False, False)), \
                ("bodies,axes", (False, True, False)), ("bodies,forces", (False, False, True)), ("loops,axes", (True, True, False)):
            pixels = self.colours(self.draw(scene, *look, *(["--show", layers] if layers else [])))
            self.assertEqual(tuple(sum(map(kind, pixels)) > 3 for kind in (pink, dark, red)), want, layers)
        self.assertIn("there is no layer 'ghosts'; there are bodies,", sinew("render", scene, "-o", self.place / "x.png", "--show", "bodies,ghosts").stderr)
        moving = self.write("moving.yaml", BALL.format(up="z", gravity="[30, 0, 0]", start=[-1.5, -1, 0.5], at=[0, 0, 0.5]).replace("0.2, record", "0.5, record"))
        for show, wide in ("bodies", False), ("bodies,trails", True), ("trails", True):
            rows = read_png(self.draw(moving, "--size", "640x320", "--azimuth", 0, "--show", show))[2]
            red = [x for row in rows for x in range(640) if is_red(*row[3 * x:3 * x + 3])]
            self.assertEqual(max(red) - min(red) > 200, wide, f"{show}: {min(red)} to {max(red)}")

    def test_contacts(self):
        """Of a recording into whose frames contacts were put: at a corner of the post, pushing upwards."""
        scene = self.write("ball.yaml", BALL.format(up="z", gravity="[0, 0, 0]", start=[-1.5, -1, 0.5], at=[0, 0, 0.5]).replace("[1, 0, 0]", "[0, 0, 1]"))
        recording = self.place / "a.snr"
        self.good("run", scene, "--quiet", "--out", recording)
        data, at, out = recording.read_bytes(), 0, b""
        while at < len(data):
            kind, n = struct.unpack_from("<4sI", data, at)
            payload = bytearray(data[at + 8:at + 8 + n])
            if kind == b"FRAM":
                nbody, nchannel, nline, _, narrow, _ = struct.unpack_from("<6I", payload, 16)
                struct.pack_into("<I", payload, 28, 1)
                here = 40 + 8 * nchannel + 28 * nbody + 4 * nline
                payload[here:] = struct.pack("<iI9f", 1, 0xffffffff, 0, 0, 1, 0, 0, 1, 0, 0, 20) + payload[here:here + 32 * narrow]
                payload += bytes(-len(payload) % 8)
            out += struct.pack("<4sI", kind, len(payload)) + payload
            at += 8 + n
        recording.write_bytes(out)
        counts = [sum(is_red(*p) for p in self.colours(self.draw(recording, "--size", "320x240", *show)))
                  for show in ([], ["--show", "bodies,contacts"], ["--show", "bodies"])]
        self.assertGreater(counts[0], 30)
        self.assertEqual(counts[0], counts[1])
        self.assertEqual(counts[2], 0)


if __name__ == "__main__":
    unittest.main()
