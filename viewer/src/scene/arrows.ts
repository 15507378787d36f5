// Contact points and the arrows of forces and torques.

import { Color, ConeGeometry, CylinderGeometry, Group, Matrix4, MeshBasicMaterial, Vector3 } from "three";
import { Contact, Mark } from "../data/format";
import { Theme } from "./palette";
import { Moment, rodMatrix, vector } from "./poses";
import { Rods } from "./rods";

/** Thinner where there are many. */
const crowd = (count: number): number => Math.min(1, 5 / Math.sqrt(16 + count));

const TORQUE = 1;
const HAND = 2;

export class Arrows {
  readonly contacts = new Group();
  readonly forces = new Group();
  private readonly points = new Rods(new CylinderGeometry(1, 1, 1, 20), new MeshBasicMaterial());
  private readonly pushes = makeArrow();
  private readonly pulls = makeArrow();
  private largest = 0;
  private colors = { contact: new Color(), force: new Color(), torque: new Color(), hand: new Color() };

  constructor(private readonly size: () => number) {
    this.contacts.add(this.points.mesh, this.pushes.shaft.mesh, this.pushes.head.mesh);
    this.forces.add(this.pulls.shaft.mesh, this.pulls.head.mesh);
  }

  setTheme(theme: Theme): void {
    for (const key of ["contact", "force", "torque", "hand"] as const) this.colors[key].set(theme[key]);
  }

  update(moment: Moment): void {
    const { contacts, arrows } = moment.frame;
    this.setScale([...contacts, ...arrows]);
    this.drawDiscs(contacts);
    this.draw(this.pushes, contacts, () => this.colors.contact);
    this.draw(this.pulls, arrows, (mark) => (mark.other === TORQUE ? this.colors.torque : mark.other === HAND ? this.colors.hand : this.colors.force));
  }

  /** The strongest arrow so far is half the size of the mechanism long, of contacts a quarter. */
  private setScale(marks: readonly Mark[]): void {
    for (const mark of marks) {
      const length = Math.hypot(...mark.vector);
      if (mark.other !== HAND && length > this.largest) this.largest = length;
    }
  }

  /** Where bodies touch: a thin disc across the normal. */
  private drawDiscs(contacts: readonly Contact[]): void {
    const [matrix, half, at] = [new Matrix4(), new Vector3(), new Vector3()];
    const r = 0.016 * this.size() * crowd(contacts.length);
    this.points.begin();
    for (const contact of contacts) {
      half.set(...contact.normal).setLength(0.002 * this.size());
      at.set(...contact.at);
      this.points.add(rodMatrix(at.clone().sub(half), at.clone().add(half), r, matrix), this.colors.contact);
    }
    this.points.end();
  }

  private draw(arrow: ReturnType<typeof makeArrow>, marks: readonly Mark[], color: (mark: Mark) => Color): void {
    const matrix = new Matrix4();
    const thick = this.size() * crowd(marks.length);
    arrow.shaft.begin();
    arrow.head.begin();
    for (const mark of marks) {
      const v = vector(mark.vector);
      const strength = v.length();
      if (!(strength > 0)) continue;
      const share = Math.min(1, strength / (this.largest || strength));
      // That of the hand is the way to it, the others are as long as they are strong.
      const length = mark.other === HAND && arrow === this.pulls ? strength : (arrow === this.pulls ? 0.5 : 0.25) * this.size() * Math.max(share, 0.04);
      const direction = v.divideScalar(strength);
      const from = vector(mark.at);
      const headLength = Math.min(0.5 * length, 0.06 * thick);
      const neck = from.clone().addScaledVector(direction, length - headLength);
      const tip = from.clone().addScaledVector(direction, length);
      arrow.shaft.add(rodMatrix(from, neck, 0.006 * thick, matrix), color(mark));
      arrow.head.add(rodMatrix(neck, tip, 0.018 * thick, matrix), color(mark));
    }
    arrow.shaft.end();
    arrow.head.end();
  }

  dispose(): void {
    this.points.dispose();
    for (const arrow of [this.pushes, this.pulls]) {
      arrow.shaft.dispose();
      arrow.head.dispose();
    }
  }
}

function makeArrow(): { shaft: Rods; head: Rods } {
  return {
    shaft: new Rods(new CylinderGeometry(1, 1, 1, 10), new MeshBasicMaterial()),
    head: new Rods(new ConeGeometry(1, 1, 16), new MeshBasicMaterial()),
  };
}

/** The frame of the selected body. */
export class Triad {
  readonly group = new Group();
  private readonly rods = new Rods(new CylinderGeometry(1, 1, 1, 10), new MeshBasicMaterial({ depthTest: false }));

  constructor(private readonly size: () => number) {
    this.rods.mesh.renderOrder = 5;
    this.group.add(this.rods.mesh);
  }

  update(pose: Float32Array | null): void {
    this.rods.begin();
    if (pose) {
      const origin = new Vector3(pose[0], pose[1], pose[2]);
      const matrix = new Matrix4();
      ["#e5484d", "#30a46c", "#3e7be0"].forEach((color, k) => {
        const axis = new Vector3().setComponent(k, 0.13 * this.size());
        axis.applyQuaternion({ x: pose[3], y: pose[4], z: pose[5], w: pose[6] });
        this.rods.add(rodMatrix(origin, axis.add(origin), 0.004 * this.size(), matrix), new Color(color));
      });
    }
    this.rods.end();
  }

  dispose(): void {
    this.rods.dispose();
  }
}
