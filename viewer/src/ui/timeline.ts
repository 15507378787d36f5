// The bar at the bottom: play, scrub, speed; in a live view the wheel of the simulation.

import { Player, SPEEDS } from "../player";
import { button, el, setIcon, short } from "./dom";

export interface TimelineEvents {
  toggle(): void;
  hop(frames: number): void;
  seek(time: number): void;
  speed(value: number): void;
  loop(): void;
  reset(): void;
  live(): void;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;
  private readonly toLive: HTMLButtonElement;
  private readonly bar = el("input", { type: "range", id: "scrub", min: "0", max: "1", step: "any", value: "0", "aria-label": "Time" });
  private readonly now = el("span", { class: "now", id: "now" });
  private readonly total = el("span", { class: "total" });
  private readonly ratio = el("span", { class: "ratio", title: "Simulated time by time" });
  private readonly speed = el("select", { class: "field", id: "speed", title: "Speed", "aria-label": "Speed" });
  private digits = 2;

  constructor(events: TimelineEvents) {
    this.play = button("play", "Play or pause (space)", () => events.toggle(), "play");
    this.play.classList.add("main");
    this.loop = button("loop", "Start again at the end (L)", () => events.loop(), "loop");
    this.reset = button("reset", "Back to the start of the scene (R)", () => events.reset(), "reset");
    this.toLive = el("button", { class: "pill", id: "to-live", type: "button", title: "To the newest moment", onclick: () => events.live() }, "live");
    for (const value of SPEEDS) this.speed.append(el("option", { value: String(value) }, `${value}×`));
    this.bar.addEventListener("input", () => events.seek(Number(this.bar.value)));
    this.speed.addEventListener("change", () => events.speed(Number(this.speed.value)));
    this.element = el(
      "footer",
      { class: "timeline", id: "timeline" },
      this.reset,
      button("back", "One frame back (←)", () => events.hop(-1), "back"),
      this.play,
      button("next", "One frame on (→)", () => events.hop(1), "next"),
      this.now,
      this.bar,
      this.total,
      this.ratio,
      this.toLive,
      this.speed,
      this.loop,
    );
  }

  /** Once for each recording. */
  open(live: boolean, every: number): void {
    this.element.classList.toggle("is-live", live);
    this.digits = every > 0 && every < 0.005 ? 3 : 2;
  }

  /** ratio: live, the simulated time by time that is reached; NaN: not known. */
  update(player: Player, start: number, end: number, playing: boolean, ratio: number): void {
    this.bar.min = String(start);
    this.bar.max = String(end);
    this.bar.value = String(player.time);
    const share = end > start ? (player.time - start) / (end - start) : 0;
    this.bar.style.setProperty("--share", `${(100 * share).toFixed(3)}%`);
    this.now.textContent = `${player.time.toFixed(this.digits)} s`;
    this.total.textContent = `${end.toFixed(this.digits)} s`;
    this.ratio.textContent = Number.isFinite(ratio) ? `${short(Number(ratio.toPrecision(2)))}× real time` : "";
    this.toLive.classList.toggle("on", player.following);
    if (this.play.dataset.state !== String(playing)) {
      this.play.dataset.state = String(playing);
      setIcon(this.play, playing ? "pause" : "play");
    }
    this.loop.classList.toggle("on", player.loop);
    this.speed.value = String(player.speed);
  }
}
