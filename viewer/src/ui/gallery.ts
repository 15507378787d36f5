// Scenes to choose from, when the command was started without one.

import { GalleryScene } from "../live/protocol";
import { button, el } from "./dom";

export interface GalleryEvents {
  open(scene: string): void;
  /** For the picture of a scene, which comes later. */
  ask(scene: string): void;
}

/** A title without where the scene comes from: that is said smaller. */
export function splitTitle(title: string): { what: string; source: string } {
  const [, source, what] = /^(Reference scene \d+ of [^:]+): (.+)$/s.exec(title) ?? [];
  return what ? { what: what[0].toUpperCase() + what.slice(1), source } : { what: title, source: "" };
}

export class Gallery {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "gallery" });
  private readonly filter = el("input", { class: "field", type: "search", placeholder: "Find a scene", "aria-label": "Find a scene" });
  private readonly cards = new Map<string, HTMLElement>();
  /** Scenes whose pictures are still to come; the first has been asked for. */
  private wanted: string[] = [];
  /** Pictures come as they are scrolled to. */
  private readonly watcher: IntersectionObserver;

  constructor(private readonly events: GalleryEvents) {
    this.element = el(
      "div",
      { class: "sheet", id: "gallery", role: "dialog", "aria-label": "Scenes", hidden: true },
      el("div", { class: "card wide" }, el("header", {}, el("h2", {}, "Scenes"), this.filter, button("close", "Close", () => this.show(false))), this.list),
    );
    this.filter.addEventListener("input", () => this.find());
    this.watcher = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) this.want(target as HTMLElement);
    }, { root: this.element, rootMargin: "200px" });
  }

  set(scenes: readonly GalleryScene[]): void {
    this.cards.clear();
    this.watcher.disconnect();
    this.wanted = [];
    for (const scene of scenes) this.cards.set(scene.name, this.makeCard(scene));
    this.list.replaceChildren(...this.cards.values());
  }

  private makeCard(scene: GalleryScene): HTMLElement {
    const { what, source } = splitTitle(scene.title);
    const choose = (): void => {
      this.events.open(scene.name);
      this.show(false);
    };
    const card = el("button", { type: "button", class: "scene-card", "data-scene": scene.name, onclick: choose }, el("b", {}, scene.name), el("span", {}, what), el("small", {}, source));
    if (scene.still) {
      const still = el("div", { class: "still", "data-still": scene.name });
      card.prepend(still);
      this.watcher.observe(still);
    }
    return card;
  }

  private want(still: HTMLElement): void {
    this.watcher.unobserve(still);
    if (this.wanted.push(still.dataset.still!) === 1) this.events.ask(this.wanted[0]);
  }

  /** One came, or was refused (null): the next one is asked for. */
  takeStill(png: string | null): void {
    const scene = this.wanted.shift();
    if (scene && png) this.cards.get(scene)?.querySelector(".still")?.replaceChildren(el("img", { src: `data:image/png;base64,${png}`, alt: "" }));
    if (this.wanted.length > 0) this.events.ask(this.wanted[0]);
  }

  private find(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of this.cards.values()) {
      const text = card.textContent!.toLowerCase();
      card.hidden = !words.every((word) => text.includes(word));
    }
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
