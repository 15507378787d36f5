// How large the mechanism is, and where: over the whole motion, from some frames of it.

import { Box3, Matrix4, Vector3 } from "three";
import { Shape } from "../data/format";
import { Recording } from "../data/recording";
import { bodyMatrix, poseMatrix, vector } from "./poses";

const ONE = new Vector3(1, 1, 1);

/** The box of a shape along the axes of its body. */
function shapeBox(shape: Shape, recording: Recording, box: Box3): void {
  if (shape.type === "plane") return; // it has no end: what stands on it is what is looked at
  if (shape.from && shape.to) {
    const r = shape.radius ?? 0;
    const ends = new Box3().setFromPoints([vector(shape.from), vector(shape.to)]);
    const along = vector(shape.to).sub(vector(shape.from)).normalize();
    const reach = (a: number): number => (shape.type === "capsule" ? r : r * Math.sqrt(Math.max(0, 1 - a * a)));
    box.union(ends.expandByVector(new Vector3(reach(along.x), reach(along.y), reach(along.z))));
    return;
  }
  const own = new Box3();
  if (shape.mesh !== undefined) {
    const vertices = recording.meshes[shape.mesh]?.vertices ?? new Float32Array(0);
    own.setFromArray(vertices as unknown as number[]);
    own.min.multiplyScalar(shape.scale ?? 1);
    own.max.multiplyScalar(shape.scale ?? 1);
  } else {
    const half = shape.size ? vector(shape.size).multiplyScalar(0.5) : shape.radii ? vector(shape.radii) : new Vector3().setScalar(shape.radius ?? 0);
    own.set(half.clone().negate(), half);
  }
  if (own.isEmpty()) return;
  box.union(own.applyMatrix4(poseMatrix(shape.at ?? [0, 0, 0, 0, 0, 0, 1], ONE, new Matrix4())));
}

function bodyBoxes(recording: Recording): Box3[] {
  return recording.header.bodies.map((body) => {
    const box = new Box3();
    body.shapes.forEach((shape) => shapeBox(shape, recording, box));
    if (box.isEmpty()) box.expandByPoint(new Vector3());
    return box;
  });
}

/** The lowest points of bodies that cannot move, in the direction up; Infinity: there are none. */
export function standing(recording: Recording, still: readonly boolean[]): number {
  if (recording.count === 0) return Infinity;
  const { poses } = recording.frame(0);
  const matrix = new Matrix4();
  let low = Infinity;
  bodyBoxes(recording).forEach((box, body) => {
    if (!still[body] || recording.header.bodies[body].shapes.length === 0) return;
    low = Math.min(low, box.applyMatrix4(bodyMatrix(poses, body, matrix)).min[recording.header.up]);
  });
  return low;
}

function frameBox(recording: Recording, boxes: Box3[], k: number): Box3 {
  const all = new Box3();
  const matrix = new Matrix4();
  const one = new Box3();
  const { poses, soft } = recording.frame(k);
  for (const vertices of soft.values()) all.union(one.setFromArray(vertices as unknown as number[]));
  boxes.forEach((box, body) => all.union(one.copy(box).applyMatrix4(bodyMatrix(poses, body, matrix))));
  for (const line of recording.header.lines) {
    for (const p of line.points) if (p.body < 0) all.expandByPoint(vector(p.at));
  }
  return all;
}

const SAMPLES = 24;

/** Of all frames; what flies off far beyond its first size does not make the rest small. */
export function motionBox(recording: Recording): Box3 {
  if (recording.count === 0 || recording.header.bodies.length + recording.header.soft.length === 0) {
    return new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  }
  const boxes = bodyBoxes(recording);
  const first = frameBox(recording, boxes, 0);
  const all = first.clone();
  const n = Math.min(SAMPLES, recording.count);
  for (let k = 1; k < n; k++) all.union(frameBox(recording, boxes, Math.round((k * (recording.count - 1)) / (n - 1))));
  const reach = 3 * Math.max(first.getSize(new Vector3()).length(), 1e-6);
  const centre = first.getCenter(new Vector3());
  const most = new Box3().setFromCenterAndSize(centre, new Vector3().setScalar(2 * reach));
  return all.intersect(most);
}
