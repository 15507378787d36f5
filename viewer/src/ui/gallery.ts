// Scenes to choose from, when the command was started without one.

import { GalleryScene } from "../live/protocol";
import { button, el } from "./dom";

export class Gallery {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "gallery" });

  constructor(private readonly open: (scene: string) => void) {
    this.element = el(
      "div",
      { class: "sheet", id: "gallery", role: "dialog", "aria-label": "Scenes", hidden: true },
      el("div", { class: "card wide" }, el("header", {}, el("h2", {}, "Scenes"), button("close", "Close", () => this.show(false))), this.list),
    );
  }

  set(scenes: readonly GalleryScene[]): void {
    this.list.replaceChildren(
      ...scenes.map((scene) =>
        el(
          "button",
          {
            type: "button", class: "scene-card", "data-scene": scene.name,
            onclick: () => {
              this.open(scene.name);
              this.show(false);
            },
          },
          el("b", {}, scene.name),
          el("span", {}, scene.title),
        ),
      ),
    );
  }

  get filled(): boolean {
    return this.list.childElementCount > 0;
  }
  get visible(): boolean {
    return !this.element.hidden;
  }
  show(on: boolean): void {
    this.element.hidden = !on;
  }
}
