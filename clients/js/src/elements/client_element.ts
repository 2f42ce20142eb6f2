/** What the elements have in common: a client that those with the same address and token share, and how they draw. */
import { Client } from "../client.js";
import { wordsFor } from "./parts.js";
import type { Words } from "./words.js";

const DEFAULT_URL = "ws://127.0.0.1:7700";
const TICK_MS = 30_000;

interface Shared {
  readonly client: Client;
  users: number;
}

const shared = new Map<string, Shared>();

/**
 * An element with a client. `url` and `token` are attributes; elements with the same ones share a connection. Or a page sets `client`, which it
 * then connects and closes itself.
 */
export abstract class ClientElement extends HTMLElement {
  readonly root = this.attachShadow({ mode: "open" });
  #given: Client | undefined;
  #key: string | undefined;
  #client: Client | undefined;
  #stops: (() => void)[] = [];
  #isDrawing = false;

  get client(): Client | undefined {
    return this.#client;
  }

  set client(client: Client | undefined) {
    this.#given = client;
    if (this.isConnected) this.#begin();
  }

  connectedCallback(): void {
    const ticking = setInterval(() => this.#redraw(), TICK_MS);
    this.#begin();
    this.#stops.push(() => clearInterval(ticking));
  }

  disconnectedCallback(): void {
    this.#end();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#begin();
  }

  /** The words of the page's language. */
  protected get words(): Words {
    return wordsFor(this);
  }

  /** Begins to listen to `client`; what `until` is given is called in the end. */
  protected abstract listen(client: Client, until: (stop: () => void) => void): void;

  /** Shows the present state. It is called once a frame at most. */
  protected abstract draw(): void;

  protected changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => this.#redraw());
  }

  /** Tells the page of something: `name` bubbles out of the shadow. */
  protected tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #redraw(): void {
    this.#isDrawing = false;
    if (this.isConnected) this.draw();
  }

  #begin(): void {
    this.#end();
    this.#client = this.#given ?? this.#acquire();
    if (this.#client) this.listen(this.#client, (stop) => this.#stops.push(stop));
    this.changed();
  }

  #end(): void {
    for (const stop of this.#stops.splice(0)) stop();
    if (this.#key !== undefined) this.#release(this.#key);
    this.#client = this.#key = undefined;
  }

  #acquire(): Client | undefined {
    const token = this.getAttribute("token");
    if (!token) return undefined;
    const url = this.getAttribute("url") ?? DEFAULT_URL;
    const key = (this.#key = `${url} ${token}`);
    const found = shared.get(key) ?? { client: begun(url, token), users: 0 };
    found.users += 1;
    shared.set(key, found);
    return found.client;
  }

  #release(key: string): void {
    const found = shared.get(key)!;
    found.users -= 1;
    if (found.users) return;
    shared.delete(key);
    found.client.close();
  }
}

function begun(url: string, token: string): Client {
  const client = new Client(url, token);
  client.connect().catch(() => undefined); // the state says so
  return client;
}
