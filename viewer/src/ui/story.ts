// A story that comes with the page: a few words and a table beside the picture, and sliders that matter.
// It stands as JSON in the element `panel` of the page.

import { el } from "./dom";

export interface SliderSpec {
  path: string;
  label: string;
  min: number;
  max: number;
  scale: "linear" | "log";
  unit?: string;
  value?: number;
}

export interface StoryData {
  title: string;
  text?: string[];
  columns?: string[];
  rows?: string[][];
  /** The row that is printed stronger, from 0. */
  strong?: number;
  note?: string;
  sliders?: SliderSpec[];
}

export function readStory(): StoryData | null {
  const text = document.getElementById("panel")?.textContent?.trim();
  if (!text) return null;
  try {
    return JSON.parse(text) as StoryData;
  } catch (error) {
    return { title: "The panel of this page is no JSON", text: [(error as Error).message] };
  }
}

export class Story {
  readonly element: HTMLElement;

  constructor(data: StoryData) {
    const table = el(
      "table",
      { class: "figures" },
      el("thead", {}, el("tr", {}, ...(data.columns ?? []).map((c) => el("th", {}, c)))),
      el("tbody", {}, ...(data.rows ?? []).map((row, k) => el("tr", k === data.strong ? { class: "strong" } : {}, ...row.map((cell) => el("td", {}, cell))))),
    );
    this.element = el(
      "section",
      { class: "panel-part story", id: "story" },
      el("h3", {}, data.title),
      ...(data.text ?? []).map((line) => el("p", {}, line)),
      data.rows ? table : null,
      data.note ? el("p", { class: "faint" }, data.note) : null,
    );
  }
}
