/** What the clients of services have in common: how they ask over HTTP, page after page, at one address after the other. */
import { doors } from "./address.js";
import { codeOf } from "./codes.js";
import { ConnectionLost, ProtocolError, Refused } from "./errors.js";
import { fresh, type Token } from "./token.js";

export type Urls = string | readonly string[];
export type Json = Record<string, unknown>;

const TIMEOUT_MS = 30_000;
const MOST_PAGES = 10_000;
const TRY_AGAIN_LATER = [408, 425, 429, 500, 502, 503, 504];
/** An answer whose body is none of ours comes from a proxy in between; then the status is all there is. */
const NAMES: Readonly<Record<number, string>> = { 401: "bad-token", 403: "forbidden", 404: "not-found", 405: "bad-method", 413: "too-large" };

export interface Asked {
  readonly body?: Json;
  readonly query?: Readonly<Record<string, string>>;
  /** Doing it twice is doing it once. What is not is sent to one address only. */
  readonly isRepeatable?: boolean;
}

/**
 * A client of the services of one kind at `urls`, which are tried in turn, for one user. `token` is the user's JWT, or a function that is called
 * for one at every request. All methods raise Refused when trying again cannot help, and ConnectionLost when no address answered.
 */
export class ServiceClient {
  #urls: readonly string[];
  #token: Token;

  constructor(urls: Urls, token: Token, path = "/v1") {
    this.#urls = doors(urls, ["http", "https"], path);
    this.#token = token;
  }

  /** Yields each page of the list at `path`. */
  protected async *pages<Page extends { readonly next: string | null }>(path: string): AsyncGenerator<Page> {
    for (let after = "", pages = 0; ; pages += 1) {
      const page = await this.ask<Page>("GET", path, { query: { after } });
      yield page;
      if (page.next === null) return;
      if (page.next === after || pages >= MOST_PAGES) throw new ProtocolError(`${path} has no end; is there something else at this address?`);
      after = page.next;
    }
  }

  /** Returns the answer of the first address that gives one. */
  protected async ask<Answer>(method: string, path: string, { body, query, isRepeatable = true }: Asked = {}): Promise<Answer> {
    let lost: unknown;
    for (const base of isRepeatable ? this.#urls : this.#urls.slice(0, 1)) {
      try {
        return (await this.#try(method, `${base}/${path}${query ? `?${new URLSearchParams(query)}` : ""}`, body)) as Answer;
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        lost = error;
      }
    }
    throw lost;
  }

  async #try(method: string, url: string, body: Json | undefined): Promise<unknown> {
    const headers = { Authorization: `Bearer ${await fresh(this.#token)}`, ...(body && { "Content-Type": "application/json" }) };
    let answer: Response;
    let text: string;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      answer = await fetch(url, { method, headers, signal, redirect: "error", ...(body && { body: JSON.stringify(inSnake(body)) }) });
      text = await answer.text();
    } catch (error) {
      throw new ConnectionLost(`${url} did not answer: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (!answer.ok) throw refused(url, answer, text);
    try {
      return inCamel(JSON.parse(text || "null"));
    } catch {
      throw new ProtocolError(`${url} answered ${answer.status} with a body that is not JSON`);
    }
  }
}

/** Returns `name` as one part of a path, whatever characters it has. */
export function part(name: string): string {
  return encodeURIComponent(name);
}

function refused(url: string, { status, headers }: Response, text: string): ConnectionLost | Refused {
  const rest = status < 500 ? "bad-request" : "unavailable";
  let said: { readonly code?: string; readonly reason?: string } | undefined;
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    // not ours
  }
  const code = codeOf(said?.code ?? NAMES[status] ?? rest) ?? codeOf(rest)!;
  const reason = said?.reason || code.name;
  if (!code.reconnect && !TRY_AGAIN_LATER.includes(status)) return new Refused(code, `${reason} (HTTP ${status} from ${url})`);
  const after = headers.get("Retry-After") ?? "";
  return new ConnectionLost(`${url} answered HTTP ${status}: ${reason}`, { code, retryAfterMs: /^\d+$/.test(after) ? Number(after) * 1000 : undefined });
}

function inCamel(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
}

function inSnake(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [rename(name), renamed(each, rename)]));
}
