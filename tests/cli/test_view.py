"""`sinew view` without a browser: what a page may do, what it is told, and who is let in."""
import base64
import json
import math
import os
import random
import socket
import struct
import time
import unittest

from command import SCENES, Command, memory_of, sinew
from live import PATIENCE, Page, Server

SOAK = os.environ.get("SINEW_SOAK") == "1"

STONE = """sinew: 1
gravity: [0, 0, 0]
bodies:
  stone:
    joint: {type: free}
    shapes: [{type: box, size: [0.1, 0.1, 0.1], density: 1000}]
forces:
  wind_1: {type: spring, a: {body: world}, b: {body: stone}, stiffness: 1, damping: 0.5, rest_length: 0, active: 0}
  wind_2: {type: spring, a: {body: world}, b: {body: stone}, stiffness: 2, rest_length: 0, active: 0}
run: {method: redmax, step: 0.01}
"""


def has_live():
    return "libwebsockets" not in sinew("view", "no such file").stderr


class View(Command):
    def serve(self, *arguments, **keywords):
        server = Server(*arguments, **keywords)
        self.addCleanup(lambda: server.alive() and server.end())
        return server

    def page(self, server, **keywords):
        page = Page(server, **keywords)
        self.addCleanup(page.close)
        return page

    def stone(self, *arguments):
        server = self.serve(self.write("stone.yaml", STONE), *arguments)
        return server, self.page(server)


