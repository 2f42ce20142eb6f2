/** A client that a test makes, and what it has told. */
import { Client, type ClientEvents } from "../../src/client.js";
import type { ClientOptions } from "../../src/options.js";
import type { Token } from "../../src/token.js";
import { ScriptedServer, URL } from "./scripted_server.js";

export const FAST = { backoff: { baseMs: 0.01, capMs: 0.02 } };

export function clientOf(server: ScriptedServer, options: ClientOptions = {}, token: Token = "secret", urls: string | string[] = URL): Client {
  return new Client(urls, token, { ...FAST, webSocket: server.webSocket, ...options });
}

/** Returns the next value of `name` that `matches`. */
export function next<Name extends keyof ClientEvents>(
  client: Client,
  name: Name,
  matches: (value: ClientEvents[Name]) => boolean = () => true,
): Promise<ClientEvents[Name]> {
  return new Promise((resolve) => {
    const stop = client.on(name, (value) => {
      if (!matches(value)) return;
      stop();
      resolve(value);
    });
  });
}

/** Returns a list that grows with every value of `name`. */
export function collected<Name extends keyof ClientEvents>(client: Client, name: Name): ClientEvents[Name][] {
  const found: ClientEvents[Name][] = [];
  client.on(name, (value) => found.push(value));
  return found;
}

export function storeOf(text: string | null = null): { text: string | null; load(): string | null; save(text: string): void } {
  return {
    text,
    load() {
      return this.text;
    },
    save(saved) {
      this.text = saved;
    },
  };
}
