// The page: puts the parts together, and turns what a person does into what they do.

import { Matrix4, Raycaster, Vector2, Vector3 } from "three";
import { below, buildTree } from "./data/tree";
import { Reader, Recording } from "./data/recording";
import { LiveView } from "./live/view";
import { listenToKeys } from "./keys";
import { Player, SPEEDS } from "./player";
import { dress } from "./scene/bare";
import { Hit } from "./scene/bodies";
import { motionBox, standing } from "./scene/bounds";
import { LAYERS, Layer, Mechanism } from "./scene/mechanism";
import { DARK, LIGHT } from "./scene/palette";
import { bodyMatrix } from "./scene/poses";
import { Stage } from "./scene/stage";
import { el } from "./ui/dom";
import { Help } from "./ui/help";
import { Messages } from "./ui/messages";
import { Plots } from "./ui/plots";
import { Side } from "./ui/side";
import { StoryData } from "./ui/story";
import { TensionLegend } from "./ui/tension";
import { Timeline } from "./ui/timeline";
import { Top } from "./ui/top";
import { BodyTree } from "./ui/tree";

/** Shown at first: what nearly everybody wants to see. */
const FIRST_LAYERS: readonly Layer[] = ["bodies", "lines", "loops", "contacts", "forces"];
const NARROW = 1100; // pixels of a window in which the panels would leave little of the picture

export class App {
  readonly stage: Stage;
  readonly player = new Player();
  readonly messages = new Messages();
  readonly plots: Plots;
  readonly help = new Help();
  readonly top: Top;
  readonly timeline: Timeline;
  readonly side: Side;
  recording: Recording | null = null;
  live: LiveView | null = null;
  selected = -1;
  isolated = -1;
  framesDrawn = 0;
  private readonly tree: BodyTree;
  private readonly legend = new TensionLegend();
  private readonly canvas = el("canvas", { id: "stage", tabindex: "0", "aria-label": "The mechanism" });
  private readonly drop = el("div", { class: "drop", id: "drop" }, el("div", {}, el("b", {}, "Open a recording"), el("span", {}, "Drop a .snr file here, or choose one with the folder above.")));
  private mechanism: Mechanism | null = null;
  private visible: boolean[] = [];
  private readonly layers = new Set<Layer>(FIRST_LAYERS);
  private dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  private stale = true;
  private last = 0;

  constructor(readonly root: HTMLElement, readonly story: StoryData | null) {
    this.plots = new Plots({ seek: (t) => this.seek(t) });
    this.tree = new BodyTree({ select: (k) => this.select(k), isolate: (k) => this.isolate(k) });
    this.side = new Side(this.plots, story);
    this.top = new Top({
      layer: (layer) => this.toggleLayer(layer),
      fit: () => this.stage.look("start"),
      theme: () => this.toggleTheme(),
      help: () => this.help.toggle(),
      openFile: (file) => void this.openFile(file),
      gallery: () => this.live?.gallery.show(true),
      panel: (which) => this.togglePanel(which),
    });
    this.timeline = new Timeline({
      toggle: () => this.toggle(),
      hop: (n) => this.hop(n),
      seek: (t) => this.seek(t),
      speed: (value) => this.setSpeed(value),
      loop: () => this.toggleLoop(),
      reset: () => this.live?.send({ do: "reset" }),
      live: () => this.follow(),
    });
    root.append(this.canvas, this.drop, this.top.element, this.tree.element, this.side.element, this.legend.element, this.timeline.element, this.messages.element, this.help.element);
    this.stage = new Stage(this.canvas);
    this.setTheme(this.dark);
    for (const layer of LAYERS) this.top.setLayer(layer, this.layers.has(layer));
    root.classList.toggle("no-tree", window.innerWidth < NARROW);
    root.classList.toggle("no-side", window.innerWidth < NARROW && !story);
    this.listen();
    this.resize();
    requestAnimationFrame((now) => this.loop(now));
  }

  // ---- what is shown ----

  async openFile(file: File): Promise<void> {
    try {
      this.openBytes(await file.arrayBuffer());
    } catch (error) {
      this.messages.show("file", "error", `${file.name} cannot be shown`, [{ text: (error as Error).message }]);
    }
  }

  /** All bytes of a file. */
  openBytes(bytes: ArrayBuffer): void {
    const reader = new Reader();
    reader.push(bytes);
    this.open(reader.recording!, false);
    this.messages.clear("file");
    const { damage, notes } = reader.recording!;
    if (damage) this.messages.show("file", "warning", "The rest of the recording is missing", [{ text: damage }], 8);
    const trouble = notes.filter((note) => note.level === "error");
    if (trouble.length > 0) this.messages.show("notes", "error", "The run met trouble", trouble.map(({ text }) => ({ text })));
  }

