// The clock of the page: which moment of the recording is shown.

import { Recording } from "./data/recording";
import { Moment, interpolate } from "./scene/poses";

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Player {
  time = 0;
  playing = false;
  speed = 1;
  loop = true;
  /** Live: the newest frame is shown as it comes. */
  following = false;
  private recording: Recording | null = null;
  private poses = new Float32Array(0);

  open(recording: Recording, live: boolean): void {
    this.recording = recording;
    this.poses = new Float32Array(7 * recording.header.bodies.length);
    this.time = recording.start;
    this.following = live;
    this.playing = false;
  }

  seek(time: number): void {
    const r = this.recording;
    if (!r) return;
    this.time = Math.min(r.end, Math.max(r.start, time));
  }

  /** By frames, from the one that is shown. */
  hop(frames: number): void {
    const r = this.recording;
    if (!r || r.count === 0) return;
    this.playing = false;
    const k = r.find(this.time);
    // In between, the way back leads to the frame before, which is k itself.
    const between = this.time > r.time(k) && frames < 0 ? 1 : 0;
    this.time = r.time(Math.min(r.count - 1, Math.max(0, k + frames + between)));
  }

  toggle(): void {
    const r = this.recording;
    if (!r) return;
    if (!this.playing && this.time >= r.end) this.time = r.start;
    this.playing = !this.playing;
  }

  /** Returns true if the time has changed. */
  tick(seconds: number): boolean {
    const r = this.recording;
    if (!r || r.count === 0) return false;
    const before = this.time;
    if (this.following) {
      this.time = r.end;
    } else if (this.playing) {
      this.time += seconds * this.speed;
      if (this.time >= r.end) {
        if (this.loop && r.end > r.start) this.time = r.start + ((this.time - r.start) % (r.end - r.start));
        else {
          this.time = r.end;
          this.playing = false;
        }
      }
    }
    return this.time !== before;
  }

  moment(): Moment | null {
    const r = this.recording;
    if (!r || r.count === 0) return null;
    const index = r.find(this.time);
    const frame = r.frame(index);
    const next = index + 1 < r.count ? r.frame(index + 1) : null;
    const share = next && !next.jump ? (this.time - frame.time) / (next.time - frame.time) : 0;
    interpolate(frame.poses, next ? next.poses : frame.poses, Math.min(1, Math.max(0, share)), this.poses);
    return { time: this.time, frame, index, poses: this.poses };
  }
}
