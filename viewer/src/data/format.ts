// What a recording holds, as docs/recording.md describes it.

/** Place, then a unit quaternion with its real part last. */
export type Pose = [number, number, number, number, number, number, number];
export type Vec3 = [number, number, number];

export interface Axis {
  turn?: Vec3;
  slide?: Vec3;
}

export interface Shape {
  type: string;
  color?: Vec3;
  at?: Pose;
  size?: Vec3;
  radius?: number;
  radii?: Vec3;
  extent?: number;
  from?: Vec3;
  to?: Vec3;
  scale?: number;
  mesh?: number;
}

export interface Body {
  name: string;
  parent: number;
  joint: { type: string; dofs: number; at: Pose; axes: Axis[] };
  shapes: Shape[];
  /** Centre of mass, of a body without shapes. */
  com?: Vec3;
}

/** A spring or a cable: straight from point to point. */
export interface Line {
  name: string;
  type: string;
  tension_only: boolean;
  points: { body: number; at: Vec3 }[];
}

/** A loop or another constraint between two frames. */
export interface Link {
  name: string;
  type: string;
  a: { body: number; at: Pose };
  b: { body: number; at: Pose };
}

export interface Header {
  format: string;
  version: number;
  sinew: string;
  scene: string;
  model: string;
  units: string;
  metres: number | null;
  up: "y" | "z";
  gravity: Vec3;
  method: string;
  step: number;
  every: number;
  start: number;
  duration: number | null;
  bodies: Body[];
  lines: Line[];
  loops: Link[];
  constraints: Link[];
  meshes: number;
  channels: string[];
  soft: { name: string; mesh: number }[];
}

export interface Mesh {
  vertices: Float32Array;
  triangles: Uint32Array;
}

export interface Note {
  t: number;
  level: "info" | "warning" | "error";
  text: string;
  path: string;
  code: string;
}

/** How a finished recording ended. */
export interface Ending {
  frames: number;
  time: number;
  how: "done" | "interrupted" | "failed";
}

/** At a point of the world: a contact's force, or an arrow. */
export interface Mark {
  body: number;
  /** Of a contact: the other body, -1 is the world.  Of an arrow: 0 force, 1 torque, 2 the hand. */
  other: number;
  at: Vec3;
  vector: Vec3;
}

export interface Contact extends Mark {
  /** Unit, from the other body towards the first. */
  normal: Vec3;
}

export interface Frame {
  time: number;
  number: number;
  jump: boolean;
  channels: Float64Array;
  /** 7 a body */
  poses: Float32Array;
  tensions: Float32Array;
  contacts: Contact[];
  arrows: Mark[];
  /** Which of the loops, and then the constraints, do not hold now. */
  off: Set<number>;
  /** By the index of the soft surface. */
  soft: Map<number, Float32Array>;
}

const LIMIT = 10_000_000;
const VERTEX_LIMIT = 1 << 26;

/** The header, or an error that says what is wrong with it. */
export function parseHeader(bytes: Uint8Array): Header {
  const header = JSON.parse(new TextDecoder().decode(bytes)) as Header;
  if (header.format !== "sinew recording") throw new Error("this is no recording of Sinew");
  if (header.version !== 1) {
    throw new Error(`the recording has version ${header.version}, this page reads version 1`);
  }
  for (const key of ["bodies", "lines", "loops", "constraints", "channels"] as const) {
    if (!Array.isArray(header[key])) throw new Error(`the header of the recording has no ${key}`);
    if (header[key].length > LIMIT) throw new Error(`the recording has more than ${LIMIT} ${key}`);
  }
  if (!(header.meshes >= 0 && header.meshes <= LIMIT)) throw new Error("the number of meshes is not sensible");
  header.soft = header.soft ?? [];
  header.bodies.forEach((body, k) => {
    if (!(body.parent >= -1 && body.parent < k)) throw new Error(`body '${body.name}': its parent comes behind it`);
  });
  const points = [
    ...header.lines.flatMap((line) => line.points),
    ...[...header.loops, ...header.constraints].flatMap((link) => [link.a, link.b]),
  ];
  if (points.some((p) => !(p.body >= -1 && p.body < header.bodies.length))) {
    throw new Error("a line or a loop names a body that is not there");
  }
  return header;
}

export function parseMesh(buffer: ArrayBuffer, at: number, size: number): Mesh {
  const head = new Uint32Array(buffer, at, 4);
  const [, V, T] = head;
  if (V > VERTEX_LIMIT || T > VERTEX_LIMIT || 16 + 12 * V + 12 * T > size) throw new Error("a mesh is cut short");
  const mesh = {
    vertices: new Float32Array(buffer, at + 16, 3 * V),
    triangles: new Uint32Array(buffer, at + 16 + 12 * V, 3 * T),
  };
  if (mesh.triangles.some((v) => v >= V)) throw new Error("a triangle of a mesh names a vertex that is not there");
  return mesh;
}

const FRAME_HEAD = 40;
const CONTACT = 44;
const ARROW = 32;
/** What an arrow is that is none, but says which loop or constraint does not hold. */
const OFF = 3;

/** Bytes of a frame's payload, without the filling. */
export function frameSize(counts: Uint32Array): number {
  const [B, C, L, K, A] = counts;
  return FRAME_HEAD + 8 * C + 28 * B + 4 * L + CONTACT * K + ARROW * A;
}

/** B, C, L, K, A and the flags of the frame at `at`. */
export function frameCounts(buffer: ArrayBuffer, at: number): Uint32Array {
  return new Uint32Array(buffer, at + 16, 6);
}

function parseContacts(buffer: ArrayBuffer, at: number, count: number): Contact[] {
  return Array.from({ length: count }, (_, k) => {
    const [body, other] = new Int32Array(buffer, at + CONTACT * k, 2);
    const f = new Float32Array(buffer, at + CONTACT * k + 8, 9);
    return { body, other, at: [f[0], f[1], f[2]], normal: [f[3], f[4], f[5]], vector: [f[6], f[7], f[8]] };
  });
}

function parseArrows(buffer: ArrayBuffer, at: number, count: number): Mark[] {
  return Array.from({ length: count }, (_, k) => {
    const [body, other] = new Int32Array(buffer, at + ARROW * k, 2);
    const f = new Float32Array(buffer, at + ARROW * k + 8, 6);
    return { body, other, at: [f[0], f[1], f[2]], vector: [f[3], f[4], f[5]] };
  });
}

/** Views into the buffer: nothing is copied but contacts and arrows. */
export function parseFrame(buffer: ArrayBuffer, at: number, soft: Map<number, Float32Array>): Frame {
  const [B, C, L, K, A, flags] = frameCounts(buffer, at);
  const poses = at + FRAME_HEAD + 8 * C;
  const tensions = poses + 28 * B;
  const contacts = tensions + 4 * L;
  const number = new Uint32Array(buffer, at + 8, 2);
  const arrows = parseArrows(buffer, contacts + CONTACT * K, A);
  return {
    time: new Float64Array(buffer, at, 1)[0],
    number: number[0] + number[1] * 2 ** 32,
    jump: (flags & 1) !== 0,
    channels: new Float64Array(buffer, at + FRAME_HEAD, C),
    poses: new Float32Array(buffer, poses, 7 * B),
    tensions: new Float32Array(buffer, tensions, L),
    contacts: parseContacts(buffer, contacts, K),
    arrows: arrows.filter((arrow) => arrow.other !== OFF),
    off: new Set(arrows.filter((arrow) => arrow.other === OFF).map((arrow) => arrow.body)),
    soft,
  };
}
