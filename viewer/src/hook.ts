// What tests ask the page: where bodies are in the window, which moment is shown, what is visible.

import type { App } from "./app";

export interface Hook {
  ready: boolean;
  readonly frames: number;
  readonly drawn: number;
  time(): number;
  index(): number;
  seek(time: number): void;
  projected(body: string): { x: number; y: number; depth: number } | null;
  visible(body: string): boolean;
  selected(): string | null;
  plots(): { charts: number; points: number };
  /** Of the camera, in columns, in a world whose y is up. */
  camera(): { view: number[]; projection: number[]; width: number; height: number };
  status(): unknown;
  /** Milliseconds of script a picture, the mean of so many: everything but what WebGL does with what it is told. */
  cost(pictures: number): number;
  /** Calls of WebGL that draw, in the last picture, shadows not counted. */
  draws(): number;
}

/** What moves data or draws. Without a graphics card the script waits in these. */
const GL_WORK = ["bufferData", "bufferSubData", "clear", "drawArrays", "drawArraysInstanced", "drawElements", "drawElementsInstanced"];

function scriptCost(app: App, pictures: number): number {
  const gl = app.stage.renderer.getContext() as unknown as Record<string, unknown>;
  const { start, end } = app.recording!;
  for (const name of GL_WORK) gl[name] = () => undefined;
  try {
    const begin = performance.now();
    for (let k = 0; k < pictures; k++) app.picture(start + ((end - start) * k) / pictures);
    return (performance.now() - begin) / pictures;
  } finally {
    for (const name of GL_WORK) delete gl[name]; // what hid the prototype's
  }
}

export function makeHook(app: App): Hook {
  const bodies = () => app.recording?.header.bodies ?? [];
  const find = (name: string): number => bodies().findIndex((body) => body.name === name);
  return {
    ready: true,
    get frames() {
      return app.recording?.count ?? 0;
    },
    get drawn() {
      return app.framesDrawn;
    },
    time: () => app.player.time,
    index: () => app.player.moment()?.index ?? -1,
    seek: (time) => app.seek(time),
    projected: (body) => app.projected(find(body)),
    visible: (body) => app.isVisible(find(body)),
    selected: () => bodies()[app.selected]?.name ?? null,
    plots: () => app.plots.state(),
    camera: () => {
      const { stage } = app;
      stage.camera.updateMatrixWorld();
      return {
        view: stage.camera.matrixWorldInverse.toArray(),
        projection: stage.camera.projectionMatrix.toArray(),
        width: app.root.clientWidth,
        height: app.root.clientHeight,
      };
    },
    status: () => app.live?.status ?? null,
    cost: (pictures) => scriptCost(app, pictures),
    draws: () => app.stage.renderer.info.render.calls,
  };
}
