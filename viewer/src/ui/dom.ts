// Elements of the page, made by hand: it is small enough.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | ((event: never) => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key.replace(/^on/, ""), value as EventListener);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return node;
}

/** On a grid of 24, drawn with strokes. */
const ICONS: Record<string, string> = {
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 5.5v13M16 5.5v13",
  first: "M18 6l-8 6 8 6zM6.5 6v12",
  last: "M6 6l8 6-8 6zM17.5 6v12",
  back: "M17 6l-9 6 9 6z",
  next: "M7 6l9 6-9 6z",
  reset: "M5 5v5h5M5.5 10a7.5 7.5 0 1 1-1 4.5",
  loop: "M17 3l3 3-3 3M20 6H8a4 4 0 0 0-4 4v1M7 21l-3-3 3-3M4 18h12a4 4 0 0 0 4-4v-1",
  layers: "M12 4l9 5-9 5-9-5zM3.5 13.5L12 18.2l8.5-4.7",
  tree: "M6 4v13a2 2 0 0 0 2 2h4M6 9.5h6M15 7h5v5h-5zM15 16.5h5v5h-5zM4 2h4v2H4z",
  plot: "M4 4v16h16M7.5 15l3.5-5 3 3 5-7",
  sliders: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  theme: "M12 4a8 8 0 1 0 8 8 6.2 6.2 0 0 1-8-8z",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4 2.7c-.9.4-1.2 1-1.2 2M12 17.2v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  open: "M3.5 18.5v-13h6l2 2.5h9v10.5z",
  close: "M6 6l12 12M18 6L6 18",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  chevron: "M9 6l6 6-6 6",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  warn: "M12 4L2.5 20h19zM12 10v5M12 17.5v.1",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

export function button(name: string, title: string, act: () => void, id?: string): HTMLButtonElement {
  const node = el("button", { class: "tool", type: "button", title, "aria-label": title, onclick: () => act() }, icon(name));
  if (id) node.id = id;
  return node;
}

export function setIcon(node: HTMLElement, name: string): void {
  node.replaceChildren(icon(name));
}

/** With as many digits as one reads, never more. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2).replace(/\.?0*e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

const LONGEST = 34; // characters that fit into a panel

/** A long name without its middle: what tells channels of a body apart stands at the end. */
export function clipped(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, 12)}…${name.slice(13 - LONGEST)}`;
}
