// The tree of bodies: children, branches, what lies below a body.

import { Body } from "./format";

export interface Tree {
  children: number[][];
  roots: number[];
  /** Bodies below and including each. */
  weight: number[];
  /** A branch goes on into its heaviest child; every other child begins a new one. */
  branch: number[];
  /** How far along its branch a body is, from 0. */
  along: number[];
  /** Bodies of each body's branch. */
  span: number[];
  /** Cannot move: fixed to the ground, directly or through others. */
  still: boolean[];
}

/** The branch of bodies that cannot move. */
export const STILL = -1;

export function buildTree(bodies: readonly Body[]): Tree {
  const children: number[][] = bodies.map(() => []);
  const roots: number[] = [];
  bodies.forEach((body, k) => (body.parent < 0 ? roots : children[body.parent]).push(k));
  const weight = bodies.map(() => 1);
  for (let k = bodies.length - 1; k >= 0; k--) {
    const parent = bodies[k].parent;
    if (parent >= 0) weight[parent] += weight[k];
  }
  const branch = bodies.map(() => STILL);
  const along = bodies.map(() => 0);
  const still: boolean[] = [];
  let branches = 0;
  bodies.forEach((body, k) => {
    still[k] = body.joint.dofs === 0 && (body.parent < 0 || still[body.parent]);
    const heir = body.parent >= 0 && !still[body.parent] && heaviest(children[body.parent], weight) === k;
    branch[k] = still[k] ? STILL : heir ? branch[body.parent] : branches++;
    along[k] = heir ? along[body.parent] + 1 : 0;
  });
  const lengths = new Map<number, number>();
  branch.forEach((b) => lengths.set(b, (lengths.get(b) ?? 0) + 1));
  const span = branch.map((b) => lengths.get(b)!);
  return { children, roots, weight, branch, along, span, still };
}

function heaviest(list: number[], weight: number[]): number {
  return list.reduce((best, k) => (weight[k] > weight[best] ? k : best), list[0]);
}

/** Body k and everything that hangs on it. */
export function below(bodies: readonly Body[], k: number): Set<number> {
  const set = new Set([k]);
  for (let i = k + 1; i < bodies.length; i++) if (set.has(bodies[i].parent)) set.add(i);
  return set;
}
