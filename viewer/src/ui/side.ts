// The panel at the right: a story, live controls, plots.

import { el } from "./dom";
import { Plots } from "./plots";
import { Story, StoryData } from "./story";

export class Side {
  readonly element: HTMLElement;
  private readonly controls = el("div", {});

  constructor(plots: Plots, story: StoryData | null) {
    this.element = el(
      "aside",
      { class: "panel panel-right", id: "side" },
      story ? new Story(story).element : null,
      this.controls,
      el("header", {}, el("h2", {}, "Plots")),
      plots.element,
    );
  }

  /** top: what goes above everything. */
  addControls(controls: HTMLElement, top: HTMLElement): void {
    this.element.prepend(top);
    this.controls.replaceChildren(controls);
  }
}
