/** The source of a token: the token itself, or a function that is called each time one is needed. */
export type Token = string | (() => string | Promise<string>);

/** Returns the subscription tokens for some topics. */
export type TokensFor = (topics: readonly string[]) => readonly string[] | Promise<readonly string[]>;

/** Clients that came in the same second must not all ask for tokens in the same second. */
const JITTER = 0.1;
/** What a timer can wait for, and longer than tokens live. */
const MOST_MS = 7 * 86_400_000;

/** Returns the token to use now. Raises what the function raises. */
export async function fresh(token: Token): Promise<string> {
  return typeof token === "string" ? token : await token();
}

/** Returns how long to wait until a token with `lifeMs` left is replaced: a part `refreshAt` of that, or a little less. Pure. */
export function refreshDelayMs(lifeMs: number, refreshAt: number, random: () => number): number {
  return Math.min(Math.max(lifeMs, 0) * refreshAt * (1 - JITTER * random()), MOST_MS);
}
