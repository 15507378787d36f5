// Colours: themes, branches of bodies, tension.

import { Color } from "three";
import { STILL, Tree } from "../data/tree";

export interface Theme {
  sky: string;
  /** Planes without a colour of their own: where things stand. */
  floor: string;
  horizon: string;
  grid: string;
  gridStrength: number;
  shadow: number;
  ambient: number;
  key: number;
  accent: string;
  slack: string;
  axis: string;
  loop: string;
  contact: string;
  force: string;
  torque: string;
  hand: string;
}

export const LIGHT: Theme = {
  sky: "#eef1f5",
  floor: "#d3dae3",
  horizon: "#fafbfc",
  grid: "#5a6b80",
  gridStrength: 0.3,
  shadow: 0.26,
  ambient: 1.35,
  key: 2.1,
  accent: "#ff7a1a",
  slack: "#a9b4c2",
  axis: "#2f3b4a",
  loop: "#c2387f",
  contact: "#d9304f",
  force: "#d9304f",
  torque: "#7a4fd0",
  hand: "#ff7a1a",
};

export const DARK: Theme = {
  sky: "#12161c",
  floor: "#262d37",
  horizon: "#1c222b",
  grid: "#93a7c2",
  gridStrength: 0.2,
  shadow: 0.5,
  ambient: 1.25,
  key: 2.3,
  accent: "#ffab52",
  slack: "#5f6b7b",
  axis: "#d7e0ec",
  loop: "#ff7fbf",
  contact: "#ff6b81",
  force: "#ff6b81",
  torque: "#b79bff",
  hand: "#ffab52",
};

/** Told apart by most eyes, on light and on dark ground. */
const BRANCHES = [
  "#4f7fc4", "#e2735a", "#38a08f", "#dda339", "#8b74c8",
  "#cc6290", "#79a84e", "#4aa3cf", "#a97f58", "#7f8a99",
];

const HUE_DRIFT = 0.17;
const HUES = 8;
const GROUND = "#98a2af";

/** By branch, as src/io/colors.c has it. Along a long one the hue changes slowly; neighbours differ a little, so that links can be counted. */
export function bodyColor(tree: Tree, body: number, out: Color): Color {
  const branch = tree.branch[body];
  if (branch === STILL) return out.set(GROUND);
  const along = tree.along[body];
  const step = tree.span[body] > 4 ? Math.floor((HUES * along) / tree.span[body]) : 0;
  const drift = (HUE_DRIFT * step) / HUES;
  return out.set(BRANCHES[branch % BRANCHES.length]).offsetHSL(-drift, 0, along % 2 === 0 ? 0.025 : -0.03);
}

const PUSH = new Color("#2f6fd6");
const PULL = [new Color("#e9b949"), new Color("#ee7d32"), new Color("#d22f3f")];

/** share: tension over the largest one, -1 to 1; 0 is slack. */
export function tensionColor(share: number, slack: Color, out: Color): Color {
  if (share < 0) return out.copy(slack).lerp(PUSH, Math.min(1, 0.25 - share));
  if (share < 0.02) return out.copy(slack).lerp(PULL[0], share / 0.02);
  const x = Math.min(1, share) * (PULL.length - 1);
  const k = Math.min(PULL.length - 2, Math.floor(x));
  return out.copy(PULL[k]).lerp(PULL[k + 1], x - k);
}

/** For the legend, from left to right. */
export const TENSION_STOPS = ["#e9b949", "#ee7d32", "#d22f3f"];

/** Lines of plots. */
export function seriesColor(k: number): string {
  return BRANCHES[k % BRANCHES.length];
}
