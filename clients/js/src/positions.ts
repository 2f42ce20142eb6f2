/** Positions as one text, for a store that outlives the page. Pure. */
import { MAX_EPOCHS, MAX_SITES, MAX_TOPICS, type Place, type Position } from "./cursors.js";
import { Misuse } from "./errors.js";

const VERSION = 1;

/** What is kept: whose positions they are, and those of each topic. */
export interface Kept {
  readonly user: string;
  readonly positions: ReadonlyMap<string, Position>;
}

/** A topic. The point is "" where it is that of the topic before it: mostly all have the same one. */
type Saved = readonly [topic: string, point: string | null, sites: readonly (readonly [site: string, places: readonly Place[]])[]];

/** Returns `kept` as a text. Of more topics than a client has positions in, the first ones are left out. */
export function written({ user, positions }: Kept): string {
  let last: string | undefined;
  const topics: Saved[] = [...positions].slice(-MAX_TOPICS).map(([topic, { point, sites }]) => [topic, point && (point === last ? "" : (last = point)), [...sites]]);
  return JSON.stringify({ version: VERSION, user, topics });
}

/** Returns what a text of `written` says. Raises Misuse for any other text, and for one of a newer version. */
export function read(text: string): Kept {
  let saved: { readonly version?: unknown; readonly user?: unknown; readonly topics?: unknown };
  try {
    saved = JSON.parse(text) as typeof saved;
  } catch {
    throw unreadable("it is not JSON");
  }
  if (typeof saved?.version === "number" && saved.version > VERSION) throw unreadable(`its version is ${saved.version}, ours ${VERSION}`);
  if (typeof saved?.user !== "string" || !isListOf(isSaved, saved.topics, MAX_TOPICS)) throw unreadable("it has other fields");
  let last: string | null = null;
  const positions = saved.topics.map(([topic, point, sites]) => [topic, { point: point === null ? point : (last = point || last), sites: new Map(sites) }] as const);
  return { user: saved.user, positions: new Map(positions) };
}

function unreadable(why: string): Misuse {
  return new Misuse(`the option positions: its store holds none (${why}); empty it, or give another one`);
}

function isListOf<T>(is: (each: unknown) => each is T, value: unknown, most: number, least = 0): value is readonly T[] {
  return Array.isArray(value) && value.length <= most && value.length >= least && value.every(is);
}

function isSaved(each: unknown): each is Saved {
  return Array.isArray(each) && each.length === 3 && isText(each[0]) && (each[1] === null || isText(each[1])) && isListOf(isSite, each[2], MAX_SITES);
}

function isSite(each: unknown): each is Saved[2][number] {
  return Array.isArray(each) && isText(each[0]) && isListOf(isPlace, each[1], MAX_EPOCHS, 1);
}

function isPlace(each: unknown): each is Place {
  return isListOf(isNumber, each, 2, 2);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