class Talk(View):
    """What pages are told, and what they may ask for."""

    def test_stream(self):
        server = self.serve(SCENES / "pendulum.yaml")
        page = self.page(server)
        page.wait_frames(20)
        self.assertEqual([text["type"] for text in page.texts[:4]], ["hello", "role", "scene", "parameters"])
        self.assertEqual(page.hello["protocol"], 1)
        self.assertEqual(page.heads[0]["bodies"][0]["name"], "rod")
        numbers = [frame.number for frame in page.frames]
        self.assertEqual(numbers, sorted(set(numbers)))
        times = [frame.t for frame in page.frames]
        self.assertEqual(times, sorted(set(times)))
        status = page.wait_text("status")
        self.assertLessEqual({"t", "playing", "speed", "ratio", "steps", "stopped", "energy", "grabs", "pages"}, set(status))
        self.assertEqual(server.end(), (0, ""))

    def test_never_ahead_of_the_clock(self):
        start = time.monotonic()
        page = self.page(self.serve(SCENES / "pendulum.yaml", "--speed", "3"))
        for _ in range(5):
            t = page.wait_frames(10).t
            self.assertLessEqual(t, 3 * (time.monotonic() - start))

    def test_pause_step_reset(self):
        _, page = self.stone("--paused")
        self.assertEqual(page.first().t, 0)
        status = page.ask("step", count=5)
        self.assertEqual((status["steps"], status["playing"]), (5, False))
        page.wait(lambda: page.frames[-1].t == 0.05, "the fifth step")
        page.ask("step")
        page.wait(lambda: page.frames[-1].t == 0.06, "the sixth")
        self.assertTrue(page.ask("play")["playing"])
        page.wait(lambda: page.frames[-1].t > 0.2, "time goes on")
        self.assertFalse(page.ask("pause")["playing"])
        since = len(page.texts)
        page.do("reset")
        scene = page.wait_text("scene", since)
        self.assertEqual((scene["reason"], scene["keep_camera"]), ("reset", True))
        page.wait(lambda: len(page.heads) == 2 and page.frames[-1].t == 0, "the start")
        page.pump(0.2)
        self.assertEqual(page.frames[-1].t, 0)

    def test_speed(self):
        _, page = self.stone()
        self.assertEqual(page.ask("speed", value=0.5)["speed"], 0.5)
        for bad in (0, -1, 2000, "fast", None):
            self.assertEqual(page.refused("speed", value=bad), "value: needs a number from 0.001 to 1000")

    def test_method_and_step(self):
        _, page = self.stone("--paused")
        page.ask("step", count=10)
        since = len(page.texts)
        page.do("set", path="forces.wind_1.stiffness", value=7)
        page.do("method", value="recursive")
        scene = page.wait_text("scene", since, method="recursive")
        self.assertEqual(scene["reason"], "method")
        listed = page.wait_text("parameters", page.texts.index(scene))
        self.assertEqual(next(p["value"] for p in listed["list"] if p["path"] == "forces.wind_1.stiffness"), 7)
        page.wait(lambda: len(page.heads) == 2 and page.frames[-1].t == 0.1, "the same time")
        self.assertEqual(page.heads[1]["method"], "recursive")
        self.assertEqual(page.ask("step_size", value=0.05)["step"], 0.05)
        page.ask("step")
        page.wait(lambda: math.isclose(page.frames[-1].t, 0.15), "a longer step")
        self.assertEqual(page.refused("method", value="magic"), "this version has no method 'magic'; it has: recursive, redmax, structured")
        self.assertEqual(page.refused("step_size", value=-1), "run.step: is -1, needs a number > 0")

    def test_parameters(self):
        server, page = self.stone("--paused")
        listed = {p["path"]: p for p in page.wait_text("parameters")["list"]}
        self.assertLessEqual({"run.step", "gravity[2]", "forces.wind_1.stiffness", "forces.wind_*.stiffness",
                              "bodies.stone.inertia.mass"}, set(listed))
        for p in listed.values():
            self.assertTrue(p["min"] <= p["value"] <= p["max"] or (p["zero"] and p["value"] == 0), p)
            self.assertTrue(p["scale"] == "linear" or p["min"] > 0, p)
        other = self.page(server)
        page.do("set", path="gravity[2]", value=-5)
        self.assertEqual(other.wait_text("parameter")["value"], -5)
        page.ask("step")
        page.wait(lambda: page.frames[-1].poses["stone"][2] < 0, "it falls")
        page.do("set", path="forces.wind_*.stiffness", value=1e8)
        self.assertEqual(other.wait_text("parameter", path="forces.wind_*.stiffness")["value"], 1e8)
        third = self.page(server)
        listed = {p["path"]: p["value"] for p in third.wait_text("parameters")["list"]}
        self.assertEqual((listed["forces.wind_1.stiffness"], listed["forces.wind_2.stiffness"]), (1e8, 1e8))
        for path, text in (("forces.no.stiffness", "'forces.no.stiffness' is not a parameter of this model"),
                           ("forces.x*.stiffness", "no parameter of this model fits 'forces.x*.stiffness'"),
                           ("bodies.stone.inertia.mass", "needs > 0")):
            self.assertIn(text, page.refused("set", path=path, value=-1))

    def asked(self, page, **query):
        """The answer to a question for parameters."""
        page.do("parameters", **query)
        want = {"filter": query.get("filter", ""), "first": query.get("first", 0), "all": bool(query.get("all", 0))}
        return page.wait_text("parameters", len(page.texts), **want)

    def test_every_parameter_can_be_found_and_set(self):
        scene = self.write("many.yaml", "\n".join(
            ["sinew: 1", "bodies:"] +
            [f"  link_{k}: {{parent: {'world' if k == 0 else f'link_{k - 1}'}, joint: {{type: spherical, at: [{0.1 * (k > 0)}, 0, 0]}}, "
             "inertia: {mass: 1, xx: 1, yy: 1, zz: 1}}" for k in range(300)] +
            ["run: {method: redmax, step: 0.01}"]) + "\n")
        page = self.page(self.serve(scene, "--paused"))
        first = page.wait_text("parameters")
        self.assertEqual((first["filter"], first["all"], first["first"], len(first["list"])), ("", False, 0, 60))
        # Of a ball joint: stiffness, damping, rest, armature as a whole and by three; drag 2, inertia 10.
        kinds = 4 * 4 + 2 + 10
        self.assertEqual(first["every"], 6 + 300 * kinds + kinds)
        self.assertEqual(first["list"][0]["path"], "bodies.link_*.inertia.mass")
        found, start = [], 0
        while True:
            some = self.asked(page, all=1, first=start)
            found += some["list"]
            start += len(some["list"])
            if start >= some["total"]:
                break
        paths = [p["path"] for p in found]
        self.assertEqual(len(set(paths)), len(paths))
        singles = [path for path in paths if "*" not in path]
        self.assertEqual((len(singles), len(paths) - len(singles)), (6 + 300 * kinds, kinds))
        for p in found:
            self.assertTrue(p["min"] < p["max"] and (p["value"] == 0 if p["zero"] and p["value"] < p["min"] else
                                                     p["min"] <= p["value"] <= p["max"]), p)
        for words in ("LINK_299 rest[2", "link_299.joint.rest[2]", "l?nk_299 rest*2"):
            answer = self.asked(page, filter=words, all=1)
            self.assertEqual([p["path"] for p in answer["list"]], ["bodies.link_299.joint.rest[2]"], words)
        self.assertEqual(self.asked(page, filter="no such thing", all=1)["list"], [])
        self.assertEqual(self.asked(page, filter="bodies.link_7.", all=1)["total"], 28)
        page.ask("set", path="bodies.link_7.joint.rest[2]", value=0.25)
        self.assertEqual(self.asked(page, filter="link_7.joint.rest[2]")["list"][0]["value"], 0.25, "it is worth showing now")
        self.assertIn("a whole number from 0 to 1", page.refused("parameters", all=2))

    def test_grab(self):
        for method in ("redmax", "recursive"):
            _, page = self.stone("--method", method)
            def away(page, target):
                return math.dist(page.frames[-1].poses["stone"][:3], target)
            page.first()
            status = page.ask("grab", body="stone", point=[0, 0, 0], at=[0.5, 0, 0])
            self.assertEqual(status["grabs"], [{"body": "stone", "point": [0, 0, 0], "at": [0.5, 0, 0]}])
            page.wait(lambda: page.frames[-1].arrows, "an arrow of the hand")
            self.assertEqual(page.frames[-1].arrows[0][:2], (0, 2))
            page.wait(lambda: away(page, [0.5, 0, 0]) < 0.01, "it comes")
            page.do("drag", at=[0.5, 0.3, -0.2])
            page.wait(lambda: away(page, [0.5, 0.3, -0.2]) < 0.01, "it follows")
            self.assertEqual(page.ask("release")["grabs"], [])
            page.wait(lambda: not page.frames[-1].arrows, "no hand")
            self.assertEqual(page.refused("drag", at=[0, 0, 0]),
                             "drag: nothing is held, grab something before")
            self.assertEqual(page.refused("grab", body="moon", point=[0, 0, 0], at=[0, 0, 0]),
                             "there is no body 'moon'")

    def test_saved_file_is_loaded_again(self):
        server, page = self.stone()
        page.wait_frames(5)
        self.write("stone.yaml", STONE.replace("stone:", "rock:").replace("body: stone", "body: rock"))
        scene = page.wait_text("scene", reason="reload")
        self.assertTrue(scene["keep_camera"])
        page.wait(lambda: len(page.heads) == 2, "another recording")
        self.assertEqual(page.heads[1]["bodies"][0]["name"], "rock")
        self.assertLess(page.wait_frames(1).t, 5)
        # through another file that takes its name, as editors do
        other = self.write("other.yaml", STONE)
        other.replace(self.place / "stone.yaml")
        page.wait(lambda: len(page.heads) == 3, "a third")
        self.assertTrue(server.alive())

    def test_error_with_its_line(self):
        server, page = self.stone()
        page.wait_frames(2)
        self.write("stone.yaml", STONE.replace("size: [0.1, 0.1, 0.1]", "size: [0.1, -1, 0.1]"))
        error = page.wait_text("error")
        self.assertEqual(error["kind"], "scene")
        self.assertEqual((error["problems"][0]["line"], error["problems"][0]["path"]), (6, "bodies.stone.shapes[0].size[1]"))
        t = page.frames[-1].t
        page.wait(lambda: page.frames[-1].t > t + 0.05, "the old one goes on")
        newcomer = self.page(server)
        self.assertEqual(newcomer.wait_text("error")["problems"], error["problems"])
        since = len(page.texts)
        self.write("stone.yaml", STONE)
        page.wait_text("good", since)
        page.wait_text("scene", since, reason="reload")
        self.assertIn("bodies.stone.shapes[0].size[1]", server.end()[1])

    def test_bad_from_the_start(self):
        path = self.write("bad.yaml", "sinew: 1\nbodies: {a: {joint: {type: hinge}}}\n")
        page = self.page(self.serve(path, "--quiet"))
        self.assertEqual(page.wait_text("error")["problems"][0]["line"], 2)
        self.assertEqual(page.refused("play"), "no scene is open")
        self.write("bad.yaml", STONE)
        page.wait_frames(2)

    def test_used_files_are_watched_too(self):
        self.write("part.yaml", STONE)
        page = self.page(self.serve(self.write("whole.yaml", "sinew: 1\nuse: [{file: part.yaml, prefix: a/}]\n")))
        page.first()
        self.write("part.yaml", STONE + "# changed\n")
        page.wait_text("scene", reason="reload")

    def test_trouble_names_the_culprit(self):
        text = STONE.replace("run:", "  storm: {type: point_force, body: stone, force: [sqrt(0.2 - t), 0, 0]}\nrun:")
        server = self.serve(self.write("storm.yaml", text), "--quiet")
        page = self.page(server)
        error = page.wait_text("error")
        self.assertEqual(error["kind"], "simulation")
        self.assertIn("storm" if "storm" in str(error) else "stone", str(error["problems"]))
        self.assertTrue(page.wait_text("status", stopped=True)["stopped"])
        since = len(page.texts)
        page.do("reset")
        page.wait_text("status", since, stopped=False)
        page.wait_text("error", since)
        self.assertTrue(server.alive())

    def test_beyond_what_can_be_shown(self):
        """A body farther away than a float32 can say: pages that come later still see the last state that could be shown."""
        scene = self.write("far.yaml", "sinew: 1\nbodies:\n  ball: {joint: {type: free}, shapes: [{type: sphere, radius: 0.2, density: 100}]}\n"
                           "forces:\n  push: {type: point_force, body: ball, at: [0, 0, 0], force: [0, 0, exp(200*t)]}\n"
                           "run: {method: recursive, step: 0.01}\n")
        server = self.serve(scene)
        page = self.page(server)
        error = page.wait_text("error", kind="simulation")
        self.assertEqual(error["problems"][0]["path"], "bodies.ball")
        later = self.page(server)
        self.assertEqual(later.wait_text("error", kind="simulation")["problems"][0]["path"], "bodies.ball")
        self.assertTrue(math.isfinite(later.first().poses["ball"][2]))
        self.assertEqual(page.ask("pause")["t"], page.frames[-1].t, "and that is where the simulation stands")
        page.do("reset")
        page.wait_text("scene", len(page.texts) - 1, reason="reset")

    def test_time_begins_with_the_first_page(self):
        server = self.serve(SCENES / "pendulum.yaml")
        time.sleep(0.5)
        self.assertLess(self.page(server).first().t, 0.3)

    def test_roles(self):
        server, first = self.stone()
        second = self.page(server)
        self.assertEqual(second.wait_text("role")["role"], "watcher")
        self.assertEqual(second.refused("pause"), "another page drives: take the wheel first")
        second.wait_frames(3)
        first.ask("grab", body="stone", point=[0, 0, 0], at=[1, 0, 0])
        second.do("role", value="driver")
        second.wait_text("role", role="driver")
        first.wait_text("role", role="watcher")
        self.assertEqual(second.ask("pause")["grabs"], [])
        self.assertEqual(first.refused("play"), "another page drives: take the wheel first")
        since = len(first.texts)
        second.close()
        first.wait_text("role", since, role="driver", pages=1)
        self.assertTrue(first.ask("play")["playing"])
        first.do("role", value="watcher")
        first.wait_text("role", since, driver=0)

    def test_closing_pages_leaves_the_server(self):
        server, page = self.stone()
        t = page.wait_frames(3).t
        page.close()
        again = self.page(server)
        self.assertGreaterEqual(again.wait_frames(1).t, t)
        self.assertEqual(again.wait_text("role")["role"], "driver")

    def test_gallery(self):
        server = self.serve(env={"SINEW_SCENES": str(SCENES)})
        page = self.page(server)
        scenes = page.wait_text("gallery")["scenes"]
        pendulum = next(s for s in scenes if s["name"] == "pendulum")
        self.assertEqual(pendulum["title"], "The simplest scene: a steel rod on a hinge, let go from the horizontal")
        titles = {s["name"]: s["title"] for s in scenes}
        # A stop that ends no sentence, a line that says only what made the file, a sentence of two lines.
        self.assertEqual(titles["redmax/gears"], "Reference scene 34 of RedMax (Wang et al. 2019): a pair of gears")
        self.assertEqual(titles["humanoid"], "A person of 67 kg and 1.77 m leaves the ground in a forward somersault and tucks")
        self.assertEqual(titles["redmax/arm"], "An arm of two bones")
        self.assertTrue(titles["redmax/sliding_plate"].endswith("and does not turn"), titles["redmax/sliding_plate"])
        self.assertEqual([name for name, title in titles.items() if not title], [])
        self.assertEqual(page.refused("play"), "no scene is open")
        self.assertEqual([s["name"] for s in scenes if not s["still"]], [], "run scripts/gallery.sh")
        page.do("still", scene="redmax/net")
        png = base64.b64decode(page.wait_text("still", scene="redmax/net")["png"], validate=True)
        self.assertEqual(png, (SCENES.parent / "docs/gallery/redmax_net.png").read_bytes())
        self.assertEqual(page.refused("still", scene="../README"), "there is no picture of such a scene")
        for bad in ("../README", "pendulum.yaml", ""):
            self.assertEqual(page.refused("open", scene=bad), "there is no such scene in the gallery")
        for name in ("pendulum", "redmax/net"):
            page.do("open", scene=name)
            scene = page.wait_text("scene", name=name)
            self.assertFalse(scene["keep_camera"])
            page.wait_frames(2)

    def test_every_shipped_scene_opens(self):
        page = self.page(self.serve(env={"SINEW_SCENES": str(SCENES)}))
        for scene in page.wait_text("gallery")["scenes"]:
            page.do("open", scene=scene["name"])
            page.wait_text("scene", name=scene["name"])
            page.first()
            self.assertEqual([text for text in page.texts if text["type"] == "error"], [], scene["name"])

    def test_standard_input(self):
        made = sinew("make", "bridge").stdout
        page = self.page(self.serve("-", stdin=made.encode()))
        page.wait_frames(2)
        paths = [p["path"] for p in page.wait_text("parameters")["list"]]
        self.assertTrue(any("*" in path and path.endswith(".stiffness") for path in paths), paths[:20])