  /** keepCamera: the same scene came again. */
  open(recording: Recording, live: boolean, keepCamera = false): void {
    const { header } = recording;
    const keep = this.recording ? this.plots.names() : [];
    const selected = keepCamera && this.selected >= 0 ? this.recording?.header.bodies[this.selected]?.name : undefined;
    const isolated = keepCamera && this.isolated >= 0 ? this.recording?.header.bodies[this.isolated]?.name : undefined;
    this.mechanism?.dispose();
    this.recording = recording;
    this.root.classList.add("has-recording");
    this.root.classList.toggle("is-live", live);
    dress(recording);
    const tree = buildTree(header.bodies);
    this.mechanism = new Mechanism(recording, tree, () => this.stage.size);
    this.stage.root.add(this.mechanism.group);
    this.stage.setUp(header.up);
    this.resize();
    this.measure(!keepCamera);
    this.mechanism.setTheme(this.dark ? DARK : LIGHT);
    for (const layer of LAYERS) this.mechanism.setLayer(layer, this.layers.has(layer));
    this.player.open(recording, live);
    this.tree.open(header.bodies, tree);
    this.plots.open(recording, keep);
    this.timeline.open(live, header.every);
    this.legend.element.hidden = header.lines.length === 0;
    this.top.setTitle(header.scene.replace(/\.ya?ml$/, "") || "Sinew", describe(recording));
    this.selected = this.isolated = -1;
    this.showAll();
    const find = (name: string | undefined): number => header.bodies.findIndex((body) => body.name === name);
    if (isolated) this.isolate(find(isolated));
    if (selected) this.select(find(selected));
    if (this.selected < 0) this.live?.selected("");
    this.stale = true;
  }

  /** Size of the mechanism: from all frames, or from the first that has come. */
  measure(moveCamera: boolean): void {
    const r = this.recording;
    if (r) this.stage.fit(motionBox(r), standing(r, buildTree(r.header.bodies).still), moveCamera);
  }

  /** Live: frames have come. */
  grown(): void {
    this.stale = true;
    this.plots.grow();
  }

  select(body: number): void {
    if (body === this.selected) return;
    this.selected = body;
    this.mechanism?.select(body);
    this.tree.mark(body, this.isolated);
    const name = body >= 0 ? this.recording!.header.bodies[body].name : "";
    this.plots.suggest(name);
    this.live?.selected(name);
    this.stale = true;
  }

  /** The body and what hangs on it, nothing else; once more: everything. */
  isolate(body: number): void {
    if (body < 0 || body === this.isolated) return this.showAll();
    this.isolated = body;
    const set = below(this.recording!.header.bodies, body);
    this.setVisible(this.recording!.header.bodies.map((_, k) => set.has(k)));
  }

  showAll(): void {
    this.isolated = -1;
    this.setVisible(this.recording?.header.bodies.map(() => true) ?? []);
  }

  isVisible(body: number): boolean {
    return this.visible[body] ?? false;
  }

  private setVisible(visible: boolean[]): void {
    this.visible = visible;
    this.mechanism?.show(visible);
    this.tree.mark(this.selected, this.isolated);
    this.stale = true;
  }

  toggleLayer(layer: Layer): void {
    if (!this.layers.delete(layer)) this.layers.add(layer);
    this.top.setLayer(layer, this.layers.has(layer));
    this.mechanism?.setLayer(layer, this.layers.has(layer));
    this.stale = true;
  }

  toggleTheme(): void {
    this.setTheme(!this.dark);
  }

  private setTheme(dark: boolean): void {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.stage.setTheme(dark ? DARK : LIGHT);
    this.mechanism?.setTheme(dark ? DARK : LIGHT);
    this.plots.rebuild();
    this.stale = true;
  }

  togglePanel(which: "tree" | "side"): void {
    this.root.classList.toggle(`no-${which}`);
    this.resize();
  }

  // ---- time ----

  toggle(): void {
    if (this.live) {
      if (!this.player.following) return this.follow();
      this.live.toggle();
    } else this.player.toggle();
    this.stale = true;
  }

  hop(frames: number): void {
    if (this.live && this.player.following && frames > 0) return this.live.send({ do: "step", count: frames });
    this.player.following = false;
    this.player.hop(frames);
    this.stale = true;
  }

