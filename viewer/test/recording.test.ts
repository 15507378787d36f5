// The reader of recordings: everything that is in one, and everything that may be wrong with one.

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Color } from "three";
import { Reader, decodeBase64 } from "../src/data/recording";
import { firstChoice, matching, plotOf } from "../src/data/groups";
import { below, buildTree } from "../src/data/tree";
import { streamAddress } from "../src/live/protocol";
import { Player } from "../src/player";
import { dress } from "../src/scene/bare";
import { interpolate } from "../src/scene/poses";
import { historyOf } from "../src/live/view";
import { vertexNormals } from "../src/scene/soft";
import { Ribbon, ribbonWidth } from "../src/scene/ribbon";
import { splitTitle } from "../src/ui/gallery";
import { fitsPath, groupOf } from "../src/ui/parameters";
import { Scale } from "../src/ui/slider";
import { clipped } from "../src/ui/dom";
import * as snr from "../../tests/viewer/snr.mjs";

function buffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer; // a copy: Buffers share their memory
}

function load(bytes: Uint8Array) {
  const reader = new Reader();
  reader.push(buffer(bytes));
  return reader.recording!;
}

test("all of a recording is read", () => {
  const r = load(snr.sample());
  assert.equal(r.count, 21);
  assert.equal(r.damage, null);
  assert.deepEqual(r.ending, { frames: 21, time: 2, how: "done" });
  assert.equal(r.meshes.length, 2);
  assert.deepEqual([...r.meshes[0].triangles.slice(0, 3)], [0, 2, 1]);
  assert.equal(r.notes[0].text, "half-way");
  const f = r.frame(5);
  assert.equal(f.time, 0.5);
  assert.equal(f.number, 5);
  assert.deepEqual(f.contacts, [{ body: 2, other: -1, at: [0, 0, 0], normal: [0, 0, 1], vector: [0, 0, 5] }]);
  assert.equal(f.arrows[0].vector[0], 10);
  assert.deepEqual([r.frame(4).arrows.length, [...r.frame(4).off], f.off.size], [1, [0], 0]);
  assert.equal(f.poses.length, 28);
  assert.equal(f.soft.get(0)!.length, 12);
  assert.ok(Number.isNaN(r.frame(3).tensions[0]));
  assert.equal(r.frame(11).jump, true);
  assert.deepEqual([...r.column(1)].slice(0, 3), [10, 9.99, 9.98]);
});

test("the page's frames are those of the independent reader", () => {
  const bytes = snr.sample();
  const [r, other] = [load(bytes), snr.read(bytes)];
  other.frames.forEach((frame: { channels: number[]; poses: number[] }, k: number) => {
    assert.deepEqual([...r.frame(k).poses], frame.poses);
    assert.deepEqual([...r.frame(k).channels], frame.channels);
  });
});

test("a file that was cut anywhere is good up to its last whole frame", () => {
  const bytes = snr.sample({ frames: 4 });
  const whole = load(bytes).count;
  let before = 0;
  for (let n = 0; n < bytes.length; n++) {
    const reader = new Reader();
    try {
      reader.push(buffer(bytes.subarray(0, n)));
    } catch {
      assert.equal(before, 0, `cut at ${n}: the frames before it are lost`);
      continue;
    }
    const r = reader.recording;
    if (!r) continue;
    assert.ok(r.count >= before && r.count <= whole);
    assert.ok(r.count === whole || r.ending === null);
    before = r.count;
  }
  assert.equal(before, whole);
});

