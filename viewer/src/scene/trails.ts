// Where bodies have been: of the selected one, or of the ends of all branches.

import { Color, Group } from "three";
import { Body } from "../data/format";
import { Recording } from "../data/recording";
import { Tree } from "../data/tree";
import { bodyColor } from "./palette";
import { Ribbon } from "./ribbon";

const POINTS = 360;
const MOST = 24;

/** Bodies on which nothing hangs, at most some. */
export function tips(bodies: readonly Body[], tree: Tree): number[] {
  const all = bodies.map((_, k) => k).filter((k) => tree.children[k].length === 0 && tree.along[k] + bodies[k].joint.dofs > 0);
  const stride = Math.max(1, Math.ceil(all.length / MOST));
  return all.filter((_, k) => k % stride === 0);
}

/** The point of a body that leaves the trail: the far end of its shapes. */
function tipOf(body: Body): [number, number, number] {
  let best: [number, number, number] = [0, 0, 0];
  const take = (p: ArrayLike<number>): void => {
    if (Math.hypot(p[0], p[1], p[2]) > Math.hypot(...best)) best = [p[0], p[1], p[2]];
  };
  for (const shape of body.shapes) {
    if (shape.from) take(shape.from);
    if (shape.to) take(shape.to);
    if (shape.at) take(shape.at);
  }
  return best;
}

interface Trail {
  body: number;
  tip: [number, number, number];
  ribbon: Ribbon;
}

export class Trails {
  readonly group = new Group();
  private trails: Trail[] = [];

  constructor(private readonly recording: Recording, private readonly tree: Tree) {}

  follow(bodies: readonly number[]): void {
    this.dispose();
    this.trails = bodies.map((body) => {
      const ribbon = new Ribbon(POINTS, bodyColor(this.tree, body, new Color()));
      this.group.add(ribbon.mesh);
      return { body, tip: tipOf(this.recording.header.bodies[body]), ribbon };
    });
  }

  /** Up to frame `last`, as far back as `seconds`. */
  update(last: number, seconds: number): void {
    if (!this.group.visible || this.trails.length === 0) return;
    const first = this.recording.find(this.recording.time(last) - seconds);
    const n = Math.min(POINTS, last - first + 1);
    for (let k = 0; k < POINTS; k++) {
      // Points that are not needed lie on the first one.
      const share = Math.max(0, k - (POINTS - n)) / Math.max(1, n - 1);
      const { poses } = this.recording.frame(Math.round(first + share * (last - first)));
      for (const { body, tip, ribbon } of this.trails) ribbon.setPoint(k, pointOf(poses, body, tip));
    }
    for (const { ribbon } of this.trails) ribbon.end();
  }

  dispose(): void {
    for (const { ribbon } of this.trails) ribbon.dispose();
    this.trails = [];
  }
}

/** x + q v q*, without objects: this runs some thousand times a picture. */
function pointOf(poses: Float32Array, body: number, v: ArrayLike<number>): [number, number, number] {
  const k = 7 * body;
  const [qx, qy, qz, qw] = [poses[k + 3], poses[k + 4], poses[k + 5], poses[k + 6]];
  const tx = 2 * (qy * v[2] - qz * v[1]);
  const ty = 2 * (qz * v[0] - qx * v[2]);
  const tz = 2 * (qx * v[1] - qy * v[0]);
  return [
    poses[k] + v[0] + qw * tx + qy * tz - qz * ty,
    poses[k + 1] + v[1] + qw * ty + qz * tx - qx * tz,
    poses[k + 2] + v[2] + qw * tz + qx * ty - qy * tx,
  ];
}
