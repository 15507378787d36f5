// Pulling bodies with the mouse: the point that was taken follows it in a plane that faces the eye.

import { Matrix4, Plane, Raycaster, Vector2, Vector3 } from "three";
import { Hit } from "../scene/bodies";
import { Stage } from "../scene/stage";
import { Vec } from "./protocol";

export class Hand {
  private readonly plane = new Plane();
  private readonly ray = new Raycaster();
  private pointer = -1;

  constructor(private readonly stage: Stage) {}

  get busy(): boolean {
    return this.pointer >= 0;
  }

  /** hit.point in the recording's coordinates. */
  take(pointer: number, hit: Hit): void {
    this.pointer = pointer;
    const world = hit.point.clone().applyMatrix4(this.stage.root.matrixWorld);
    this.plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new Vector3()), world);
  }

  holds(pointer: number): boolean {
    return this.pointer === pointer;
  }

  /** x, y from -1 to 1. Where the hand is now, in the recording's coordinates. */
  move(x: number, y: number): Vec | null {
    this.ray.setFromCamera(new Vector2(x, y), this.stage.camera);
    const p = this.ray.ray.intersectPlane(this.plane, new Vector3());
    return p ? (this.stage.root.worldToLocal(p).toArray() as Vec) : null;
  }

  drop(): void {
    this.pointer = -1;
  }
}

/** A point of the world in the frame of a body. */
export function inBody(matrix: Matrix4, p: Vector3): Vec {
  return p.clone().applyMatrix4(matrix.clone().invert()).toArray() as Vec;
}
