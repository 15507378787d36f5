// Springs and cables, coloured by their tension.

import { Color, CylinderGeometry, Group, Matrix4, MeshStandardMaterial, Vector3 } from "three";
import { Line } from "../data/format";
import { Recording } from "../data/recording";
import { Theme, tensionColor } from "./palette";
import { Moment, bodyPoint, rodMatrix } from "./poses";
import { Rods } from "./rods";

const SAMPLES = 60;

/** The tension that gets the strongest colour: nearly the largest of some frames, for one may be an outlier. */
export function largestTension(recording: Recording): number {
  const seen: number[] = [];
  const n = Math.min(SAMPLES, recording.count);
  for (let k = 0; k < n; k++) {
    let most = 0;
    for (const t of recording.frame(Math.round((k * (recording.count - 1)) / Math.max(1, n - 1))).tensions) {
      if (Math.abs(t) > most) most = Math.abs(t);
    }
    seen.push(most);
  }
  seen.sort((a, b) => a - b);
  return seen[Math.floor(0.9 * (seen.length - 1))] ?? 0;
}

export class Lines {
  readonly group = new Group();
  /** Of the strongest colour; grows with what is seen. */
  largest = 0;
  private readonly rods = new Rods(new CylinderGeometry(1, 1, 1, 10), new MeshStandardMaterial({ roughness: 0.5 }));
  private slack = new Color();
  private shown: boolean[] = [];

  constructor(private readonly lines: readonly Line[], private readonly radius: () => number) {
    this.rods.mesh.castShadow = true;
    this.group.add(this.rods.mesh);
  }

  setTheme(theme: Theme): void {
    this.slack.set(theme.slack);
  }

  /** By body: a line is shown if all bodies that it touches are. */
  show(visible: boolean[]): void {
    this.shown = visible;
  }

  update(moment: Moment): void {
    const a = new Vector3();
    const b = new Vector3();
    const matrix = new Matrix4();
    const color = new Color();
    const { tensions } = moment.frame;
    for (const t of tensions) if (Math.abs(t) > this.largest) this.largest += 0.02 * (Math.abs(t) - this.largest);
    this.rods.begin();
    this.lines.forEach((line, k) => {
      const tension = tensions[k];
      if (Number.isNaN(tension) || line.points.some((p) => p.body >= 0 && this.shown[p.body] === false)) return;
      const isSlack = line.tension_only && tension <= 0;
      tensionColor(this.largest > 0 ? tension / this.largest : 0, this.slack, color);
      for (let i = 1; i < line.points.length; i++) {
        bodyPoint(moment.poses, line.points[i - 1].body, line.points[i - 1].at, a);
        bodyPoint(moment.poses, line.points[i].body, line.points[i].at, b);
        this.rods.add(rodMatrix(a, b, this.radius() * (isSlack ? 0.55 : 1), matrix), color);
      }
    });
    this.rods.end();
  }

  dispose(): void {
    this.rods.dispose();
  }
}