class Safe(View):
    """Who is let in, and what hostile ones can do."""

    def test_listens_on_loopback_alone(self):
        server, _ = self.stone()
        found = []
        for name in ("tcp", "tcp6"):
            with open(f"/proc/net/{name}", encoding="ascii") as file:
                for line in file.readlines()[1:]:
                    local, state = line.split()[1], line.split()[3]
                    if state == "0A" and int(local.rpartition(":")[2], 16) == server.port:
                        found.append((name, local.rpartition(":")[0]))
        self.assertEqual(found, [("tcp", "0100007F")])

    def test_tokens(self):
        server, _ = self.stone()
        other = Server(self.place / "stone.yaml")
        self.assertNotEqual(server.token, other.token)
        self.assertEqual(other.end(), (0, ""))
        self.assertEqual(server.request()[0], 200)
        wrong = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
        for path in ("/", f"/{wrong}/", f"/{wrong}/live", f"/{server.token}", f"/{server.token[:-1]}/", "/" + "a" * 3000,
                     f"/x/../{wrong}/", "/favicon.ico", f"/?{server.token}/"):
            self.assertEqual(server.request(path)[0], 403, path)
            self.assertNotEqual(server.stream_status(path), 101, path)
        self.assertEqual(server.stream_status(f"/{wrong}/live"), 403)
        self.assertEqual(server.request(f"/{server.token}/nothing")[0], 404)
        self.assertEqual(server.stream_status(f"/{server.token}/"), 404)

    def test_foreign_origins_and_hosts(self):
        server, _ = self.stone()
        port = server.port
        for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", None):
            self.assertEqual(server.request(Origin=origin)[0], 200, origin)
            self.assertEqual(server.stream_status(Origin=origin), 101, origin)
        for origin in ("http://evil.example", f"http://evil.example:{port}", f"https://127.0.0.1:{port}", "null", "http://127.0.0.1",
                       f"http://127.0.0.1:{port}.evil.example", f"http://127.0.0.1:{port + 1}", "http://" + "a" * 500, "file://"):
            self.assertEqual(server.request(Origin=origin)[0], 403, origin)
            self.assertEqual(server.stream_status(Origin=origin), 403, origin)
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", "", f"[::1]:{port}", None):
            self.assertIn(server.request(Host=host)[0], (0, 400, 403), host)
            self.assertNotEqual(server.stream_status(Host=host), 101, host)
        self.assertEqual(server.request(Host=f"localhost:{port}")[0], 200)
        self.assertEqual(server.request(Host=f"evil.example:{port}")[0], 403)

    def test_headers(self):
        server, _ = self.stone()
        for path in (None, "/"):
            headers = server.request(path)[1]
            self.assertEqual(headers["cache-control"], "no-store")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["x-frame-options"], "DENY")
            policy = headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe-eval", policy)
            self.assertNotRegex(policy, "script-src[^;]*unsafe-inline")
            self.assertNotIn("access-control-allow-origin", headers)
        page = server.request()[2].decode()
        if "without the page" not in page:
            nonce = policy.split("'nonce-")[1].split("'")[0]
            self.assertEqual(page.count(f'\n<script nonce="{nonce}">'), 1)

    def test_other_methods_and_protocols(self):
        server, _ = self.stone()
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"):
            self.assertNotEqual(server.request(method=method)[0], 200, method)
        self.assertEqual(server.stream_status(Sec_WebSocket_Protocol="other"), 400)
        self.assertNotEqual(server.stream_status(Sec_WebSocket_Protocol=None), 101)
        self.assertNotEqual(server.stream_status(Upgrade="h2c", Connection="Upgrade, HTTP2-Settings", HTTP2_Settings="AAMAAABkAARAAAAA"), 101)
        self.assertTrue(server.alive())

    def ends(self, page, *codes):
        until = time.monotonic() + PATIENCE
        while page.pump(0.01):
            self.assertLess(time.monotonic(), until)
        self.assertIn(page.closed, codes)

    def test_limits(self):
        server, page = self.stone()
        fits = json.dumps({"do": "pause"})
        page.say(fits + " " * (4096 - len(fits)))
        page.wait_text("status", playing=False)
        self.page(server)
        for opcode, payload, code in ((1, b"{" + b" " * 4096, 1009), (2, b"abc", 1003), (1, b"\xff\xfe", 1007)):
            other = self.page(server)
            other.raw(opcode, payload)
            self.ends(other, code)
        # a message in fragments is put together, and is as limited
        other = self.page(server)
        other.raw(1, b'{"do": "ro', final=False)
        other.raw(0, b'le", "value": "driver"}')
        other.wait_text("role", role="driver")
        for _ in range(5):
            other.raw(1 if _ == 0 else 0, b" " * 1000, final=False)
        self.ends(other, 1009)
        # many are too many
        other = self.page(server)
        try:
            for _ in range(200):
                other.socket.sendall(b"".join(self.masked(b'{"do":"ack","count":0}') for _ in range(200)))
        except ConnectionError:
            pass
        self.ends(other, 1008, None)   # or the connection is gone before that could be read
        self.assertTrue(server.alive())
        page.do("role", value="driver")
        self.assertTrue(page.ask("play")["playing"])

    @staticmethod
    def masked(payload):
        return bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload

    def test_many_pages(self):
        server, page = self.stone()
        pages = [self.page(server) for _ in range(15)]
        self.assertEqual(server.stream_status(), 503)
        page.wait_text("role", pages=16)
        pages[3].close()
        page.wait_text("role", len(page.texts), pages=15)
        self.page(server).wait_frames(1)

    def test_wrong_requests_change_nothing(self):
        _, page = self.stone("--paused")
        page.first()
        for text in ("", "{", "[]", "pause", "null", '"pause"', "{}", '{"do": 1}', '{"do": null}', '{"do": ["pause"]}',
                     '{"do": pause}', '{"do": "Pause"}', '{"do": "pause", "more": 1}', '{"do": "pause", "do": "play"}',
                     '{"do": "step", "count": 0}', '{"do": "step", "count": 1.5}', '{"do": "step", "count": 1001}',
                     '{"do": "step", "count": "1"}', '{"do": "step", "count": [1]}', '{"do": "step", "count": 1e400}',
                     '{"do": "drag"}', '{"do": "drag", "at": [1, 2]}', '{"do": "drag", "at": [1, 2, NaN]}', '{"do": "drag", "at": [1, 2, "3"]}',
                     '{"do": "grab", "body": "stone", "point": [0, 0, 0], "at": [0, 0, 0], "stiffness": -1}',
                     '{"do": "set", "path": 3, "value": 3}', '{"do": "set", "path": "' + "a" * 300 + '", "value": 1}',
                     '{"do": "set", "path": "gravity[2]", "value": Infinity}', '{"do": "ack"}', '{"do": "role", "value": "captain"}',
                     '{"do": "pause"} {"do": "play"}', '{"do": {"do": {"do": {}}}}', '{"do": "play", "do\\u0000": 1}', "{" * 4000, "[" * 4000):
            since = len(page.texts)
            page.say(text)
            error = page.wait_text("error", since, kind="request")
            self.assertTrue(error["problems"][0]["text"], text)
        status = page.ask("pause")
        self.assertEqual((status["steps"], status["playing"], status["grabs"]), (0, False, []))

    def test_acknowledging_what_was_not_sent(self):
        _, page = self.stone()
        for count in (10**9, 10**14):
            page.do("ack", count=count)
        self.assertGreater(page.wait_frames(5).t, 0)

    def test_fuzzed_requests(self):
        """Thousands of damaged requests, and bytes that are no messages at all."""
        server, watcher = self.stone()
        watcher.do("role", value="watcher")
        seeds = ['{"do":"set","path":"gravity[2]","value":-3}', '{"do":"grab","body":"stone","point":[0,0,0],"at":[1,0,0]}',
                 '{"do":"step","count":3}', '{"do":"speed","value":2}', '{"do":"method","value":"recursive"}', '{"do":"reset"}',
                 '{"do":"step_size","value":0.01}', '{"do":"drag","at":[0,1e3,0]}', '{"do":"role","value":"driver"}', '{"do":"ack","count":2}',
                 '{"do":"set","path":"forces.wind_*.stiffness","value":5}', '{"do":"play"}', '{"do":"open","scene":"x"}']
        rng = random.Random(1)
        page = None
        for number in range(60000 if SOAK else 3000):
            if page is None:
                page = Page(server)
                page.do("role", value="driver")
            text = bytearray(rng.choice(seeds).encode())
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(text) + 1)
                what = rng.randrange(4)
                if what == 0:
                    text[at:at] = bytes(rng.randrange(256) if rng.random() < 0.1 else rng.choice(b'{}[]",:.0123456789eE-+*\\u nult\n')
                                        for _ in range(rng.randrange(1, 9)))
                elif what == 1:
                    del text[at:at + rng.randrange(1, 9)]
                elif what == 2 and text:
                    text[rng.randrange(len(text))] = rng.randrange(32, 127)
                else:
                    text[at:at] = rng.choice(seeds).encode()[:rng.randrange(40)]
            try:
                page.raw(rng.choice((1, 1, 1, 1, 1, 1, 1, 0, 2, 9)) if number % 50 == 0 else 1, bytes(text))
                alive = page.pump(0)
            except ConnectionError:
                alive = False
            if not alive or number % 500 == 499:
                page.close()
                page = None
        self.raw_bytes(server, rng)
        self.assertTrue(server.alive())
        watcher.do("role", value="driver")
        watcher.ask("play")
        watcher.do("reset")
        watcher.do("speed", value=1)
        watcher.wait_frames(2)
        code, errors = server.end()
        self.assertEqual((code, [line for line in errors.splitlines() if "ERROR" in line or "runtime error" in line]), (0, []))

    def raw_bytes(self, server, rng):
        for number in range(2000 if SOAK else 200):
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
                try:
                    if number % 2:
                        status, stream = server.upgrade()
                        self.assertEqual(status, 101)
                        with stream:
                            stream.sendall(rng.randbytes(rng.randrange(1, 300)))
                            stream.sendall(struct.pack(">BBQ", 0x81, 0xff, rng.randrange(1 << 63)) + rng.randbytes(50))
                    else:
                        head = bytearray(server.head(None, "GET", {"Origin": "x", "Upgrade": "websocket"}))
                        for _ in range(rng.randrange(1, 20)):
                            head[rng.randrange(len(head))] = rng.randrange(256)
                        connection.sendall(head)
                except ConnectionError:
                    pass


