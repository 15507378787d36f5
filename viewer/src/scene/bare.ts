// Bodies that are given by their mass alone have no shape. They get a small one, to be seen and to be taken: a ball at the
// centre of mass, and bones from the joint to it and to the joints of what hangs on them.

import { Vector3 } from "three";
import { Body, Shape, Vec3 } from "../data/format";
import { Recording } from "../data/recording";
import { motionBox } from "./bounds";

/** Radius of the ball, by half the diagonal of what is shown. */
const BALL = 0.03;
const BONE = 0.35; // by the ball's

/** Ends of the bones of a body, in its frame; the first is the centre of mass. */
function ends(bodies: readonly Body[], body: number): Vec3[] {
  const joints = bodies.filter((b) => b.parent === body).map(({ joint: { at } }): Vec3 => [at[0], at[1], at[2]]);
  return [bodies[body].com ?? [0, 0, 0], ...joints];
}

function shapesOf(tips: readonly Vec3[], radius: number): Shape[] {
  const [com] = tips;
  const bones = tips.filter((p) => Math.hypot(...p) > radius);
  return [
    { type: "sphere", at: [...com, 0, 0, 0, 1], radius },
    ...bones.map((to): Shape => ({ type: "capsule", from: [0, 0, 0], to, radius: BONE * radius })),
  ];
}

/** Gives shapes to the bodies that have none. */
export function dress(recording: Recording): void {
  const { bodies } = recording.header;
  const bare = bodies.map((_, k) => k).filter((k) => bodies[k].shapes.length === 0);
  if (bare.length === 0) return;
  const tips = bare.map((k) => ends(bodies, k));
  const box = motionBox(recording).getSize(new Vector3()).length() / 2;
  const reach = Math.max(box, ...tips.flat().map((p) => Math.hypot(...p)));
  bare.forEach((k, i) => (bodies[k].shapes = shapesOf(tips[i], BALL * (reach > 0 ? reach : 1))));
}
