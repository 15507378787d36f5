// A slider and a field for one number.

import { el, short } from "./dom";

const STEPS = 1000;

/** Between the slider's whole numbers and the number, evenly or by factors. zero: its left end is 0, and the factors begin beside it. */
export class Scale {
  constructor(readonly min: number, readonly max: number, readonly log: boolean, readonly zero = false) {}

  value(position: number): number {
    if (!this.log) return Number((this.min + (position / STEPS) * (this.max - this.min)).toPrecision(4));
    if (this.zero && position === 0) return 0;
    return Number((this.min * (this.max / this.min) ** this.share(position)).toPrecision(3));
  }

  position(value: number): number {
    const clamped = (s: number): number => Math.min(1, Math.max(0, Number.isNaN(s) ? 0 : s));
    if (!this.log) return Math.round(STEPS * clamped((value - this.min) / (this.max - this.min)));
    const first = this.zero ? 1 : 0;
    if (!(value > 0)) return 0;
    return first + Math.round((STEPS - first) * clamped(Math.log(value / this.min) / Math.log(this.max / this.min)));
  }

  private share(position: number): number {
    const first = this.zero ? 1 : 0;
    return (position - first) / (STEPS - first);
  }
}

export interface SliderOptions {
  path: string;
  label: string;
  title: string;
  unit: string;
  value: number;
  scale: Scale;
  pinned?: boolean;
  change(value: number): void;
}

export class Slider {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly field: HTMLInputElement;
  private value = NaN;

  constructor(private readonly options: SliderOptions) {
    const { path, label, title, unit, pinned } = options;
    this.range = el("input", { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": path, "data-path": path });
    this.field = el("input", { class: "field", inputmode: "decimal", "aria-label": `${path}, value`, "data-value-of": path });
    this.range.addEventListener("input", () => this.change(options.scale.value(Number(this.range.value))));
    this.field.addEventListener("change", () => this.typed());
    this.field.addEventListener("blur", () => this.write());
    this.element = el(
      "div",
      { class: `slider${pinned ? " pinned" : ""}`, title },
      el("div", { class: "slider-head" }, el("span", { class: "slider-name" }, label), this.field, el("span", { class: "unit" }, unit)),
      this.range,
    );
    this.show(options.value);
  }

  /** A number that came from elsewhere; beyond the ends of the slider it is at its end. */
  show(value: number): void {
    this.value = value;
    const { range } = this;
    range.value = String(this.options.scale.position(value));
    range.style.setProperty("--share", `${Number(range.value) / (STEPS / 100)}%`);
    if (document.activeElement !== this.field) this.write();
  }

  private write(): void {
    this.field.value = this.value === Infinity ? "∞" : short(this.value);
    this.field.classList.remove("wrong");
  }

  private typed(): void {
    const value = Number(this.field.value.trim().replace(",", ".") || NaN);
    this.field.classList.toggle("wrong", !Number.isFinite(value));
    if (Number.isFinite(value)) this.change(value);
  }

  private change(value: number): void {
    this.show(value);
    this.options.change(value);
  }
}
