// The live view's controls: method, step, parameters.

import { ParametersMessage, SceneInfo } from "../live/protocol";
import { el } from "./dom";
import { ParameterEvents, ParameterList, numberOf, scaleOf } from "./parameters";
import { Slider } from "./slider";
import { SliderSpec } from "./story";

export interface ControlEvents extends ParameterEvents {
  method(name: string): void;
  stepSize(value: number): void;
  drive(): void;
}

export class Controls {
  readonly element: HTMLElement;
  readonly parameters: ParameterList;
  /** The sliders that the story asks for: they stand above it. */
  readonly top = el("div", { class: "panel-part pinned-sliders", hidden: true });
  private readonly method = el("select", { class: "field", id: "method", "aria-label": "Method" });
  private readonly step = el("input", { class: "field", id: "step-size", "aria-label": "Step", inputmode: "decimal" });
  private readonly solver = el("p", { class: "faint" });
  private readonly driving = el("div", { class: "watching", hidden: true });
  private readonly pinned = new Map<string, Slider>();

  constructor(private readonly events: ControlEvents, specs: readonly SliderSpec[]) {
    this.method.addEventListener("change", () => events.method(this.method.value));
    this.step.addEventListener("change", () => Number(this.step.value) > 0 && events.stepSize(Number(this.step.value)));
    this.driving.append(el("span", {}, "Another page drives."), el("button", { class: "pill", type: "button", id: "drive", onclick: () => events.drive() }, "Take the wheel"));
    this.parameters = new ParameterList({ ask: events.ask, set: (path, value) => this.change(path, value) });
    this.element = el(
      "div",
      { id: "controls" },
      el(
        "section",
        { class: "panel-part" },
        el("header", {}, el("h2", {}, "Simulation")),
        this.driving,
        el("div", { class: "pair" }, el("label", {}, "Method", this.method), el("label", {}, "Step, s", this.step)),
        this.solver,
      ),
      this.parameters.element,
    );
    for (const spec of specs) this.pin(spec);
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

  takeParameters(message: ParametersMessage): void {
    for (const p of message.list) this.pinned.get(p.path)?.show(numberOf(p.value));
    // What the story shows may stand far behind in the list.
    const news = message.filter === "" && message.first === 0;
    for (const path of this.pinned.keys()) if (news && !message.list.some((p) => p.path === path)) this.events.ask({ filter: path, all: 1, first: 0 });
    if (!this.pinned.has(message.filter)) this.parameters.take(message);
  }

  setValue(path: string, value: number): void {
    this.pinned.get(path)?.show(value);
    this.parameters.setValue(path, value);
    if (path === "run.step") this.step.value = String(value);
  }

  private change(path: string, value: number): void {
    this.setValue(path, value);
    this.events.set(path, value);
  }

  /** A slider that the page's story asks for: its own words and range, the server's value. */
  private pin(spec: SliderSpec): void {
    const { path, label, unit = "" } = spec;
    const slider = new Slider({ path, label, title: path, unit, value: spec.value ?? spec.min, scale: scaleOf(spec), pinned: true, change: (value) => this.change(path, value) });
    this.pinned.set(path, slider);
    this.top.append(slider.element);
    this.top.hidden = false;
  }
}
