/** The refresher: brings another token before the one of a session expires, so that the session goes on. */
import type { Connection } from "./connection.js";
import { ConnectionLost, Refused } from "./errors.js";
import type { Welcome } from "./messages.js";
import type { Settings } from "./options.js";
import { fresh, refreshDelayMs, type Token } from "./token.js";

const AGAIN_MS = 1_000;

export class Refresher {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #failures = 0;

  /** Begins to refresh the token of `connection`. What the token function raises ends it by way of `fail`, except ConnectionLost: try again later. */
  constructor(
    readonly connection: Connection,
    readonly token: Token,
    welcome: Welcome,
    readonly settings: Settings,
    readonly fail: (error: unknown) => void,
  ) {
    if (typeof token === "string" || welcome.expires_ms === undefined) return;
    // The server's clock, as it was at the welcome: the one here may be wrong by hours.
    const serverMs = welcome.time_ms - performance.now();
    this.#wait(this.#delayMs(welcome.expires_ms - welcome.time_ms), serverMs);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #delayMs(lifeMs: number): number {
    return refreshDelayMs(lifeMs, this.settings.refreshAt, this.settings.random);
  }

  #wait(delayMs: number, serverMs: number): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#refresh(serverMs).catch(this.fail), delayMs);
  }

  async #refresh(serverMs: number): Promise<void> {
    try {
      const answer = await this.connection.call("refreshed", { op: "refresh", token: await fresh(this.token) });
      this.#failures = 0;
      // A source that gives the same token again is asked more and more often, but never without a pause.
      const lifeMs = (answer["expires_ms"] as number) - serverMs - performance.now();
      this.#wait(Math.max(AGAIN_MS, this.#delayMs(lifeMs)), serverMs);
    } catch (error) {
      if (!(error instanceof ConnectionLost || error instanceof Refused)) throw error;
      this.#wait(AGAIN_MS + this.settings.backoff.delayMs(this.#failures++, this.settings.random), serverMs);
    }
  }
}