test("what is wrong is said", () => {
  const bytes = snr.sample({ frames: 2 });
  assert.throws(() => load(Buffer.from("hello, this is a text")), /no recording of Sinew/);
  assert.throws(() => load(snr.writeHeader({ format: "something else", version: 1 })), /no recording of Sinew/);
  assert.throws(() => load(snr.writeHeader({ format: "sinew recording", version: 7 })), /version 7/);
  const { header } = snr.read(bytes);
  header.bodies[1].parent = 3;
  assert.throws(() => load(snr.writeHeader(header)), /'left': its parent comes behind it/);
  header.bodies[1].parent = 0;
  const frame = snr.writeFrame({ time: 0, number: 0, channels: [0], poses: [], tensions: [] });
  assert.match(load(Buffer.concat([snr.writeHeader(header), frame])).damage!, /frame 0 is not as long/);
  header.lines[0].points[0].body = 99;
  assert.throws(() => load(snr.writeHeader(header)), /body that is not there/);
});

test("records of a kind that is not known are skipped", () => {
  const bytes = snr.sample({ frames: 2 });
  const odd = Buffer.from("XYZW\x08\0\0\0abcdefgh", "latin1");
  const first = 8 + bytes.readUInt32LE(4);
  const r = load(Buffer.concat([bytes.subarray(0, first), odd, bytes.subarray(first)]));
  assert.equal(r.count, 2);
  assert.equal(r.damage, null);
});

test("a stream may begin again, and forgets what is old", () => {
  const bytes = snr.sample({ frames: 30 });
  const reader = new Reader();
  assert.equal(reader.push(buffer(bytes)), true);
  const first = reader.recording;
  assert.equal(reader.push(buffer(bytes)), true);
  assert.notEqual(reader.recording, first);
  const again = reader.recording!;
  again.keepLast(10);
  assert.equal(again.count, 10);
  assert.equal(again.start, again.time(0));
  assert.ok(Math.abs(again.start - 2) < 1e-12);
});

test("frames are found by time", () => {
  const r = load(snr.sample());
  assert.equal(r.find(-1), 0);
  assert.equal(r.find(0.5), 5);
  assert.equal(r.find(0.55), 5);
  assert.equal(r.find(99), 20);
});

test("base64 comes back as the bytes that went in", () => {
  for (const n of [0, 1, 2, 3, 1000, 3 << 20]) {
    const bytes = Buffer.alloc(n, 0).map((_, k) => (k * 31) & 255);
    assert.ok(Buffer.from(decodeBase64(Buffer.from(bytes).toString("base64"))).equals(Buffer.from(bytes)), `${n} bytes`);
  }
});

test("the player goes on, stops, starts again and hops", () => {
  const player = new Player();
  const r = load(snr.sample());
  player.open(r, false);
  player.toggle();
  player.tick(0.25);
  assert.ok(Math.abs(player.time - 0.25) < 1e-12);
  player.hop(-1);
  assert.equal(player.time, 0.2);
  assert.equal(player.playing, false);
  player.hop(1);
  assert.ok(Math.abs(player.time - 0.3) < 1e-12);
  player.seek(Infinity);
  assert.equal(player.time, 2);
  player.loop = false;
  player.toggle();
  assert.equal(player.time, 0);
  player.tick(5);
  assert.equal(player.time, 2);
  assert.equal(player.playing, false);
});

test("between frames bodies are between their poses, but not across a jump", () => {
  const out = new Float32Array(7);
  const s = Math.SQRT1_2;
  interpolate(new Float32Array([0, 0, 0, 0, 0, 0, 1]), new Float32Array([2, 0, 0, 0, 0, -s, -s]), 0.5, out);
  assert.ok(Math.abs(out[0] - 1) < 1e-6);
  assert.ok(Math.abs(out[5] - Math.sin(Math.PI / 8)) < 1e-6);
  const player = new Player();
  const r = load(snr.sample());
  player.open(r, false);
  player.seek(1.05);
  assert.deepEqual([...player.moment()!.poses], [...r.frame(10).poses]);
  player.seek(0.95);
  assert.notDeepEqual([...player.moment()!.poses], [...r.frame(9).poses]);
});

