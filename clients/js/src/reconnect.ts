/**
 * The decision when and where to connect again. Pure: the clock and the generator are arguments.
 *
 * Rule 1: a code with `reconnect` false is final, and so is what an operator says is. The one exception is `token-expired` of a session
 * that had been welcomed, where the token is fetched anew for each try.
 * Rule 2: the delay grows until a session has lasted `stableMs`, so a server that welcomes clients and throws them out is not hammered.
 * Rule 3: a delay that the server asked for with a code is kept: it spreads its clients itself. Without a code, that of rule 2 comes on top.
 */
import type { Backoff, Random } from "./backoff.js";
import { Refused, type ConnectionLost } from "./errors.js";

export const FIXED = "; give the client a function that fetches tokens, and it stays connected";

export class Reconnect {
  #tries = 0;
  #attempt = 0;
  #welcomedMs: number | undefined;

  constructor(
    readonly urls: readonly string[],
    readonly backoff: Backoff,
    readonly random: Random,
    readonly options: { readonly stableMs: number; readonly renewsToken: boolean },
  ) {}

  /** The address to try now; each end moves on to the next one. */
  get url(): string {
    return this.urls[this.#tries % this.urls.length]!;
  }

  /** Takes note that a session began at `nowMs`. */
  welcomed(nowMs: number): void {
    this.#welcomedMs = nowMs;
  }

  /** Returns the milliseconds to wait before connecting to `url`, which is the next address from now on. Raises Refused (rule 1). */
  ended(lost: ConnectionLost, nowMs: number): number {
    const welcomedMs = this.#welcomedMs;
    this.#welcomedMs = undefined;
    const isExpired = lost.code?.name === "token-expired";
    const isRenewable = isExpired && this.options.renewsToken && welcomedMs !== undefined;
    if (lost.code && (lost.isFinal || !lost.code.reconnect) && !isRenewable) {
      throw new Refused(lost.code, lost.reason + (isExpired && !this.options.renewsToken ? FIXED : ""));
    }
    if (welcomedMs !== undefined && nowMs - welcomedMs >= this.options.stableMs) this.#attempt = 0;
    const delayMs = this.backoff.delayMs(this.#attempt++, this.random);
    this.#tries += 1;
    if (lost.retryAfterMs === undefined) return delayMs;
    return lost.retryAfterMs + (lost.code ? 0 : delayMs);
  }
}
