// All parameters of a live simulation. There may be a million, so the server looks for them and the page asks for more as
// somebody comes to the end of what it has.

import { Parameter, ParameterQuery, ParametersMessage } from "../live/protocol";
import { el, icon } from "./dom";
import { Scale, Slider } from "./slider";

export interface ParameterEvents {
  ask(query: ParameterQuery): void;
  set(path: string, value: number): void;
}

/** Where a parameter belongs in the list, and what it is called there. */
export function groupOf(path: string): { group: string; kind: string; label: string } {
  if (path.includes("*")) return { group: "All of a kind", kind: "", label: path.replace(/^\w+\./, "") };
  const [, where, name, rest] = /^(forces|bodies|loops|contacts)\.([^.]+)\.(.+)$/.exec(path) ?? [];
  if (!rest) return { group: "World", kind: "", label: path };
  return { group: name, kind: { forces: "force", bodies: "body", loops: "loop", contacts: "contact" }[where]!, label: rest };
}

/** Does a path fit another one in which * stands for any text? */
export function fitsPath(pattern: string, path: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.[\]?+^$(){}|\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(path);
}

/** Infinite numbers come as null. */
export const numberOf = (value: number | null): number => value ?? Infinity;

export function scaleOf(p: Pick<Parameter, "min" | "max" | "scale" | "zero">): Scale {
  return new Scale(p.min, p.max, p.scale === "log" && p.min > 0, p.zero ?? false);
}

export class ParameterList {
  readonly element: HTMLElement;
  private readonly filter = el("input", { class: "field", type: "search", id: "filter-parameters", placeholder: "Find any parameter", "aria-label": "Find any parameter" });
  private readonly scope = el("button", { class: "chip on scope", type: "button", id: "scope", hidden: true, title: "Show those of everything" });
  private readonly list = el("div", { class: "sliders", id: "sliders" });
  private readonly end = el("div", { class: "sliders-end" });
  private readonly count = el("span", { class: "count", id: "parameter-count" });
  private readonly every = el("button", { class: "linkish", type: "button", id: "every-parameter" });
  private readonly nearEnd: IntersectionObserver;
  private readonly sliders = new Map<string, Slider>();
  private readonly closed = new Set<string>();
  private readonly groups = new Map<string, HTMLElement>();
  private parameters: Parameter[] = [];
  private total = 0;
  private asking = false;
  private body = "";
  private everything = false;

  constructor(private readonly events: ParameterEvents) {
    this.filter.addEventListener("input", () => this.restart());
    this.scope.addEventListener("click", () => this.setBody(""));
    this.every.addEventListener("click", () => {
      this.everything = !this.everything;
      this.restart();
    });
    this.nearEnd = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.goOn(), { root: this.list, rootMargin: "300px" });
    this.nearEnd.observe(this.end);
    this.element = el(
      "section",
      { class: "panel-part", id: "parameters" },
      el("header", {}, el("h2", {}, "Parameters"), this.count),
      this.filter,
      this.scope,
      this.list,
      this.every,
    );
  }

  /** The parameters of one body alone; "": of everything. */
  setBody(name: string): void {
    if (name === this.body) return;
    this.body = name;
    this.scope.hidden = name === "";
    this.scope.replaceChildren(name, icon("close"));
    this.restart();
  }

  private query(first: number): ParameterQuery {
    const filter = [this.body && `bodies.${this.body}.`, this.filter.value.trim()].filter(Boolean).join(" ");
    return { filter, all: filter !== "" || this.everything ? 1 : 0, first };
  }

  private ask(first: number): void {
    this.asking = true;
    this.events.ask(this.query(first));
  }

  /** Another question: from its beginning. */
  restart(): void {
    this.list.scrollTop = 0;
    this.ask(0);
  }

  private goOn(): void {
    if (!this.asking && this.parameters.length < this.total) this.ask(this.parameters.length);
  }

  /** Who scrolls on while an answer comes is at the end before and after it, which is no news to the observer. */
  private lookAgain(): void {
    this.nearEnd.unobserve(this.end);
    this.nearEnd.observe(this.end);
  }

  /** An answer, or the news that values have changed. */
  take(message: ParametersMessage): void {
    const { filter, all, first } = this.query(message.first);
    if (message.filter !== filter || message.all !== (all === 1)) {
      // News of a change are not what is shown; an answer to what was typed before is of no use.
      if (message.filter === "" && !message.all && message.first === 0) this.ask(0);
      return;
    }
    this.asking = false;
    if (first !== 0 && first !== this.parameters.length) return;
    this.total = message.total;
    const known = first === 0 && message.list.length > 0 && message.list.every((p, k) => this.parameters[k]?.path === p.path);
    if (known) {
      for (const p of message.list) this.setValue(p.path, numberOf(p.value));
    } else {
      this.parameters = [...this.parameters.slice(0, first), ...message.list];
      this.draw(first);
      this.lookAgain();
    }
    this.count.textContent = `${this.total.toLocaleString("en")} of ${message.every.toLocaleString("en")}`;
    this.every.textContent = this.everything ? "Show those alone that do something" : `Show all ${message.every.toLocaleString("en")}`;
    this.every.hidden = filter !== "";
  }

  setValue(path: string, value: number): void {
    if (!path.includes("*")) this.sliders.get(path)?.show(value);
    else for (const [other, slider] of this.sliders) if (other === path || fitsPath(path, other)) slider.show(value);
  }

  /** Those from `first` on: what stands before them stays. */
  private draw(first: number): void {
    if (first === 0) {
      this.sliders.clear();
      this.groups.clear();
      this.list.replaceChildren(this.end);
    }
    for (const p of this.parameters.slice(first)) this.groupNode(p.path).append(this.makeSlider(p));
    if (this.parameters.length === 0) this.end.before(el("p", { class: "faint" }, "No parameter has such a name."));
  }

  private groupNode(path: string): HTMLElement {
    const { group, kind } = groupOf(path);
    const key = `${kind} ${group}`;
    const known = this.groups.get(key);
    if (known) return known;
    const inner = el("div", { class: "group-inner" });
    const head = el("button", { class: "group-head", type: "button", "aria-expanded": "true" }, icon("chevron"), el("span", {}, group), el("i", {}, kind));
    const node = el("div", { class: "group", "data-group": key }, head, inner);
    const fold = (closed: boolean): void => {
      node.classList.toggle("closed", closed);
      head.setAttribute("aria-expanded", String(!closed));
    };
    fold(this.closed.has(key));
    head.addEventListener("click", () => {
      if (!this.closed.delete(key)) this.closed.add(key);
      fold(this.closed.has(key));
    });
    this.end.before(node);
    this.groups.set(key, inner);
    return inner;
  }

  private makeSlider(p: Parameter): HTMLElement {
    const slider = new Slider({
      path: p.path,
      label: groupOf(p.path).label,
      title: p.doc ? `${p.path}: ${p.doc}` : p.path,
      unit: p.unit,
      value: numberOf(p.value),
      scale: scaleOf(p),
      change: (value) => {
        this.setValue(p.path, value);
        this.events.set(p.path, value);
      },
    });
    this.sliders.set(p.path, slider);
    return slider.element;
  }
}