  seek(time: number): void {
    this.player.following = false;
    this.player.seek(time);
    this.stale = true;
  }

  follow(): void {
    this.player.following = this.live !== null;
    this.stale = true;
  }

  setSpeed(value: number): void {
    this.player.speed = value;
    this.live?.send({ do: "speed", value });
    this.stale = true;
  }

  /** Slower (-1) or faster (1). */
  shiftSpeed(by: number): void {
    const k = SPEEDS.findIndex((s) => s >= this.player.speed);
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, k + by))]);
  }

  toggleLoop(): void {
    this.player.loop = !this.player.loop;
    this.stale = true;
  }

  // ---- the loop of pictures ----

  private loop(now: number): void {
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.player.tick(seconds) && (this.stale = true);
    if (this.stale) this.refresh();
    if (this.stage.render()) this.framesDrawn++;
    this.live?.drawn();
    requestAnimationFrame((t) => this.loop(t));
  }

  private refresh(): void {
    this.stale = false;
    const r = this.recording;
    const moment = this.player.moment();
    if (!r || !moment || !this.mechanism) return;
    this.mechanism.update(moment);
    this.plots.update(moment.time);
    this.legend.update(this.mechanism.lines.largest);
    this.timeline.update(this.player, r.start, r.end, this.live ? this.live.playing : this.player.playing, this.live?.ratio ?? NaN);
    this.stage.request();
  }

  /** Something beside the picture has changed. */
  touch(): void {
    this.stale = true;
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    const part = (node: HTMLElement, side: "width" | "height"): number => (node.offsetParent ? node.getBoundingClientRect()[side] : 0);
    this.stage.resize(width, height, {
      left: part(this.tree.element, "width"),
      right: part(this.side.element, "width"),
      top: part(this.top.element, "height"),
      bottom: part(this.timeline.element, "height"),
    });
  }

  // ---- mouse, keys, files ----

  private ray(event: { clientX: number; clientY: number }): Vector2 {
    const box = this.canvas.getBoundingClientRect();
    return new Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
  }

  pick(event: { clientX: number; clientY: number }): Hit | null {
    const ray = new Raycaster();
    ray.setFromCamera(this.ray(event), this.stage.camera);
    return this.mechanism?.pick(ray) ?? null;
  }

  private listen(): void {
    const { canvas } = this;
    let down: PointerEvent | null = null;
    // Before the camera's own listeners, which would turn the view while a body is pulled.
    canvas.addEventListener("pointerdown", (event) => {
      down = event;
      const hit = event.button === 0 && this.live?.driving && this.player.following ? this.pick(event) : null;
      if (hit) this.grab(event, hit);
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => this.live?.drag(event.pointerId, this.ray(event)));
    canvas.addEventListener("pointerup", (event) => {
      this.live?.release(event.pointerId);
      this.stage.controls.enabled = true;
      if (down && event.button === 0 && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) this.select(this.pick(event)?.body ?? -1);
    });
    canvas.addEventListener("pointercancel", (event) => {
      this.live?.release(event.pointerId);
      this.stage.controls.enabled = true;
    });
    canvas.addEventListener("dblclick", (event) => {
      const hit = this.pick(event);
      if (hit) this.isolate(hit.body);
    });
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
    new ResizeObserver(() => this.resize()).observe(this.root);
    listenToKeys(this);
  }

  private grab(event: PointerEvent, hit: Hit): void {
    const moment = this.player.moment();
    if (!moment) return;
    this.stage.controls.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
    const body = this.recording!.header.bodies[hit.body];
    const matrix = bodyMatrix(moment.poses, hit.body, new Matrix4());
    this.live!.grab(event.pointerId, hit, body.name, matrix);
  }

  // ---- for tests ----

  /** All that a picture of a moment takes, at once. */
  picture(time: number): void {
    this.seek(time);
    this.refresh();
    this.stage.render();
  }

  /** Where the origin of a body is in the window. */
  projected(body: number): { x: number; y: number; depth: number } | null {
    const poses = this.player.moment()?.poses;
    if (!poses || body < 0) return null;
    return this.stage.project(new Vector3(poses[7 * body], poses[7 * body + 1], poses[7 * body + 2]));
  }
}

function describe(recording: Recording): string {
  const { header } = recording;
  const dofs = header.bodies.reduce((sum, body) => sum + body.joint.dofs, 0);
  const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;
  return `${count(header.bodies.length, "body", "bodies")} · ${count(dofs, "degree", "degrees")} of freedom · ${header.method}, ${header.step} s`;
}
