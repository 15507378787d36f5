// The page's keys, and the sheet that lists them.

import { button, el } from "./dom";

export const KEYS: [string, string, ("live" | "file")?][] = [
  ["Space", "play or pause"],
  ["← →", "a frame back or on; with Shift ten"],
  ["Home End", "first or last frame"],
  ["− +", "slower, faster"],
  ["L", "start again at the end", "file"],
  ["R", "back to the start", "live"],
  ["N", "one step", "live"],
  [".", "show all of it"],
  ["1 2 3 4", "look as at the start, from front, side, top"],
  ["Esc", "select nothing, show every body"],
  ["I", "isolate the selected body"],
  ["B S J O", "bodies, springs and cables, joint axes, loops"],
  ["C F X", "contacts, forces, trails"],
  ["T P", "tree of bodies; plots and controls"],
  ["D", "light or dark"],
  ["?", "this help"],
];

export class Help {
  readonly element: HTMLElement;

  constructor() {
    const rows = KEYS.map(([keys, what, mode]) =>
      el("tr", mode ? { class: `only-${mode}` } : {}, el("td", {}, ...keys.split(" ").map((key) => el("kbd", {}, key))), el("td", {}, what)),
    );
    this.element = el(
      "div",
      { class: "sheet", id: "help", role: "dialog", "aria-label": "Help", hidden: true, onclick: (event: Event) => event.target === this.element && this.toggle() },
      el(
        "div",
        { class: "card" },
        el("header", {}, el("h2", {}, "Keys and mouse"), button("close", "Close", () => this.toggle())),
        el("p", {}, "Drag to turn, right button to shift, wheel to come closer. Click a body to select it, double click to isolate it."),
        el("p", { class: "only-live" }, "Drag a body to pull it: a spring ties it to the mouse."),
        el("table", {}, el("tbody", {}, ...rows)),
      ),
    );
  }

  get open(): boolean {
    return !this.element.hidden;
  }
  toggle(): void {
    this.element.hidden = !this.element.hidden;
  }
}
