// Where the bodies are between two frames.

import { Matrix4, Quaternion, Vector3 } from "three";
import { Frame, Vec3 } from "../data/format";

/** out = the poses at `share` of the way from a to b: places by straight lines, turns the short way. */
export function interpolate(a: Float32Array, b: Float32Array, share: number, out: Float32Array): void {
  if (share <= 0) {
    out.set(a);
    return;
  }
  for (let k = 0; k < a.length; k += 7) {
    for (let i = 0; i < 3; i++) out[k + i] = a[k + i] + share * (b[k + i] - a[k + i]);
    let dot = 0;
    for (let i = 3; i < 7; i++) dot += a[k + i] * b[k + i];
    const sign = dot < 0 ? -1 : 1;
    let norm = 0;
    for (let i = 3; i < 7; i++) {
      out[k + i] = a[k + i] + share * (sign * b[k + i] - a[k + i]);
      norm += out[k + i] * out[k + i];
    }
    norm = Math.sqrt(norm) || 1;
    for (let i = 3; i < 7; i++) out[k + i] /= norm;
  }
}

/** The present moment: a frame, or something between two. */
export interface Moment {
  time: number;
  /** The frame that is shown, or the one before. */
  frame: Frame;
  index: number;
  poses: Float32Array;
}

const place = new Vector3();
const turn = new Quaternion();
const ONE = new Vector3(1, 1, 1);

export function bodyMatrix(poses: Float32Array, body: number, out: Matrix4): Matrix4 {
  if (body < 0) return out.identity();
  const k = 7 * body;
  place.set(poses[k], poses[k + 1], poses[k + 2]);
  turn.set(poses[k + 3], poses[k + 4], poses[k + 5], poses[k + 6]);
  return out.compose(place, turn, ONE);
}

/** A point of a body, in the world. */
export function bodyPoint(poses: Float32Array, body: number, at: ArrayLike<number>, out: Vector3): Vector3 {
  out.set(at[0], at[1], at[2]);
  if (body < 0) return out;
  const k = 7 * body;
  turn.set(poses[k + 3], poses[k + 4], poses[k + 5], poses[k + 6]);
  out.applyQuaternion(turn);
  out.x += poses[k];
  out.y += poses[k + 1];
  out.z += poses[k + 2];
  return out;
}

export function poseMatrix(pose: ArrayLike<number>, scale: Vector3, out: Matrix4): Matrix4 {
  return out.compose(
    new Vector3(pose[0], pose[1], pose[2]),
    new Quaternion(pose[3], pose[4], pose[5], pose[6]),
    scale,
  );
}

const UP = new Vector3(0, 1, 0);

/** Takes the unit cylinder (along y, from -1/2 to 1/2, radius 1) to the one from a to b. */
export function rodMatrix(a: Vector3, b: Vector3, radius: number, out: Matrix4): Matrix4 {
  const along = new Vector3().subVectors(b, a);
  const length = along.length();
  if (length > 0) turn.setFromUnitVectors(UP, along.divideScalar(length));
  else turn.identity();
  place.addVectors(a, b).multiplyScalar(0.5);
  return out.compose(place, turn, new Vector3(radius, length, radius));
}

export function vector(v: Vec3 | ArrayLike<number>): Vector3 {
  return new Vector3(v[0], v[1], v[2]);
}