class Slow(View):
    """Pages that are slow, and time that is long."""

    def test_slow_page_does_not_slow_the_physics(self):
        server, page = self.stone()
        slow = self.page(server, acknowledge=False)   # reads, and never says so
        deaf = self.page(server)                       # does not even read
        slow.wait(lambda: slow.binary == slow.hello["window"], "a full window")
        status = page.wait(lambda: next((x for x in page.texts if x["type"] == "status" and x["t"] > 1), None), "a second")
        self.assertGreater(status["steps"], 100)
        slow.do("ack", count=10**6)                    # what was not sent cannot have come
        slow.pump(0.1)
        self.assertEqual(slow.binary, slow.hello["window"])
        slow.ack()
        newest = slow.wait_frames(1)                   # not one of those that were left out
        self.assertGreater(newest.t, 1)
        self.assertTrue(deaf.pump(0.5))
        self.assertLessEqual(deaf.frames[0].t, 1)

    def test_memory_stays(self):
        """Ten simulated minutes of streaming; shortened here, in full when SINEW_SOAK is set."""
        seconds, speed = (600, 30) if SOAK else (60, 20)
        # a sanitizer would keep what was given back for a while
        keep = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}
        server = self.serve(SCENES / "robot_arm.yaml", "--speed", speed, env=keep)
        page, silent = self.page(server), self.page(server)   # the second one does not read
        looks = []
        for quarter in (1, 2, 3, 4):
            page.wait(lambda: page.frames and page.frames[-1].t > quarter * seconds / 4, f"{quarter} quarters")
            looks.append((memory_of(server.process), len(page.frames), page.bytes))
        self.assertGreater(looks[-1][1], looks[0][1] + 30)
        # half of what was sent would be there if every second frame stayed somewhere; an allocator may take a piece once,
        # what stays goes on growing
        self.assertTrue(any(after[0] - before[0] < 0.5 * (after[2] - before[2]) / 1024
                            for before, after in zip(looks, looks[1:])), looks)
        silent.close()


