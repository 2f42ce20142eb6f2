/** Positions as one text, for a store that outlives the page. Pure. */
import { MAX_EPOCHS, MAX_SITES, MAX_TOPICS, type Place, type Position } from "./cursors.js";
import { Misuse } from "./errors.js";

const VERSION = 1;

/** What is kept: whose positions they are, and those of each topic. */
export interface Kept {
  readonly user: string;
  readonly positions: ReadonlyMap<string, Position>;
}

type Saved = readonly [topic: string, point: string | null, sites: readonly (readonly [site: string, places: readonly Place[]])[]];

/** Returns `kept` as a text. Of more topics than a client has positions in, the first ones are left out. */
export function written({ user, positions }: Kept): string {
  const topics: Saved[] = [...positions].slice(-MAX_TOPICS).map(([topic, { point, sites }]) => [topic, point, [...sites]]);
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
  if (typeof saved?.user !== "string" || !Array.isArray(saved.topics) || saved.topics.length > MAX_TOPICS || !saved.topics.every(isSaved)) {
    throw unreadable("it has other fields");
  }
  return { user: saved.user, positions: new Map(saved.topics.map(([topic, point, sites]) => [topic, { point, sites: new Map(sites) }])) };
}

function unreadable(why: string): Misuse {
  return new Misuse(`the option positions: its store holds no positions (${why}); empty it, or give another one, to begin with what comes from now on`);
}

function isSaved(each: unknown): each is Saved {
  if (!Array.isArray(each) || each.length !== 3) return false;
  const [topic, point, sites] = each as readonly unknown[];
  return typeof topic === "string" && (point === null || typeof point === "string") && Array.isArray(sites) && sites.length <= MAX_SITES && sites.every(isSite);
}

function isSite(each: unknown): boolean {
  if (!Array.isArray(each) || typeof each[0] !== "string" || !Array.isArray(each[1])) return false;
  const places: readonly unknown[] = each[1];
  return places.length > 0 && places.length <= MAX_EPOCHS && places.every(isPlace);
}

function isPlace(each: unknown): boolean {
  return Array.isArray(each) && each.length === 2 && each.every((number) => Number.isSafeInteger(number) && number >= 0);
}
