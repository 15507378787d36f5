// What the colours of springs and cables mean.

import { TENSION_STOPS } from "../scene/palette";
import { el, short } from "./dom";

export class TensionLegend {
  readonly element: HTMLElement;
  private readonly most = el("span", {});

  constructor() {
    const ramp = el("i", { class: "ramp" });
    ramp.style.background = `linear-gradient(90deg, ${TENSION_STOPS.join(", ")})`;
    this.element = el("div", { class: "tension", id: "tension", hidden: true }, el("span", {}, "tension  0"), ramp, this.most);
  }

  update(largest: number): void {
    this.most.textContent = `${short(Number(largest.toPrecision(2)))} N`;
  }
}
