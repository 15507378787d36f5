// The tree of bodies. Only the rows in sight exist, so that 100,000 bodies do not hurt.

import { Body } from "../data/format";
import { Tree } from "../data/tree";
import { bodyColor } from "../scene/palette";
import { Color } from "three";
import { el, icon } from "./dom";

interface Row {
  body: number;
  depth: number;
  open: boolean;
  forks: boolean;
}

export interface TreeEvents {
  select(body: number): void;
  isolate(body: number): void;
}

export class BodyTree {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "tree-list", role: "tree", tabindex: "0" });
  private readonly inner = el("div", { class: "tree-inner" });
  private readonly filter = el("input", { class: "field", type: "search", placeholder: "Filter bodies", "aria-label": "Filter bodies" });
  private readonly count = el("span", { class: "count" });
  private bodies: readonly Body[] = [];
  private tree: Tree | null = null;
  private closed = new Set<number>();
  private rows: Row[] = [];
  private selected = -1;
  private isolated = -1;

  constructor(private readonly events: TreeEvents) {
    this.list.append(this.inner);
    this.element = el("section", { class: "panel panel-left", id: "tree" }, el("header", {}, el("h2", {}, "Bodies"), this.count), this.filter, this.list);
    this.list.addEventListener("scroll", () => this.draw());
    this.filter.addEventListener("input", () => this.layout());
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  open(bodies: readonly Body[], tree: Tree): void {
    this.bodies = bodies;
    this.tree = tree;
    this.closed.clear();
    this.selected = this.isolated = -1;
    this.count.textContent = String(bodies.length);
    this.layout();
  }

  mark(selected: number, isolated: number): void {
    const moved = selected !== this.selected;
    this.selected = selected;
    this.isolated = isolated;
    if (moved && selected >= 0) this.reveal(selected);
    this.draw();
  }

  private rowHeight(): number {
    return 1.9 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  private reveal(body: number): void {
    for (let k = this.bodies[body].parent; k >= 0; k = this.bodies[k].parent) this.closed.delete(k);
    this.layout();
    const at = this.rows.findIndex((row) => row.body === body) * this.rowHeight();
    if (at < this.list.scrollTop || at > this.list.scrollTop + this.list.clientHeight - this.rowHeight()) {
      this.list.scrollTop = at - this.list.clientHeight / 2;
    }
  }

  /** A chain is not indented: only where the tree forks it goes one step in. */
  private layout(): void {
    const rows: Row[] = [];
    const wanted = this.filter.value.trim().toLowerCase();
    if (wanted) {
      this.bodies.forEach((body, k) => {
        if (body.name.toLowerCase().includes(wanted)) rows.push({ body: k, depth: 0, open: false, forks: false });
      });
    } else if (this.tree) {
      const stack = [...this.tree.roots].reverse().map((body) => ({ body, depth: 0 }));
      for (let top = stack.pop(); top; top = stack.pop()) {
        const children = this.tree.children[top.body];
        const open = !this.closed.has(top.body);
        rows.push({ ...top, open, forks: children.length > 0 });
        const depth = top.depth + (children.length > 1 ? 1 : 0);
        if (open) for (const body of [...children].reverse()) stack.push({ body, depth });
      }
    }
    this.rows = rows;
    this.inner.style.height = `${rows.length * this.rowHeight()}px`;
    this.draw();
  }

  private draw(): void {
    const height = this.rowHeight();
    const first = Math.max(0, Math.floor(this.list.scrollTop / height) - 2);
    const last = Math.min(this.rows.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / height) + 2);
    this.inner.replaceChildren(...this.rows.slice(first, last).map((row, k) => this.makeRow(row, (first + k) * height)));
  }

  private makeRow(row: Row, top: number): HTMLElement {
    const body = this.bodies[row.body];
    const dot = el("i", { class: "dot" });
    dot.style.background = `#${bodyColor(this.tree!, row.body, new Color()).getHexString()}`;
    const fold = el("span", { class: `fold${row.open ? " open" : ""}` }, row.forks ? icon("chevron") : null);
    if (row.forks) fold.addEventListener("click", (event) => this.fold(event, row));
    const eye = el(
      "button",
      {
        class: "eye", type: "button", title: "Show only this and what hangs on it", "aria-label": `Isolate ${body.name}`,
        onclick: (event: Event) => {
          event.stopPropagation();
          this.events.isolate(row.body);
        },
      },
      icon("eye"),
    );
    const node = el("div", { class: "row", role: "treeitem", "data-body": body.name }, fold, dot, el("span", { class: "name" }, body.name), el("span", { class: "kind" }, body.joint.type), eye);
    node.style.transform = `translateY(${top}px)`;
    node.style.paddingLeft = `${0.35 + 0.9 * Math.min(row.depth, 8)}rem`;
    node.classList.toggle("selected", row.body === this.selected);
    node.classList.toggle("isolated", row.body === this.isolated);
    node.addEventListener("click", () => this.events.select(row.body === this.selected ? -1 : row.body));
    node.addEventListener("dblclick", () => this.events.isolate(row.body));
    return node;
  }

  private fold(event: Event, row: Row): void {
    event.stopPropagation();
    if (row.open) this.closed.add(row.body);
    else this.closed.delete(row.body);
    this.layout();
  }
}
