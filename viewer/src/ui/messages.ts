// What went wrong, above the picture: problems stay until they are gone, hints go by themselves.

import { el, icon } from "./dom";

export interface Problem {
  text: string;
  file?: string;
  line?: number;
  column?: number;
  path?: string;
}

export class Messages {
  readonly element = el("div", { class: "messages", id: "messages", "aria-live": "polite" });
  private readonly boxes = new Map<string, HTMLElement>();

  /** One box a kind; it replaces the last one of that kind. */
  show(kind: string, level: "info" | "warning" | "error", title: string, problems: readonly Problem[], seconds = 0): void {
    this.clear(kind);
    const items = problems.slice(0, 6).map((p) => {
      const where = p.file && p.line ? `${p.file}:${p.line}${p.column ? `:${p.column}` : ""}` : p.file ?? "";
      return el("li", {}, where ? el("code", {}, where) : null, p.text);
    });
    const rest = problems.length - items.length;
    const box = el(
      "div",
      { class: `message ${level}`, "data-kind": kind, title: "Click to close" },
      icon("warn"),
      el("div", {}, el("b", {}, title), items.length > 0 ? el("ul", {}, ...items, rest > 0 ? el("li", {}, `and ${rest} more`) : null) : null),
    );
    box.addEventListener("click", () => this.clear(kind));
    this.boxes.set(kind, box);
    this.element.append(box);
    if (seconds > 0) window.setTimeout(() => this.boxes.get(kind) === box && this.clear(kind), 1000 * seconds);
  }

  clear(kind: string): void {
    this.boxes.get(kind)?.remove();
    this.boxes.delete(kind);
  }
}
