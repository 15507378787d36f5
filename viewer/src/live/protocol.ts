// What page and server say to each other, as docs/live.md describes it.

import { Problem } from "../ui/messages";

export interface Parameter {
  path: string;
  /** null: infinite */
  value: number | null;
  min: number;
  max: number;
  scale: "linear" | "log";
  /** By factors, and 0 at the left end. */
  zero?: boolean;
  unit: string;
  doc: string;
}

/** Words that are in the path; all: also those that do nothing as they stand; from which of them on. */
export interface ParameterQuery {
  filter: string;
  all: 0 | 1;
  first: number;
}

/** The answer to a query; as news, when values have changed, to the query for "", 0, 0. */
export interface ParametersMessage {
  type: "parameters";
  filter: string;
  all: boolean;
  first: number;
  list: Parameter[];
  /** How many fit, and how many there are. */
  total: number;
  every: number;
}

export interface SceneInfo {
  name: string;
  file: string;
  method: string;
  step: number;
  solver: string;
  duration: number | null;
  reason: "open" | "reload" | "reset" | "method" | "step";
  keep_camera: boolean;
}

export interface Status {
  t: number;
  playing: boolean;
  speed: number;
  ratio: number;
  steps: number;
  stopped: boolean;
  pages: number;
  energy: { T: number; V: number };
  gap: number;
}

export interface GalleryScene {
  name: string;
  title: string;
  /** There is a picture of it. */
  still?: boolean;
  file: string;
}

export type FromServer =
  | { type: "hello"; protocol: number; sinew: string; methods: string[]; window: number; page: number }
  | { type: "role"; role: "driver" | "watcher"; pages: number; driver: number }
  | { type: "gallery"; scenes: GalleryScene[] }
  | ({ type: "scene" } & SceneInfo)
  | ParametersMessage
  | { type: "parameter"; path: string; value: number }
  | ({ type: "status" } & Status)
  | { type: "error"; kind: "scene" | "simulation" | "request"; problems: Problem[]; do?: string }
  | { type: "still"; scene: string; png: string }
  | { type: "good" };

export type Vec = [number, number, number];

export type ToServer =
  | { do: "ack"; count: number }
  | { do: "pause" | "play" | "reset" | "release" }
  | { do: "step"; count?: number }
  | { do: "speed" | "step_size"; value: number }
  | { do: "method"; value: string }
  | { do: "set"; path: string; value: number }
  | ({ do: "parameters" } & ParameterQuery)
  | { do: "grab"; body: string; point: Vec; at: Vec }
  | { do: "drag"; at: Vec }
  | { do: "open" | "still"; scene: string }
  | { do: "role"; value: "driver" | "watcher" };

/** The stream that belongs to the page's address; null: it is no live page. */
export function streamAddress(location: { protocol: string; host: string; pathname: string }): string | null {
  const token = /^\/([0-9a-f]{32})\//.exec(location.pathname);
  if (!token || !/^https?:$/.test(location.protocol)) return null;
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${token[1]}/live`;
}
