/** What the elements have in common: a client that those with the same address and token share, a language, and how they draw. */
import { Client } from "../client.js";
import { wordsOf, type Words } from "./words.js";

const DEFAULT_URL = "ws://127.0.0.1:7700";
const TICK_MS = 30_000;

interface Shared {
  readonly client: Client;
  users: number;
}

const shared = new Map<string, Shared>();

/** Colours, which a page changes by these variables; without them they follow the light or dark scheme. */
export const STYLE = `
  :host {
    --_text: var(--segue-text, light-dark(#1c1b1f, #ecebf0));
    --_faint: var(--segue-faint, light-dark(#5c5a66, #a9a7b4));
    --_surface: var(--segue-surface, light-dark(#ffffff, #1d1c22));
    --_line: var(--segue-line, light-dark(#e3e1ea, #36343f));
    --_accent: var(--segue-accent, light-dark(#6b3fd4, #b79bff));
    --_on-accent: var(--segue-on-accent, light-dark(#ffffff, #1d1c22));
    color: var(--_text);
    color-scheme: var(--segue-scheme, light dark);
    font: var(--segue-font, 15px/1.45 system-ui, sans-serif);
  }
  :host([hidden]) { display: none; }
  * { box-sizing: border-box; }
  ol { list-style: none; margin: 0; padding: 0; }
  li { display: flex; gap: 12px; align-items: baseline; padding: 10px 16px; border-block-end: 1px solid var(--_line); }
  li:last-child { border: 0; }
  .what { flex: 1; min-width: 0; overflow-wrap: anywhere; }
  .who { font-weight: 600; }
  .about { display: block; color: var(--_faint); }
  time, .empty, .note { color: var(--_faint); font-size: 0.87em; white-space: nowrap; }
  .empty, .note { white-space: normal; padding: 16px; margin: 0; }
  .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  :focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
`;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== ""));
  return made;
}

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
    return wordsOf(this.closest("[lang]")?.getAttribute("lang") || navigator.language);
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
