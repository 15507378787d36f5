// The live view's controls: method, step and a slider for each parameter.

import { Parameter, SceneInfo } from "../live/protocol";
import { el, short } from "./dom";
import { SliderSpec } from "./story";

export interface ControlEvents {
  method(name: string): void;
  stepSize(value: number): void;
  set(path: string, value: number): void;
  drive(): void;
}

const STEPS = 1000;
const SHOWN = 60;

/** Between the slider's whole numbers and the parameter, evenly or by factors. */
export class Scale {
  constructor(readonly min: number, readonly max: number, readonly log: boolean) {}

  value(position: number): number {
    const s = position / STEPS;
    if (this.log) return Number((this.min * (this.max / this.min) ** s).toPrecision(3));
    return Number((this.min + s * (this.max - this.min)).toPrecision(4));
  }
  position(value: number): number {
    const s = this.log ? Math.log(value / this.min) / Math.log(this.max / this.min) : (value - this.min) / (this.max - this.min);
    return Math.round(STEPS * Math.min(1, Math.max(0, Number.isFinite(s) ? s : 0)));
  }
}

interface Slider {
  range: HTMLInputElement;
  number: HTMLInputElement;
  scale: Scale;
}

export class Controls {
  readonly element: HTMLElement;
  private readonly method = el("select", { class: "field", id: "method", "aria-label": "Method" });
  private readonly step = el("input", { class: "field", id: "step-size", "aria-label": "Step", inputmode: "decimal" });
  private readonly solver = el("p", { class: "faint" });
  private readonly filter = el("input", { class: "field", type: "search", placeholder: "Filter parameters", "aria-label": "Filter parameters" });
  private readonly list = el("div", { class: "sliders", id: "sliders" });
  /** The sliders that the story asks for: they stand above it. */
  readonly top = el("div", { class: "panel-part pinned-sliders", hidden: true });
  private readonly driving = el("div", { class: "watching", hidden: true });
  private parameters: Parameter[] = [];
  private more = 0;
  private readonly sliders = new Map<string, Slider[]>();

  constructor(private readonly events: ControlEvents, private readonly pinned: readonly SliderSpec[]) {
    this.method.addEventListener("change", () => events.method(this.method.value));
    this.step.addEventListener("change", () => Number(this.step.value) > 0 && events.stepSize(Number(this.step.value)));
    this.filter.addEventListener("input", () => this.draw());
    this.driving.append(el("span", {}, "Another page drives."), el("button", { class: "pill", type: "button", id: "drive", onclick: () => events.drive() }, "Take the wheel"));
    this.element = el(
      "section",
      { class: "panel-part", id: "controls" },
      this.driving,
      el("div", { class: "pair" }, el("label", {}, "Method", this.method), el("label", {}, "Step, s", this.step)),
      this.solver,
      this.filter,
      this.list,
    );
  }

  setMethods(names: readonly string[]): void {
    this.method.replaceChildren(...names.map((name) => el("option", { value: name }, name)));
  }

  setScene(scene: SceneInfo): void {
    this.method.value = scene.method;
    this.step.value = String(scene.step);
    this.solver.textContent = scene.solver;
  }

  setRole(driver: boolean): void {
    this.driving.hidden = driver;
    for (const part of [this.element, this.top]) part.classList.toggle("locked", !driver);
  }

  setParameters(list: Parameter[], more: number): void {
    this.parameters = list;
    this.more = more;
    this.draw();
  }

  setValue(path: string, value: number): void {
    for (const p of this.parameters) if (p.path === path) p.value = value;
    for (const slider of this.sliders.get(path) ?? []) show(slider, value);
  }

  private draw(): void {
    this.sliders.clear();
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.parameters.filter((p) => words.every((word) => p.path.toLowerCase().includes(word)) && !this.pinned.some((s) => s.path === p.path));
    const rows = found.slice(0, SHOWN).map((p) => this.makeSlider(p));
    const rest = found.length - rows.length + this.more;
    this.top.hidden = this.pinned.length === 0;
    this.top.replaceChildren(...this.pinned.map((s) => this.makePinned(s)));
    this.list.replaceChildren(
      ...rows,
      ...(rest > 0 ? [el("p", { class: "faint" }, `and ${rest} more; all can be set by 'sinew view --set'`)] : []),
    );
  }

  /** A slider that the page's story asks for: its own words and range, the server's value. */
  private makePinned(spec: SliderSpec): HTMLElement {
    const known = this.parameters.find((p) => p.path === spec.path);
    const value = known?.value ?? spec.value ?? spec.min;
    return this.makeSlider({ path: spec.path, value, min: spec.min, max: spec.max, scale: spec.scale, unit: spec.unit ?? "", doc: spec.label }, spec.label);
  }

  private makeSlider(p: Parameter, label?: string): HTMLElement {
    const scale = new Scale(p.min, p.max, p.scale === "log" && p.min > 0);
    const range = el("input", { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": p.path, "data-path": p.path });
    const number = el("input", { class: "field", inputmode: "decimal", "aria-label": `${p.path}, value` });
    const slider = { range, number, scale };
    range.addEventListener("input", () => this.change(p.path, scale.value(Number(range.value))));
    number.addEventListener("change", () => Number.isFinite(Number(number.value)) && this.change(p.path, Number(number.value)));
    show(slider, p.value);
    this.sliders.set(p.path, [...(this.sliders.get(p.path) ?? []), slider]);
    return el(
      "div",
      { class: `slider${label ? " pinned" : ""}`, title: p.doc },
      el("div", { class: "slider-head" }, el("span", { class: "slider-name" }, label ?? p.path), number, el("span", { class: "unit" }, p.unit)),
      range,
    );
  }

  private change(path: string, value: number): void {
    this.setValue(path, value);
    this.events.set(path, value);
  }
}

function show(slider: Slider, value: number): void {
  slider.range.value = String(slider.scale.position(value));
  slider.range.style.setProperty("--share", `${Number(slider.range.value) / (STEPS / 100)}%`);
  if (document.activeElement !== slider.number) slider.number.value = short(value);
}
