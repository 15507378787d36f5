// A recording in memory: the header, and where its frames lie in the bytes that came.

import { Ending, Frame, Header, Mesh, Note, frameCounts, frameSize, parseFrame, parseHeader, parseMesh } from "./format";

interface Place {
  buffer: ArrayBuffer;
  at: number;
  soft: Map<number, Float32Array>;
}

const NOTHING_SOFT = new Map<number, Float32Array>();

export class Recording {
  readonly meshes: Mesh[] = [];
  readonly notes: Note[] = [];
  ending: Ending | null = null;
  /** Why the rest of the file is missing; null: it is all there, as far as one can tell. */
  damage: string | null = null;
  private places: Place[] = [];
  private times: number[] = [];

  constructor(readonly header: Header) {}

  get count(): number {
    return this.places.length;
  }
  get start(): number {
    return this.times[0] ?? this.header.start;
  }
  get end(): number {
    return this.times[this.times.length - 1] ?? this.header.start;
  }

  time(k: number): number {
    return this.times[k];
  }
  frame(k: number): Frame {
    const { buffer, at, soft } = this.places[k];
    return parseFrame(buffer, at, soft);
  }

  /** The last frame that is not later than t, or the first one. */
  find(t: number): number {
    let low = 0;
    let high = this.times.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= t) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The values of a channel in all frames. */
  column(channel: number): Float64Array {
    const values = new Float64Array(this.count);
    for (let k = 0; k < values.length; k++) {
      const { buffer, at } = this.places[k];
      values[k] = new Float64Array(buffer, at + 40 + 8 * channel, 1)[0];
    }
    return values;
  }

  addFrame(buffer: ArrayBuffer, at: number, soft: Map<number, Float32Array>): void {
    this.places.push({ buffer, at, soft });
    this.times.push(new Float64Array(buffer, at, 1)[0]);
  }

  /** A live simulation goes on for ever, so the oldest frames are forgotten: in lots, for that is cheap. */
  keepLast(most: number): void {
    if (this.places.length <= most * 1.25) return;
    this.places.splice(0, this.places.length - most);
    this.times.splice(0, this.times.length - most);
  }
}

const KIND = /^[\x20-\x7e]{4}$/;
const ENDINGS = ["done", "interrupted", "failed"] as const;

/** Takes whole records and keeps the recording that they make up. */
export class Reader {
  recording: Recording | null = null;
  private soft = NOTHING_SOFT;

  /** All of a file, or a message of a stream. Returns true if a new recording began in it. */
  push(buffer: ArrayBuffer): boolean {
    let began = false;
    for (let at = 0; at < buffer.byteLength; ) {
      if (buffer.byteLength - at < 8) return this.stop(`${buffer.byteLength - at} bytes are too many at its end`, began);
      const kind = String.fromCharCode(...new Uint8Array(buffer, at, 4));
      const size = new Uint32Array(buffer, at + 4, 1)[0];
      if (!this.recording && kind !== "SNR1") throw new Error("this is no recording of Sinew: it does not begin with SNR1");
      if (!KIND.test(kind) || size % 8 !== 0) return this.stop(`byte ${at} begins no record`, began);
      if (at + 8 + size > buffer.byteLength) return this.stop("it ends inside a record", began);
      try {
        this.take(kind, buffer, at + 8, size);
      } catch (error) {
        if (!this.recording) throw error;
        return this.stop((error as Error).message, began);
      }
      began ||= kind === "SNR1";
      at += 8 + size;
    }
    return began;
  }

  private stop(why: string, began: boolean): boolean {
    if (!this.recording) throw new Error(`this is no recording of Sinew: ${why}`);
    this.recording.damage = why;
    return began;
  }

  private take(kind: string, buffer: ArrayBuffer, at: number, size: number): void {
    const bytes = (): Uint8Array => new Uint8Array(buffer, at, size);
    switch (kind) {
      case "SNR1":
        this.recording = null;
        this.recording = new Recording(parseHeader(bytes()));
        this.soft = NOTHING_SOFT;
        break;
      case "MESH":
        this.recording!.meshes.push(parseMesh(buffer, at, size));
        break;
      case "SOFT":
        this.takeSoft(buffer, at, size);
        break;
      case "FRAM":
        this.takeFrame(buffer, at, size);
        break;
      case "NOTE":
        this.recording!.notes.push(JSON.parse(new TextDecoder().decode(bytes())) as Note);
        break;
      case "END!": {
        const n = new Uint32Array(buffer, at, 6);
        const time = new Float64Array(buffer, at + 8, 1)[0];
        this.recording!.ending = { frames: n[0] + n[1] * 2 ** 32, time, how: ENDINGS[n[4]] ?? "failed" };
        break;
      }
    }
  }

  private takeSoft(buffer: ArrayBuffer, at: number, size: number): void {
    const [which, V] = new Uint32Array(buffer, at, 2);
    if (8 + 12 * V > size) throw new Error("a soft surface is cut short");
    if (this.soft === NOTHING_SOFT) this.soft = new Map();
    this.soft.set(which, new Float32Array(buffer, at + 8, 3 * V));
  }

  private takeFrame(buffer: ArrayBuffer, at: number, size: number): void {
    const { header } = this.recording!;
    if (size < 40) throw new Error("a frame is cut short");
    const counts = frameCounts(buffer, at);
    const fits = counts[0] === header.bodies.length && counts[1] === header.channels.length && counts[2] === header.lines.length;
    const rest = size - frameSize(counts);
    if (!fits || rest < 0 || rest > 7) throw new Error(`frame ${this.recording!.count} is not as long as it says`);
    this.recording!.addFrame(buffer, at, this.soft);
    this.soft = NOTHING_SOFT;
  }
}

/** Base64 in pieces, so that a long recording needs no second copy of its text. */
export function decodeBase64(text: string): ArrayBuffer {
  const size = (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  const bytes = new Uint8Array(size);
  const PIECE = 1 << 20;
  for (let from = 0, to = 0; from < text.length; from += PIECE) {
    const piece = atob(text.slice(from, from + PIECE));
    for (let k = 0; k < piece.length; k++) bytes[to++] = piece.charCodeAt(k);
  }
  return bytes.buffer;
}
