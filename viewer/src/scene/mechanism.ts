// Everything of one recording that is seen on the stage.

import { Group, Raycaster } from "three";
import { Recording } from "../data/recording";
import { Tree } from "../data/tree";
import { Arrows, Triad } from "./arrows";
import { Bodies, Hit } from "./bodies";
import { Joints } from "./joints";
import { Lines, largestTension } from "./lines";
import { Theme } from "./palette";
import { Moment } from "./poses";
import { Soft } from "./soft";
import { Trails, tips } from "./trails";

export const LAYERS = ["bodies", "lines", "axes", "loops", "contacts", "forces", "trails"] as const;
export type Layer = (typeof LAYERS)[number];

/** Seconds that a trail stays. */
const TRAIL = 3;

export class Mechanism {
  readonly group = new Group();
  readonly bodies: Bodies;
  readonly lines: Lines;
  private readonly joints: Joints;
  private readonly arrows: Arrows;
  private readonly trails: Trails;
  private readonly triad: Triad;
  private readonly soft: Soft;
  private selected = -1;

  constructor(private readonly recording: Recording, private readonly tree: Tree, size: () => number) {
    this.bodies = new Bodies(recording, tree);
    this.lines = new Lines(recording.header.lines, () => 0.0035 * size());
    this.lines.largest = largestTension(recording);
    this.joints = new Joints(recording.header, size);
    this.arrows = new Arrows(size);
    this.trails = new Trails(recording, tree);
    this.triad = new Triad(size);
    this.soft = new Soft(recording);
    this.group.add(
      this.bodies.group, this.soft.group, this.lines.group, this.joints.axes, this.joints.links,
      this.arrows.contacts, this.arrows.forces, this.trails.group, this.triad.group,
    );
    this.trails.follow(tips(recording.header.bodies, tree));
  }

  setTheme(theme: Theme): void {
    for (const part of [this.bodies, this.lines, this.joints, this.arrows]) part.setTheme(theme);
  }

  setLayer(layer: Layer, on: boolean): void {
    const groups: Record<Layer, Group[]> = {
      bodies: [this.bodies.group, this.soft.group],
      lines: [this.lines.group],
      axes: [this.joints.axes],
      loops: [this.joints.links],
      contacts: [this.arrows.contacts],
      forces: [this.arrows.forces],
      trails: [this.trails.group],
    };
    for (const group of groups[layer]) group.visible = on;
  }

  /** By body. */
  show(visible: boolean[]): void {
    for (const part of [this.bodies, this.lines, this.joints]) part.show(visible);
  }

  select(body: number): void {
    this.selected = body;
    this.bodies.select(body);
    this.trails.follow(body >= 0 ? [body] : tips(this.recording.header.bodies, this.tree));
  }

  update(moment: Moment): void {
    this.bodies.update(moment.poses);
    this.soft.update(moment.frame);
    this.lines.update(moment);
    this.joints.update(moment);
    this.arrows.update(moment);
    this.trails.update(moment.index, TRAIL);
    const k = 7 * this.selected;
    this.triad.update(this.selected >= 0 ? moment.poses.subarray(k, k + 7) : null);
  }

  pick(ray: Raycaster): Hit | null {
    return this.bodies.group.visible ? this.bodies.pick(ray) : null;
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const part of [this.bodies, this.lines, this.joints, this.arrows, this.trails, this.triad, this.soft]) part.dispose();
  }
}
