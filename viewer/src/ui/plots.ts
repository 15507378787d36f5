// Plots of channels. Those of one quantity share a plot; a line marks the moment that is shown.

import uPlot from "uplot";
import { firstChoice, matching, plotOf } from "../data/groups";
import { Recording } from "../data/recording";
import { seriesColor } from "../scene/palette";
import { clipped, el, short } from "./dom";

const LISTED = 200;
const REFRESH = 250; // ms between redraws of growing data

interface Chart {
  title: string;
  channels: number[];
  plot: uPlot;
  values: HTMLElement[];
}

export interface PlotEvents {
  seek(time: number): void;
}

export class Plots {
  readonly element: HTMLElement;
  private readonly filter = el("input", { class: "field", type: "search", id: "channel-filter", placeholder: "Add a channel", "aria-label": "Filter channels" });
  private readonly list = el("div", { class: "channels", id: "channels" });
  private readonly area = el("div", { class: "charts", id: "charts" });
  private recording: Recording | null = null;
  private chosen: number[] = [];
  private charts: Chart[] = [];
  private time = 0;
  private drawn = 0;

  constructor(private readonly events: PlotEvents) {
    this.element = el("section", { class: "panel-part", id: "plots" }, this.area, this.filter, this.list);
    this.filter.addEventListener("input", () => this.listChannels());
    this.filter.addEventListener("focus", () => this.listChannels());
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  /** keep: names of channels that were chosen before. */
  open(recording: Recording, keep: readonly string[]): void {
    this.recording = recording;
    const { channels } = recording.header;
    const again = keep.map((name) => channels.indexOf(name)).filter((k) => k > 0);
    this.chosen = again.length > 0 ? again : firstChoice(channels);
    this.listChannels();
    this.rebuild();
  }

  names(): string[] {
    return this.chosen.map((k) => this.recording!.header.channels[k]);
  }

  /** Channels of a body come first into sight when it is selected. */
  suggest(body: string): void {
    const known = this.recording?.header.channels.some((name) => name.startsWith(`${body}.`));
    this.filter.value = body && known ? `${body}.` : "";
    this.listChannels();
  }

  toggle(channel: number): void {
    this.chosen = this.chosen.includes(channel) ? this.chosen.filter((k) => k !== channel) : [...this.chosen, channel];
    this.listChannels();
    this.rebuild();
  }

  private listChannels(): void {
    const channels = this.recording?.header.channels ?? [];
    const found = matching(channels, this.filter.value);
    const chips = found.slice(0, LISTED).map((k) => {
      const on = this.chosen.includes(k);
      return el("button", { class: `chip${on ? " on" : ""}`, type: "button", title: channels[k], "data-channel": channels[k], onclick: () => this.toggle(k) }, clipped(channels[k]));
    });
    const rest = found.length - chips.length;
    this.list.replaceChildren(...chips, ...(rest > 0 ? [el("span", { class: "more" }, `and ${rest} more: type to find them`)] : []));
  }

  /** New charts: the channels, the colours or the size of letters have changed. */
  rebuild(): void {
    for (const chart of this.charts) chart.plot.destroy();
    this.area.replaceChildren();
    this.charts = [];
    if (!this.recording) return;
    const groups = new Map<string, number[]>();
    for (const k of this.chosen) {
      const title = plotOf(this.recording.header.channels[k]);
      groups.set(title, [...(groups.get(title) ?? []), k]);
    }
    for (const [title, channels] of groups) this.charts.push(this.makeChart(title, channels));
    this.update(this.time);
  }

  private makeChart(title: string, channels: number[]): Chart {
    const { header } = this.recording!;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink-2");
    const rule = style.getPropertyValue("--rule");
    const rem = parseFloat(style.fontSize);
    const font = `${0.72 * rem}px ${style.getPropertyValue("--font")}`;
    const axis: uPlot.Axis = {
      stroke: ink, font, ticks: { show: false }, grid: { stroke: rule, width: 1 },
    };
    const values = channels.map(() => el("b", {}));
    const legend = el(
      "div",
      { class: "legend" },
      ...channels.map((k, i) => {
        const swatch = el("i", { class: "swatch" });
        swatch.style.background = seriesColor(this.chosen.indexOf(k));
        return el("button", { class: "series", type: "button", title: "Take it off", onclick: () => this.toggle(k) }, swatch, header.channels[k], values[i]);
      }),
    );
    const holder = el("div", { class: "chart-area" });
    this.area.append(el("figure", { class: "chart", "data-title": title }, el("figcaption", {}, title), legend, holder));
    const plot = new uPlot(
      {
        width: Math.max(80, holder.clientWidth),
        height: 9.5 * rem,
        legend: { show: false },
        cursor: { show: false },
        pxAlign: false,
        scales: { x: { time: false } },
        padding: [0.4 * rem, 0.4 * rem, 0, 0],
        axes: [
          { ...axis, size: 1.5 * rem, space: 3.5 * rem, gap: 0.3 * rem },
          { ...axis, size: 3.4 * rem, space: 1.8 * rem, gap: 0.35 * rem, values: (_, list) => list.map(short) },
        ],
        series: [{}, ...channels.map((k) => ({ stroke: seriesColor(this.chosen.indexOf(k)), width: 1.6, points: { show: false } }))],
        hooks: { draw: [(u) => this.drawNow(u)] },
      },
      this.data(channels),
      holder,
    );
    this.listen(plot.over, plot);
    return { title, channels, plot, values };
  }

  private data(channels: number[]): uPlot.AlignedData {
    const r = this.recording!;
    return [r.column(0), ...channels.map((k) => r.column(k))] as unknown as uPlot.AlignedData;
  }

  /** The moment that is shown, as a line through the plot. */
  private drawNow(u: uPlot): void {
    const x = Math.round(u.valToPos(this.time, "x", true));
    const { left, top, width, height } = u.bbox;
    if (x < left || x > left + width) return;
    u.ctx.save();
    u.ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    u.ctx.fillRect(x - 1, top, 2, height);
    u.ctx.restore();
  }

  private listen(over: HTMLElement, plot: uPlot): void {
    const seek = (event: PointerEvent): void => {
      this.events.seek(plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    };
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) seek(event);
    });
  }

  update(time: number): void {
    this.time = time;
    const r = this.recording;
    if (!r || r.count === 0 || this.element.offsetParent === null) return;
    const { channels } = r.frame(r.find(time));
    for (const chart of this.charts) {
      chart.channels.forEach((k, i) => (chart.values[i].textContent = short(channels[k])));
      chart.plot.redraw(false, false);
    }
  }

  /** Live: frames have come. */
  grow(): void {
    const now = performance.now();
    if (now - this.drawn < REFRESH || this.element.offsetParent === null) return;
    this.drawn = now;
    for (const chart of this.charts) chart.plot.setData(this.data(chart.channels));
  }

  private resize(): void {
    for (const chart of this.charts) {
      const width = chart.plot.root.parentElement!.clientWidth;
      if (width > 0 && Math.abs(width - chart.plot.width) > 1) chart.plot.setSize({ width, height: chart.plot.height });
    }
  }

  /** For tests: how many plots there are, and how many points their first line has. */
  state(): { charts: number; points: number } {
    return { charts: this.charts.length, points: this.charts[0]?.plot.data[0].length ?? 0 };
  }
}
