/** Times and bounds of a client. Every default is here. */
import { Backoff, type Random } from "./backoff.js";
import { Misuse } from "./errors.js";
import type { Device } from "./messages.js";
import type { TokensFor } from "./token.js";

/** A place for one text, such as `localStorage` under a key. */
export interface TextStore {
  load(): string | null;
  save(text: string): void;
}

export interface ClientOptions {
  /** The name of this device. The server keeps a seen mark for each. */
  readonly client?: string;
  readonly device?: Device;
  /** The user for whom the token is. The server refuses a token that is for another user. */
  readonly user?: string;
  /** Nobody sees what the user plays on this connection, nor on those that come after it. */
  readonly private?: boolean;
  /** Makes the tokens that allow to follow topics, at a site whose policy wants them. It is called before each subscribe. */
  readonly subscriptionTokens?: TokensFor;
  /** Keeps how far the application has come in its topics, so that the next page gets what was missed meanwhile. */
  readonly positions?: TextStore;
  /** Keeps the mark where this device goes on with notifications. Without it the server's seen mark of `client` does. */
  readonly marks?: TextStore;
  /** Notifications are seen when the application calls `seen`, not as soon as they are told. */
  readonly seenByHand?: boolean;
  /** The seen mark is told at most once in so long. */
  readonly seenEveryMs?: number;
  /** How long the access point may take for the pull that it makes at hello. Then the client makes it itself. */
  readonly helloPullMs?: number;
  /** How long `connect` tries before it gives up. */
  readonly openTimeoutMs?: number;
  /** How long one access point may take from the first packet to its welcome. */
  readonly answerTimeoutMs?: number;
  /** A connection is dead when nothing was heard on it for so long, not even the answer to a ping. */
  readonly heartbeatMs?: number;
  /** A session that lasted so long resets the backoff. */
  readonly stableMs?: number;
  /** The positions are saved at most once in so long. */
  readonly positionsEveryMs?: number;
  /** Which part of its life a token has had when the client brings another one, if it was given a function. */
  readonly refreshAt?: number;
  /** The delays between tries. */
  readonly backoff?: { readonly baseMs?: number; readonly capMs?: number };
  readonly random?: Random;
  /** What opens a WebSocket, where the platform has none of its own. */
  readonly webSocket?: typeof WebSocket;
}

/** The options of a client with all their defaults. */
export interface Settings extends Required<Omit<ClientOptions, "user" | "subscriptionTokens" | "positions" | "marks" | "backoff">> {
  readonly backoff: Backoff;
}

const TIMES = ["openTimeoutMs", "answerTimeoutMs", "heartbeatMs", "positionsEveryMs"] as const;

/** Returns `options` with all that they leave out. Raises Misuse for a value that cannot work. */
export function settled(options: ClientOptions): Settings {
  const webSocket = options.webSocket ?? globalThis.WebSocket;
  if (!webSocket) throw new Misuse("this platform has no WebSocket; give one as the option webSocket, as that of ws");
  const settings = {
    client: "browser",
    device: "desktop" as const,
    private: false,
    openTimeoutMs: 30_000,
    answerTimeoutMs: 10_000,
    heartbeatMs: 15_000,
    stableMs: 5_000,
    positionsEveryMs: 1_000,
    seenByHand: false,
    seenEveryMs: 1_000,
    helloPullMs: 5_000,
    refreshAt: 0.8,
    random: Math.random,
    ...options,
    webSocket,
    backoff: new Backoff(options.backoff),
  };
  for (const name of TIMES) if (!(settings[name] > 0)) throw new Misuse(`${name} must be more than 0, got ${settings[name]}`);
  if (!(settings.refreshAt > 0 && settings.refreshAt < 1)) throw new Misuse(`refreshAt must lie between 0 and 1, got ${settings.refreshAt}`);
  return settings;
}