test("branches go on into the heavier child", () => {
  const bodies = load(snr.sample()).header.bodies;
  const tree = buildTree(bodies);
  assert.deepEqual(tree.roots, [0]);
  assert.deepEqual(tree.children[0], [1, 3]);
  assert.equal(tree.branch[1], tree.branch[2]);
  assert.notEqual(tree.branch[1], tree.branch[3]);
  assert.deepEqual(tree.still, [true, false, false, false]);
  assert.deepEqual([...below(bodies, 1)], [1, 2]);
});

test("channels of one quantity share a plot", () => {
  assert.equal(plotOf("E"), plotOf("T"));
  assert.equal(plotOf("left.q"), plotOf("right.q0"));
  assert.notEqual(plotOf("left.q"), plotOf("left.qd"));
  assert.notEqual(plotOf("a.pos.x"), plotOf("a.pos.y"));
  assert.deepEqual(firstChoice(["t", "E", "left.q"]), [1]);
  assert.deepEqual(firstChoice(["t", "left.q"]), [1]);
  assert.deepEqual(matching(["t", "left.q", "right.q", "left.pos.x"], "LEFT q"), [1]);
});

test("sliders reach their ends, evenly or by factors", () => {
  const log = new Scale(1, 1e8, true);
  assert.equal(log.value(0), 1);
  assert.equal(log.value(500), 1e4);
  assert.equal(log.value(1000), 1e8);
  assert.equal(log.position(1e4), 500);
  assert.equal(log.position(-5), 0);
  assert.equal(new Scale(-2, 2, false).value(750), 1);
  const zero = new Scale(1e-3, 1e3, true, true);
  assert.deepEqual([0, 1, 1000].map((k) => zero.value(k)), [0, 1e-3, 1e3]);
  assert.deepEqual([0, 1e-3, 1, 1e3, Infinity].map((v) => zero.position(v)), [0, 1, 501, 1000, 1000]);
  for (let k = 0; k <= 1000; k += 37) assert.equal(zero.position(zero.value(k)), k);
});

test("parameters have a group and a name in it", () => {
  assert.deepEqual(groupOf("gravity[2]"), { group: "World", kind: "", label: "gravity[2]" });
  assert.deepEqual(groupOf("run.step"), { group: "World", kind: "", label: "run.step" });
  assert.deepEqual(groupOf("forces.stay_*.stiffness"), { group: "All of a kind", kind: "", label: "stay_*.stiffness" });
  assert.deepEqual(groupOf("forces.stay_1.stiffness"), { group: "stay_1", kind: "force", label: "stiffness" });
  assert.deepEqual(groupOf("loops.pin.drive.damping"), { group: "pin", kind: "loop", label: "drive.damping" });
  assert.deepEqual(groupOf("contacts.steel.friction"), { group: "steel", kind: "contact", label: "friction" });
  assert.deepEqual(groupOf("bodies.left/rod.joint.rest[1]"), { group: "left/rod", kind: "body", label: "joint.rest[1]" });
});

test("a path with * stands for those that fit, and for no others", () => {
  const fits = (path: string): boolean => fitsPath("bodies.b_*.joint.rest[1]", path);
  assert.deepEqual(["bodies.b_1.joint.rest[1]", "bodies.b_12.joint.rest[1]"].map(fits), [true, true]);
  assert.deepEqual(["bodies.c_1.joint.rest[1]", "bodies.b_1.joint.rest1", "bodies.b_1.joint.rest[1].x", "xbodies.b_1.joint.rest[1]"].map(fits), [false, false, false, false]);
});

test("a page is live by its address", () => {
  const token = "0123456789abcdef0123456789abcdef";
  assert.equal(streamAddress({ protocol: "http:", host: "127.0.0.1:7", pathname: `/${token}/` }), `ws://127.0.0.1:7/${token}/live`);
  assert.equal(streamAddress({ protocol: "file:", host: "", pathname: `/${token}/x.html` }), null);
  assert.equal(streamAddress({ protocol: "http:", host: "h", pathname: "/recordings/x.html" }), null);
});

