/** How long to wait before trying again: a uniform draw from zero to a limit that doubles. It spreads the clients of a node that died. Pure. */
import { Misuse } from "./errors.js";

/** Returns a number in [0, 1); `Math.random` is one. */
export type Random = () => number;

export class Backoff {
  readonly baseMs: number;
  readonly capMs: number;

  /** Raises Misuse unless 0 < baseMs <= capMs. */
  constructor({ baseMs = 500, capMs = 30_000 }: { readonly baseMs?: number; readonly capMs?: number } = {}) {
    if (!(0 < baseMs && baseMs <= capMs)) throw new Misuse(`backoff needs 0 < baseMs <= capMs, got ${baseMs} and ${capMs}`);
    this.baseMs = baseMs;
    this.capMs = capMs;
  }

  /** Returns a delay before try number `attempt`; 0 is the first retry. */
  delayMs(attempt: number, random: Random): number {
    return random() * Math.min(this.capMs, this.baseMs * 2 ** attempt);
  }
}
