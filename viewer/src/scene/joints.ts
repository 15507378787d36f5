// Axes of the joints, and the loops and constraints that join bodies besides the tree.

import { Color, CylinderGeometry, Group, Matrix4, MeshBasicMaterial, SphereGeometry, Vector3 } from "three";
import { Header } from "../data/format";
import { Theme } from "./palette";
import { Moment, bodyPoint, rodMatrix, vector } from "./poses";
import { Rods } from "./rods";

export class Joints {
  readonly axes = new Group();
  readonly links = new Group();
  private readonly rods = new Rods(new CylinderGeometry(1, 1, 1, 10), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.85 }));
  private readonly balls = new Rods(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.85 }));
  private readonly gaps = new Rods(new CylinderGeometry(1, 1, 1, 8), new MeshBasicMaterial({ depthTest: false }));
  private readonly ends = new Rods(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ depthTest: false }));
  private readonly colors = { axis: new Color(), loop: new Color() };
  private shown: boolean[] = [];
  private shrink: number[] = [];

  constructor(private readonly header: Header, private readonly size: () => number) {
    for (const rods of [this.rods, this.balls, this.gaps, this.ends]) rods.mesh.renderOrder = 4;
    this.axes.add(this.rods.mesh, this.balls.mesh);
    this.links.add(this.gaps.mesh, this.ends.mesh);
  }

  setTheme(theme: Theme): void {
    this.colors.axis.set(theme.axis);
    this.colors.loop.set(theme.loop);
  }

  show(visible: boolean[]): void {
    this.shown = visible;
  }

  update(moment: Moment): void {
    if (this.axes.visible) this.updateAxes(moment);
    if (this.links.visible) this.updateLinks(moment);
  }

  /** Small where there are many. */
  private markSize(): number {
    return this.size() * Math.min(1, 6 / Math.sqrt(36 + this.header.bodies.length));
  }

  /** Where links are short, so are the marks of their joints. */
  private setShrink(): void {
    const most = 0.09 * this.markSize();
    this.shrink = this.header.bodies.map(({ joint, parent }) => {
      const length = Math.hypot(joint.at[0], joint.at[1], joint.at[2]);
      return parent >= 0 && length > 0 ? Math.min(1, (0.7 * length) / most) : 1;
    });
  }

  private updateAxes(moment: Moment): void {
    this.setShrink();
    const matrix = new Matrix4();
    const half = 0.09 * this.markSize();
    const r = 0.006 * this.markSize();
    this.rods.begin();
    this.balls.begin();
    this.header.bodies.forEach((body, k) => {
      if (this.shown[k] === false) return;
      const origin = bodyPoint(moment.poses, k, [0, 0, 0], new Vector3());
      const shrink = this.shrink[k];
      for (const axis of body.joint.axes) {
        const direction = axis.turn ?? axis.slide;
        if (!direction) continue;
        const a = bodyPoint(moment.poses, k, vector(direction).multiplyScalar(-half * shrink).toArray(), new Vector3());
        const b = bodyPoint(moment.poses, k, vector(direction).multiplyScalar(half * shrink).toArray(), new Vector3());
        this.rods.add(rodMatrix(a, b, r * shrink, matrix), this.colors.axis);
      }
      if (body.joint.dofs > 0 && body.joint.dofs < 6) {
        const s = (body.joint.axes.length === 0 ? 3 : 2) * r * shrink;
        this.balls.add(matrix.makeScale(s, s, s).setPosition(origin), this.colors.axis);
      }
    });
    this.rods.end();
    this.balls.end();
  }

  /** A ball at each end; the line between shows a loop that gapes, or a rod. */
  private updateLinks(moment: Moment): void {
    const matrix = new Matrix4();
    const r = 0.014 * this.markSize();
    this.gaps.begin();
    this.ends.begin();
    for (const [number, link] of [...this.header.loops, ...this.header.constraints].entries()) {
      if (moment.frame.off.has(number) || [link.a.body, link.b.body].some((k) => this.shown[k] === false)) continue;
      const a = bodyPoint(moment.poses, link.a.body, link.a.at, new Vector3());
      const b = bodyPoint(moment.poses, link.b.body, link.b.at, new Vector3());
      for (const p of [a, b]) this.ends.add(matrix.makeScale(r, r, r).setPosition(p), this.colors.loop);
      this.gaps.add(rodMatrix(a, b, 0.35 * r, matrix), this.colors.loop);
    }
    this.gaps.end();
    this.ends.end();
  }

  dispose(): void {
    for (const rods of [this.rods, this.balls, this.gaps, this.ends]) rods.dispose();
  }
}
