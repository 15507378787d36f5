// The bar at the top: what is shown, and the buttons for how.

import { LAYERS, Layer } from "../scene/mechanism";
import { button, el } from "./dom";

export const LAYER_WORDS: Record<Layer, [string, string]> = {
  bodies: ["Bodies", "B"],
  lines: ["Springs and cables", "S"],
  axes: ["Joint axes", "J"],
  loops: ["Loops and constraints", "O"],
  contacts: ["Contacts", "C"],
  forces: ["Forces", "F"],
  trails: ["Trails", "X"],
};

export interface TopEvents {
  layer(layer: Layer): void;
  fit(): void;
  theme(): void;
  help(): void;
  openFile(file: File): void;
  gallery(): void;
  panel(which: "tree" | "side"): void;
}

export class Top {
  readonly element: HTMLElement;
  private readonly name = el("b", { id: "scene-name" }, "Sinew");
  private readonly about = el("span", { class: "about" });
  private readonly state = el("span", { class: "state", id: "state" });
  private readonly menu = el("div", { class: "menu", id: "layers", hidden: true });
  private readonly scenes: HTMLButtonElement;
  private readonly boxes = new Map<Layer, HTMLInputElement>();

  constructor(events: TopEvents) {
    const file = el("input", { type: "file", id: "file", accept: ".snr", hidden: true });
    file.addEventListener("change", () => file.files?.[0] && events.openFile(file.files[0]));
    for (const layer of LAYERS) {
      const [words, key] = LAYER_WORDS[layer];
      const box = el("input", { type: "checkbox", id: `layer-${layer}`, onchange: () => events.layer(layer) });
      this.boxes.set(layer, box);
      this.menu.append(el("label", {}, box, el("span", {}, words), el("kbd", {}, key)));
    }
    const layers = button("layers", "What is shown", () => (this.menu.hidden = !this.menu.hidden), "layers-button");
    document.addEventListener("pointerdown", (event) => {
      if (!this.menu.contains(event.target as Node) && !layers.contains(event.target as Node)) this.menu.hidden = true;
    });
    this.scenes = button("grid", "Scenes", () => events.gallery(), "scenes");
    this.scenes.hidden = true;
    this.element = el(
      "header",
      { class: "top" },
      button("tree", "Tree of bodies (T)", () => events.panel("tree"), "tree-button"),
      el("div", { class: "title" }, this.name, this.about, this.state),
      el("span", { class: "spacer" }),
      this.scenes,
      button("open", "Open a recording (or drop one here)", () => file.click(), "open"),
      button("fit", "Show all of it (.)", () => events.fit()),
      layers,
      button("theme", "Light or dark (D)", () => events.theme(), "theme"),
      button("help", "Keys (?)", () => events.help(), "help-button"),
      button("plot", "Plots and controls (P)", () => events.panel("side"), "side-button"),
      this.menu,
      file,
    );
  }

  setTitle(name: string, about: string): void {
    this.name.textContent = name;
    this.about.textContent = about;
    document.title = name === "Sinew" ? name : `${name} · Sinew`;
  }

  /** A word about the connection; "": none. */
  setState(text: string, bad: boolean): void {
    this.state.textContent = text;
    this.state.classList.toggle("bad", bad);
  }

  setLayer(layer: Layer, on: boolean): void {
    this.boxes.get(layer)!.checked = on;
  }

  setGallery(there: boolean): void {
    this.scenes.hidden = !there;
  }
}
