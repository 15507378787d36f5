// Writes and reads recordings as docs/recording.md describes them, for the tests: on its own, so that a
// mistake of the page's parser is not made here too.

function record(kind, payload) {
  const bytes = Buffer.alloc(8 + Math.ceil(payload.length / 8) * 8, kind === "SNR1" || kind === "NOTE" ? " " : 0);
  bytes.write(kind, 0, "ascii");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  payload.copy(bytes, 8);
  return bytes;
}

const floats = (list) => Buffer.from(new Float32Array(list).buffer);
const doubles = (list) => Buffer.from(new Float64Array(list).buffer);
const words = (list) => Buffer.from(new Uint32Array(list).buffer);

export function writeHeader(header) {
  return record("SNR1", Buffer.from(JSON.stringify(header)));
}

export function writeMesh(which, vertices, triangles) {
  return record("MESH", Buffer.concat([words([which, vertices.length / 3, triangles.length / 3, 0]), floats(vertices), words(triangles)]));
}

const contact = ({ body, other, at, normal, vector }) => Buffer.concat([words([body, other >>> 0]), floats([...at, ...normal, ...vector])]);
const mark = ({ body, other, at, vector }) => Buffer.concat([words([body, other >>> 0]), floats([...at, ...vector])]);

/** frame: time, number, channels, poses (flat), tensions, contacts, arrows, jump. */
export function writeFrame(frame) {
  const { contacts = [], arrows = [], tensions = [], jump = false } = frame;
  const head = Buffer.alloc(40);
  head.writeDoubleLE(frame.time, 0);
  head.writeBigUInt64LE(BigInt(frame.number), 8);
  [frame.poses.length / 7, frame.channels.length, tensions.length, contacts.length, arrows.length, jump ? 1 : 0].forEach((n, k) => head.writeUInt32LE(n, 16 + 4 * k));
  return record("FRAM", Buffer.concat([head, doubles(frame.channels), floats(frame.poses), floats(tensions), ...contacts.map(contact), ...arrows.map(mark)]));
}

export function writeSoft(which, vertices) {
  return record("SOFT", Buffer.concat([words([which, vertices.length / 3]), floats(vertices)]));
}

export function writeNote(note) {
  return record("NOTE", Buffer.from(JSON.stringify(note)));
}

export function writeEnd(frames, time, how) {
  const payload = Buffer.alloc(24);
  payload.writeBigUInt64LE(BigInt(frames), 0);
  payload.writeDoubleLE(time, 8);
  payload.writeBigUInt64LE(BigInt(how), 16);
  return record("END!", payload);
}

/** { header, frames: [{ time, channels, poses }] } */
export function read(bytes) {
  let header = null;
  const frames = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const kind = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const p = at + 8;
    if (kind === "SNR1") header = JSON.parse(bytes.toString("utf8", p, p + size));
    if (kind === "FRAM") {
      const [B, C] = [bytes.readUInt32LE(p + 16), bytes.readUInt32LE(p + 20)];
      const channels = Array.from({ length: C }, (_, k) => bytes.readDoubleLE(p + 40 + 8 * k));
      const poses = Array.from({ length: 7 * B }, (_, k) => bytes.readFloatLE(p + 40 + 8 * C + 4 * k));
      frames.push({ time: bytes.readDoubleLE(p), channels, poses });
    }
    at += 8 + size;
  }
  return { header, frames };
}

const IDENTITY = [0, 0, 0, 0, 0, 0, 1];

function body(name, parent, joint, shapes) {
  return { name, parent, joint: { dofs: 1, at: IDENTITY, axes: [{ turn: [0, 1, 0] }], type: "revolute", ...joint }, shapes };
}

/** A soft surface of n x n vertices, one wave after the other, above a post: nothing of this version makes one. */
export function softSample({ n = 174, frames = 20 } = {}) {
  const header = {
    format: "sinew recording", version: 1, sinew: "0.1.0", scene: "cloth.yaml", model: "0".repeat(16), units: "m kg s", metres: 1, up: "z",
    gravity: [0, 0, -9.81], method: "redmax", step: 0.01, every: 0.05, start: 0, duration: (frames - 1) * 0.05,
    bodies: [body("post", -1, { type: "fixed", dofs: 0, axes: [] }, [{ type: "box", at: [0, 0, 0.2, 0, 0, 0, 1], size: [0.1, 0.1, 0.4] }])],
    lines: [], loops: [], constraints: [], meshes: 1, channels: ["t"], soft: [{ name: "cloth", mesh: 0 }],
  };
  const at = (i, j, t) => [2 * (i / (n - 1)) - 1, 2 * (j / (n - 1)) - 1, 1 + t + 0.1 * Math.sin(5 * (i / n) + 4 * t) * Math.cos(4 * (j / n))];
  const vertices = (t) => Array.from({ length: n * n }, (_, k) => at(k % n, Math.floor(k / n), t)).flat();
  const triangles = [];
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < n; i++) {
      const k = j * n + i;
      triangles.push(k, k + 1, k + n, k + 1, k + n + 1, k + n);
    }
  }
  const parts = [writeHeader(header), writeMesh(0, vertices(0), triangles)];
  for (let k = 0; k < frames; k++) {
    const t = 0.05 * k;
    parts.push(writeSoft(0, vertices(t)), writeFrame({ time: t, number: k, channels: [t], poses: IDENTITY }));
  }
  parts.push(writeEnd(frames, (frames - 1) * 0.05, 0));
  return Buffer.concat(parts);
}

