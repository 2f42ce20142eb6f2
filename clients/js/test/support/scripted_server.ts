/** An access point in this process that plays a script: it answers as told, and misbehaves on demand. There is no network under it. */
import { codeOf } from "../../src/codes.js";
import { deferred, type Deferred } from "../../src/deferred.js";
import type { Message } from "../../src/messages.js";

export const TIME_MS = 1_700_000_000_000;
export const BOB = "hm://presence/user/bob/";
export const EVE = "hm://presence/user/eve/";
export const MIX = "hm://playlist/user/bob/playlist/mix/";
export const ALBUMS = "hm://notifications/feed/bjork%new-album/";
export const URL = "ws://127.0.0.1:1/v1/connect";

type Answer = (message: Message) => Message | null;

export function welcome(fields: object = {}): Message {
  return { op: "welcome", session: "s1", site: "sto", user: "alice", time_ms: TIME_MS, limits: { topics_per_message: 3 }, ...fields };
}

export function subscribed(message: Message, fields: object = {}): Message {
  return { op: "subscribed", id: message.id, installed: message["wait"], missing_sites: [], rejected: [], ...fields };
}

export function problem(code: string, fields: object = {}): Message {
  return { op: "error", id: null, code, number: codeOf(code)?.number ?? 0, reason: `because of ${code}`, ...fields };
}

export function event(topic: string, seq: number, fields: object = {}): Message {
  return { op: "event", topic, site: "sto", epoch: 7, seq, ts: TIME_MS, id: `e${seq}`, kind: "play", payload: { artist: "Björk" }, ...fields };
}

/** A client, as the server sees it. */
export class Peer {
  hello: Message | undefined;
  isGone = false;
  #said: Message[] = [];
  #waits: (() => void)[] = [];

  constructor(readonly socket: ScriptedSocket, readonly url: string) {}

  note(message: Message): void {
    this.#said.push(message);
    for (const wake of this.#waits.splice(0)) wake();
  }

  /** Returns the next message with this op; others are passed over. */
  async heard(op: string): Promise<Message> {
    for (;;) {
      const message = this.#said.shift();
      if (message?.op === op) return message;
      if (!message) await new Promise<void>((wake) => this.#waits.push(wake));
    }
  }

  send(message: Message | string | ArrayBuffer): void {
    const data = typeof message === "string" || message instanceof ArrayBuffer ? message : JSON.stringify(message);
    queueMicrotask(() => this.socket.onmessage?.({ data } as MessageEvent));
  }

  /** Sends a fatal error, and closes. */
  fail(code: string, fields: object = {}): void {
    this.send(problem(code, fields));
    this.close(codeOf(code)!.number);
  }

  close(code: number, reason = ""): void {
    this.isGone = true;
    queueMicrotask(() => this.socket.onclose?.({ code, reason } as CloseEvent));
  }

  /** Cuts the connection without a word. */
  drop(): void {
    this.close(1006);
  }
}

/** What a client has of a WebSocket. */
class ScriptedSocket {
  readonly OPEN = 1;
  readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((message: MessageEvent) => void) | null = null;
  onclose: ((close: CloseEvent) => void) | null = null;
  readonly peer: Peer;

  constructor(readonly server: ScriptedServer, url: string) {
    this.peer = new Peer(this, url);
    queueMicrotask(() => (server.isDown ? this.onclose?.({ code: 1006, reason: "" } as CloseEvent) : this.onopen?.()));
  }

  send(text: string): void {
    this.server.take(this.peer, JSON.parse(text) as Message);
  }

  close(): void {
    this.readyState = 3;
    this.peer.isGone = true;
  }
}

export class ScriptedServer {
  isDown = false;
  readonly answers: Record<string, Answer> = {
    hello: () => welcome(),
    subscribe: (message) => subscribed(message),
    unsubscribe: ({ id }) => ({ op: "unsubscribed", id }),
    act: ({ id }) => ({ op: "ok", id }),
    ping: () => ({ op: "pong", time_ms: TIME_MS }),
  };
  readonly webSocket: typeof WebSocket;
  #ready: Peer[] = [];
  #waits: Deferred<Peer>[] = [];

  constructor() {
    const server = this;
    this.webSocket = class extends ScriptedSocket {
      constructor(url: string) {
        super(server, url);
      }
    } as unknown as typeof WebSocket;
  }

  /** Returns the next client that has said hello. */
  async nextPeer(): Promise<Peer> {
    const ready = this.#ready.shift();
    if (ready) return ready;
    const wait = deferred<Peer>();
    this.#waits.push(wait);
    return await wait.promise;
  }

  take(peer: Peer, message: Message): void {
    peer.note(message);
    const answer = this.answers[message.op]?.(message);
    if (answer) peer.send(answer);
    if (message.op !== "hello") return;
    peer.hello = message;
    const wait = this.#waits.shift();
    if (wait) wait.resolve(peer);
    else this.#ready.push(peer);
  }
}