class Options(View):
    def test_refusals(self):
        self.bad(2, "sinew view: --port: is 70000, needs a whole number from 0 to 65535", "view", SCENES / "pendulum.yaml", "--port", "70000")
        self.bad(2, "sinew view: --speed: is 0, needs a number from 0.001 to 1000", "view", SCENES / "pendulum.yaml", "--speed", "0")
        self.bad(2, "sinew view: --step: is -1, needs a number > 0", "view", SCENES / "pendulum.yaml", "--step", "-1")
        self.assertEqual(sinew("view", self.place / "nothing.yaml").returncode, 2)
        server, _ = self.stone()
        busy = sinew("view", SCENES / "pendulum.yaml", "--port", server.port)
        self.assertEqual(busy.returncode, 2)
        self.assertIn(f"cannot listen on 127.0.0.1 port {server.port}", busy.stderr)
        self.assertEqual(sinew("view", "-", stdin="sinew: 2\n").returncode, 2)

    def test_recordings(self):
        recording = self.place / "a.snr"
        self.good("run", SCENES / "pendulum.yaml", "--duration", "0.2", "--quiet", "--out", recording)
        page = self.serve(recording).request()[2].decode()
        if "without the page" not in page:
            inside = page.split('id="recording">')[1].split("</script>")[0]
            self.assertEqual(base64.b64decode(inside, validate=True), recording.read_bytes())
        self.bad(2, "sinew view: --panel: is for live scenes, not for recordings", "view", recording, "--panel", "x.json")
        bad = self.write("bad.snr", "this is none")
        self.assertEqual(sinew("view", bad).returncode, 2)
        self.assertIn("is no recording", sinew("view", bad).stderr)

    def test_port_and_settings(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = self.serve(SCENES / "pendulum.yaml", "--port", port, "--set", "gravity=[0, 0, -1]", "--step", "0.02", "--paused")
        self.assertEqual(server.port, port)
        page = self.page(server)
        listed = {p["path"]: p["value"] for p in page.wait_text("parameters")["list"]}
        self.assertEqual((listed["gravity[2]"], listed["run.step"]), (-1, 0.02))
        self.assertFalse(page.wait_text("status")["playing"])


if __name__ == "__main__":
    if not has_live():
        print("built without libwebsockets: nothing to test")
    else:
        unittest.main()
