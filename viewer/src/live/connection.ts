// The stream: opens it, opens it again when it breaks, acknowledges what came.

import { FromServer, ToServer } from "./protocol";

export interface ConnectionEvents {
  opened(): void;
  closed(): void;
  message(message: FromServer): void;
  /** Whole records of a recording. */
  records(bytes: ArrayBuffer): void;
}

const FIRST_WAIT = 300;
const LONGEST_WAIT = 4000;

export class Connection {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private received = 0;
  private acknowledged = 0;

  constructor(private readonly address: string, private readonly events: ConnectionEvents) {
    this.connect();
  }

  get connected(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  private connect(): void {
    const socket = new WebSocket(this.address, "sinew-live-1");
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.received = this.acknowledged = 0;
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.events.opened();
    });
    socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.events.message(JSON.parse(event.data) as FromServer);
      else {
        this.received++;
        this.events.records(event.data);
      }
    });
    socket.addEventListener("close", () => {
      this.events.closed();
      window.setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    });
  }

  send(message: ToServer): void {
    if (this.connected) this.socket!.send(JSON.stringify(message));
  }

  /** To be called when what came has been drawn: the server sends no more than the page can show. */
  acknowledge(): void {
    if (this.received === this.acknowledged) return;
    this.acknowledged = this.received;
    this.send({ do: "ack", count: this.received });
  }
}
