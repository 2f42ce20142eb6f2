/** The WebSocket under a connection: JSON messages out, messages in, and one ConnectionLost for every way to end. */
import { codeOf } from "./codes.js";
import { ConnectionLost } from "./errors.js";
import { decode, type Message } from "./messages.js";

export const SUBPROTOCOL = "segue.v1";

export interface WireEars {
  opened(): void;
  /** Raises what ends the connection. */
  heard(message: Message): void;
  lost(why: ConnectionLost): void;
}

export class Wire {
  #socket: WebSocket;
  #isOver = false;

  /** Opens a WebSocket to `url`. `ears` hears of it; of its end once. */
  constructor(open: typeof WebSocket, readonly url: string, readonly ears: WireEars) {
    this.#socket = new open(url, [SUBPROTOCOL]);
    this.#socket.onopen = () => ears.opened();
    this.#socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#take(data);
    this.#socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  /** Sends one message; on a socket that is closing it goes nowhere, as one that was lost on the way. */
  send(message: Message): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Closes, and hears nothing any more. May be called twice. */
  end(why: ConnectionLost): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.ears.lost(why);
  }

  #take(data: unknown): void {
    try {
      if (typeof data !== "string") throw new ConnectionLost(`${this.url} sent a binary frame`);
      this.ears.heard(decode(data));
    } catch (error) {
      this.end(error instanceof ConnectionLost ? error : new ConnectionLost(`${this.url}: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  #closed(number: number, reason: string): void {
    const code = codeOf(undefined, number);
    const words = number === 1006 ? `the connection to ${this.url} was lost, or never came about` : `${this.url} closed the connection (${number})`;
    this.end(new ConnectionLost(reason || (code ? code.name : words), { code }));
  }
}
