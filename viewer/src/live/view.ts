// A live simulation in the page: what the server says, and what it is told.

import { Matrix4, Vector2 } from "three";
import type { App } from "../app";
import { Reader } from "../data/recording";
import { Hit } from "../scene/bodies";
import { Controls } from "../ui/controls";
import { Gallery } from "../ui/gallery";
import { Connection } from "./connection";
import { Hand, inBody } from "./hand";
import { FromServer, SceneInfo, Status, ToServer } from "./protocol";

/** Frames that stay for looking back and for the plots: two minutes of sixty a second. */
const HISTORY = 7200;
/** And their bytes: a surface of 30,000 vertices would fill the memory of a browser in a minute. */
const HISTORY_BYTES = 2 ** 28;

/** How many frames stay, of this size each. */
export function historyOf(bytes: number): number {
  return Math.min(HISTORY, Math.max(2, Math.floor(HISTORY_BYTES / bytes)));
}

export class LiveView {
  readonly gallery: Gallery;
  driving = false;
  playing = false;
  ratio = NaN;
  status: Status | null = null;
  private readonly controls: Controls;
  private readonly connection: Connection;
  private readonly hand: Hand;
  private reader = new Reader();
  private scene: SceneInfo | null = null;
  private shown = false;
  private measured = false;

  constructor(private readonly app: App, address: string) {
    this.hand = new Hand(app.stage);
    this.gallery = new Gallery({ open: (scene) => this.send({ do: "open", scene }), ask: (scene) => this.send({ do: "still", scene }) });
    this.controls = new Controls(
      {
        method: (value) => this.send({ do: "method", value }),
        stepSize: (value) => this.send({ do: "step_size", value }),
        set: (path, value) => this.send({ do: "set", path, value }),
        ask: (query) => this.send({ do: "parameters", ...query }),
        drive: () => this.send({ do: "role", value: "driver" }),
      },
      app.story?.sliders ?? [],
    );
    app.side.addControls(this.controls.element, this.controls.top);
    app.root.append(this.gallery.element);
    app.root.classList.add("live-page");
    app.top.setState("connecting", false);
    this.connection = new Connection(address, {
      opened: () => app.top.setState("live", false),
      closed: () => this.lost(),
      message: (message) => this.take(message),
      records: (bytes) => this.takeRecords(bytes),
    });
  }

  send(message: ToServer): void {
    this.connection.send(message);
  }

  toggle(): void {
    this.send({ do: this.playing ? "pause" : "play" });
  }

  /** A body has been selected; "": none. */
  selected(body: string): void {
    this.controls.parameters.setBody(body);
  }

  /** A picture has been drawn. */
  drawn(): void {
    this.connection.acknowledge();
  }

  private lost(): void {
    this.app.top.setState("no connection, trying again", true);
    this.driving = this.playing = false;
    this.hand.drop();
    this.app.touch();
  }

  private take(message: FromServer): void {
    const { app } = this;
    switch (message.type) {
      case "hello":
        this.controls.setMethods(message.methods);
        break;
      case "role":
        this.driving = message.role === "driver";
        this.controls.setRole(this.driving);
        app.top.setState(this.driving ? "live" : "live, watching", false);
        break;
      case "gallery":
        this.gallery.set(message.scenes);
        app.top.setGallery(true);
        if (!app.recording) this.gallery.show(true);
        break;
      case "scene":
        this.scene = message;
        this.controls.setScene(message);
        app.messages.clear("simulation");
        break;
      case "parameters":
        this.controls.takeParameters(message);
        break;
      case "parameter":
        this.controls.setValue(message.path, message.value);
        break;
      case "status":
        this.takeStatus(message);
        break;
      case "error":
        this.takeError(message);
        break;
      case "still":
        this.gallery.takeStill(message.png);
        break;
      case "good":
        app.messages.clear("scene");
        break;
    }
  }

  private takeStatus(status: Status): void {
    this.status = status;
    this.playing = status.playing && !status.stopped;
    this.ratio = status.playing ? status.ratio : NaN;
    this.app.player.speed = status.speed;
    if (!status.stopped) this.app.messages.clear("simulation");
    this.app.touch();
  }

  private takeError(error: Extract<FromServer, { type: "error" }>): void {
    const { messages, recording } = this.app;
    if (error.kind === "request") {
      if (error.do === "still") return this.gallery.takeStill(null);
      if (error.do === "set") this.controls.parameters.restart(); // what was refused is still shown
      return messages.show("request", "warning", "That was refused", error.problems, 6);
    }
    const title = error.kind === "scene" ? "The scene has a mistake; the last good one goes on" : "The simulation cannot go on";
    messages.show(error.kind, "error", title, error.problems);
    const culprit = /^bodies\.([^.]+)/.exec(error.problems[0]?.path ?? "")?.[1];
    const body = recording?.header.bodies.findIndex(({ name }) => name === culprit) ?? -1;
    if (error.kind === "simulation" && body >= 0) this.app.select(body);
  }

  private takeRecords(bytes: ArrayBuffer): void {
    if (this.reader.push(bytes)) this.shown = false;
    const { recording } = this.reader;
    if (!recording || recording.count === 0) return;
    if (!this.shown) {
      const keepCamera = this.measured && (this.scene?.keep_camera ?? false);
      this.app.open(recording, true, keepCamera);
      this.shown = this.measured = true;
    }
    recording.keepLast(historyOf(bytes.byteLength));
    this.app.grown();
  }

  // ---- the hand ----

  grab(pointer: number, hit: Hit, body: string, E_wb: Matrix4): void {
    this.hand.take(pointer, hit);
    this.send({ do: "grab", body, point: inBody(E_wb, hit.point), at: hit.point.toArray() });
  }

  drag(pointer: number, at: Vector2): void {
    if (!this.hand.holds(pointer)) return;
    const p = this.hand.move(at.x, at.y);
    if (p) this.send({ do: "drag", at: p });
  }

  release(pointer: number): void {
    if (!this.hand.holds(pointer)) return;
    this.hand.drop();
    this.send({ do: "release" });
  }
}