/** A small mechanism with something of everything: two arms on a post, a cable, contacts, arrows, a mesh, a soft surface. */
export function sample({ frames = 21, every = 0.1, up = "z" } = {}) {
  const header = {
    format: "sinew recording", version: 1, sinew: "0.1.0", scene: "sample.yaml", model: "00112233445566778899".slice(0, 16),
    units: "m kg s", metres: 1, up, gravity: [0, 0, -9.81], method: "redmax", step: 0.01, every, start: 0,
    duration: (frames - 1) * every,
    bodies: [
      body("post", -1, { type: "fixed", dofs: 0, axes: [] }, [{ type: "box", at: [0, 0, 1, 0, 0, 0, 1], size: [0.1, 0.1, 2] }]),
      body("left", 0, { at: [-0.5, 0, 2, 0, 0, 0, 1] }, [{ type: "capsule", from: [0, 0, 0], to: [0, 0, -1], radius: 0.05, color: [0.9, 0.1, 0.1] }]),
      body("hand", 1, {}, [{ type: "sphere", at: IDENTITY, radius: 0.12, color: [0.1, 0.8, 0.1] }]),
      body("right", 0, { at: [0.5, 0, 2, 0, 0, 0, 1] }, [
        { type: "mesh", at: IDENTITY, scale: 0.3, mesh: 0, color: [0.1, 0.1, 0.9] },
        { type: "ellipsoid", at: [0, 0, -0.4, 0, 0, 0, 1], radii: [0.1, 0.1, 0.2] },
        { type: "cylinder", from: [0, 0, 0], to: [0, 0.3, 0], radius: 0.05 },
      ]),
    ],
    lines: [{ name: "stay", type: "cable", tension_only: true, points: [{ body: -1, at: [0, 0, 2.4] }, { body: 2, at: [0, 0, 0] }] }],
    loops: [{ name: "pin", type: "revolute", a: { body: -1, at: [1.2, 0, 1, 0, 0, 0, 1] }, b: { body: 3, at: [0, 0, -0.4, 0, 0, 0, 1] } }],
    constraints: [], meshes: 2, channels: ["t", "E", "left.q", "hand.pos.z"], soft: [{ name: "skin", mesh: 1 }],
  };
  const tetrahedron = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1];
  const faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
  const parts = [writeHeader(header), writeMesh(0, tetrahedron, faces), writeMesh(1, tetrahedron, faces)];
  for (let k = 0; k < frames; k++) {
    const t = k * every;
    const a = 0.8 * Math.sin(1.7 * t);
    const turn = [0, Math.sin(a / 2), 0, Math.cos(a / 2)];
    const poses = [
      ...IDENTITY,
      -0.5, 0, 2, ...turn,
      -0.5 - Math.sin(a), 0, 2 - Math.cos(a), ...turn,
      0.5, 0, 2, ...turn,
    ];
    parts.push(writeSoft(0, tetrahedron.map((x) => x * 0.2 + 0.01 * k)));
    parts.push(writeFrame({
      time: t, number: k, channels: [t, 10 - k / 100, a, 2 - Math.cos(a)], poses,
      tensions: [k === 3 ? NaN : Math.max(0, 100 * a)],
      contacts: k % 2 ? [{ body: 2, other: -1, at: [0, 0, 0], normal: [0, 0, 1], vector: [0, 0, 5] }] : [],
      arrows: [
        { body: 1, other: 0, at: [-0.5, 0, 2], vector: [10, 0, 0] },
        ...(k === 4 ? [{ body: 0, other: 3, at: [0, 0, 0], vector: [0, 0, 0] }] : []), // the pin does not hold
      ],
      jump: k === 11,
    }));
  }
  parts.push(writeNote({ t: 0.5, level: "info", text: "half-way", path: "", code: "" }));
  parts.push(writeEnd(frames, (frames - 1) * every, 0));
  return Buffer.concat(parts);
}