test("bodies without shapes get a ball at their centre of mass and bones to the joints on them", () => {
  const r = load(snr.sample());
  const { bodies } = r.header;
  const [post, left] = [bodies.find((b) => b.name === "post")!, bodies.find((b) => b.name === "left")!];
  const before = left.shapes;
  post.shapes = [];
  post.com = [0, 0, 0.3];
  dress(r);
  assert.equal(left.shapes, before);
  const [ball, ...bones] = post.shapes;
  assert.equal(ball.type, "sphere");
  assert.deepEqual(ball.at, [0, 0, 0.3, 0, 0, 0, 1]);
  assert.ok(ball.radius! > 0 && ball.radius! < 0.2, `${ball.radius}`);
  const joints = bodies.filter((b) => bodies[b.parent] === post).map((b) => b.joint.at.slice(0, 3));
  const far = [[0, 0, 0.3], ...joints].filter((p) => Math.hypot(...p) > ball.radius!);
  assert.deepEqual(bones.map((bone) => bone.to), far);
});

test("one body without shape or extent can be seen too", () => {
  const r = load(snr.sample());
  r.header.bodies.forEach((body) => ((body.shapes = []), (body.joint.at = [0, 0, 0, 0, 0, 0, 1])));
  dress(r);
  assert.ok(r.header.bodies.every((body) => body.shapes[0].radius! > 0));
});

test("what a live view remembers is bounded in frames and in bytes", () => {
  assert.equal(historyOf(1000), 7200);
  assert.equal(historyOf(2 ** 20), 256);
  assert.equal(historyOf(2 ** 30), 2);
});

test("normals of a soft surface are those of its triangles, by their areas", () => {
  const out = new Float32Array(15);
  // a roof: two triangles in the plane z = 0, one twice as large that stands upright
  vertexNormals([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, -2], [0, 1, 2, 1, 3, 2, 0, 4, 1], out);
  const near = (k: number, v: number[]): void => v.forEach((x, i) => assert.ok(Math.abs(out[3 * k + i] - x) < 1e-6, `${k}: ${out.slice(3 * k, 3 * k + 3)}`));
  near(3, [0, 0, 1]);
  near(4, [0, -1, 0].map((x) => x));
  near(0, [0, -2 / Math.sqrt(5), 1 / Math.sqrt(5)]);
});

test("titles of scenes are split from where they come from", () => {
  assert.deepEqual(splitTitle("A cable-stayed bridge"), { what: "A cable-stayed bridge", source: "" });
  assert.deepEqual(splitTitle("Reference scene 34 of RedMax (Wang et al. 2019): a pair of gears"), { what: "A pair of gears", source: "Reference scene 34 of RedMax (Wang et al. 2019)" });
});

test("long names keep their ends", () => {
  assert.equal(clipped("hand.pos.z"), "hand.pos.z");
  const name = `${"a_very_long_name_".repeat(9)}.pos.z`;
  assert.equal(clipped(name).length, 34);
  assert.ok(clipped(name).startsWith("a_very_long_…") && clipped(name).endsWith("name_.pos.z"), clipped(name));
});

test("a ribbon's points have themselves and their neighbours beside them, and a width that grows with the screen", () => {
  const ribbon = new Ribbon(4, new Color());
  for (let k = 0; k < 4; k++) ribbon.setPoint(k, [k, 10 * k, 0]);
  const x = (name: string) => Array.from({ length: 8 }, (_, k) => ribbon.mesh.geometry.getAttribute(name).getX(k));
  assert.deepEqual(x("position"), [0, 0, 1, 1, 2, 2, 3, 3]);
  assert.deepEqual(x("before"), [0, 0, 0, 0, 1, 1, 2, 2]);
  assert.deepEqual(x("after"), [1, 1, 2, 2, 3, 3, 3, 3]);
  assert.equal(ribbon.mesh.geometry.index!.count, 18);
  assert.deepEqual([ribbonWidth(720), Math.round(ribbonWidth(2160))], [2, 5]);
});
