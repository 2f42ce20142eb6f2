/**
 * The positions of a client in its topics, which tell what it has missed, and from where it recovers. Pure.
 *
 * Rule 1: numbers rise by one per topic and origin site within an epoch. The first number seen of a topic, site and epoch fixes the position.
 * Rule 2: positions outlive a connection only where the server recovers.
 * Rule 3: a skip is never taken for a loss: `skipped` covers missing numbers right before its event and no others. Out of a window it may
 * count such as the client has got: of these the application is not told.
 * Rule 4: another epoch goes on from the one before it where `after` names the last number of that one. Otherwise nobody can count.
 * Rule 5: a position is one value, replaced as a whole, before its event is handed out. Where something may be missing it is emptied, and
 * the next event says so.
 * Rule 6: while a topic is recovered, what came already is known by site, epoch and number, and left out.
 * Rule 7: the answer to a recovery tells of losses. Until it is there, what has come of a site of which no number was known may stand behind
 * one, and nothing shows that. So such numbers are not said with the point.
 */
import type { SegueEvent } from "./messages.js";

export const MAX_TOPICS = 10_000;
/** Of one topic: sites with numbers, and epochs of a site that are remembered. */
export const MAX_SITES = 64;
export const MAX_EPOCHS = 4;

export type Place = readonly [epoch: number, seq: number];
/** The last numbers of a topic and origin site: the present epoch's first, then those of the epochs before it. */
export type Places = readonly Place[];

/** The position in a topic: the `point` up to which it is whole, and the numbers of each of its `sites`. */
export interface Position {
  readonly point: string | null;
  readonly sites: ReadonlyMap<string, Places>;
}

type Phase = "away" | "asked" | "live";

const NOWHERE: Position = { point: null, sites: new Map() };

function isSomewhere(position: Position): boolean {
  return position.point !== null || position.sites.size > 0;
}

class Cursor {
  position = NOWHERE;
  wasFollowed = false;
  isWhole = true;
  isRecovered = false;
  isTold = false;
  moved = new Set<string>();
  /** The first numbers of sites of which none was known, while no answer has said whether something is missing before them. */
  firsts = new Map<string, Place>();

  constructor(public phase: Phase = "away") {}

  get canMiss(): boolean {
    return this.wasFollowed || this.position.sites.size > 0;
  }

  /** The position that can be said. */
  get sayable(): Position {
    return this.firsts.size ? this.#only((site) => !this.firsts.has(site), this.position.point) : this.position;
  }

  #only(isKept: (site: string) => boolean, point: string | null): Position {
    return { point, sites: new Map([...this.position.sites].filter(([site]) => isKept(site))) };
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.isRecovered = phase === "asked" && isSomewhere(this.position);
    this.isTold = false;
    this.moved = new Set();
  }

  /** Empties the position, except for what has come since the topic was asked for: that stands behind what is missing. */
  empty(): void {
    this.position = this.#only((site) => this.moved.has(site), null);
    this.firsts.clear();
    this.isWhole = this.isTold;
  }

  has(event: SegueEvent): boolean {
    return isLate(this.position.sites.get(event.site) ?? [], event);
  }

  /** Notes that `event` is not handed out, since later ones were. If it had not come itself, the next one says so. */
  passOver(event: SegueEvent): void {
    const [epoch, seq] = this.firsts.get(event.site) ?? [];
    if (event.epoch === epoch && event.seq < seq!) this.isWhole = false;
  }

  /** Returns how many events are missing before `event`, and how many it has replaced that have not come, as far as that can be counted. */
  counted(event: SegueEvent): Pick<SegueEvent, "gap" | "skipped"> {
    const { skipped } = event;
    const places = this.position.sites.get(event.site);
    const missing = places ? missingBetween(places, event) : skipped; // of what was before the first one nothing is known
    const gap = this.isWhole && missing !== null ? Math.max(0, missing - skipped) : null;
    this.isWhole = true;
    return { gap, skipped: Math.min(skipped, missing ?? skipped) };
  }

  move(event: SegueEvent): void {
    const sites = new Map(this.position.sites);
    if (!sites.has(event.site)) {
      if (this.isRecovered) this.firsts.set(event.site, [event.epoch, event.seq]);
      if (sites.size >= MAX_SITES) sites.delete(sites.keys().next().value!);
    }
    this.position = { point: this.position.point, sites: sites.set(event.site, behind(sites.get(event.site) ?? [], event)) };
  }
}

/** The positions of one client, over all its connections. */
export class Cursors {
  #topics = new Map<string, Cursor>();

  /** Moves past `event`. Returns it with its gap; null if it came already, before the topic was recovered. */
  take(event: SegueEvent): SegueEvent | null {
    let cursor = this.#topics.get(event.topic);
    if (!cursor) {
      if (this.#topics.size >= MAX_TOPICS) return { ...event, gap: null };
      this.#topics.set(event.topic, (cursor = new Cursor("live")));
    }
    if (cursor.isRecovered && cursor.has(event)) {
      cursor.passOver(event);
      return null;
    }
    const counted = cursor.counted(event);
    cursor.move(event);
    if (cursor.phase === "asked") {
      cursor.moved.add(event.site);
      cursor.isTold ||= counted.gap !== 0;
    }
    return { ...event, ...counted, replayed: cursor.isRecovered };
  }

  /** Returns from where `topic` is to be recovered; null where nothing is known, or where it is recovered already. */
  position(topic: string): Position | null {
    const cursor = this.#topics.get(topic);
    const said = cursor?.phase === "away" ? cursor.sayable : NOWHERE;
    return isSomewhere(said) ? said : null;
  }

  /** Whether `topic` is neither followed now, nor asked for. */
  isAway(topic: string): boolean {
    return (this.#topics.get(topic)?.phase ?? "away") === "away";
  }

  /** Notes that `topics` are asked for, from their positions. Returns those of which something can be missing. */
  ask(topics: Iterable<string>): Set<string> {
    const away = this.#away(topics);
    for (const [, cursor] of away) cursor.enter("asked");
    return missable(away);
  }

  /** Notes that `topics` are asked for where nothing recovers them. Returns those of which something may be missing. */
  begin(topics: Iterable<string>): Set<string> {
    const away = this.#away(topics);
    const missed = missable(away);
    for (const [, cursor] of away) cursor.enter("live");
    this.empty(missed);
    return missed;
  }

  /** Notes that `topics` are followed now, and that something may be missing of those that are `lost`. */
  settle(topics: Iterable<string>, lost: Iterable<string>): void {
    for (const cursor of this.#known(lost)) cursor.empty();
    for (const cursor of this.#known(topics)) {
      cursor.wasFollowed = true;
      cursor.firsts.clear();
      cursor.enter("live");
    }
  }

  /** Empties the positions of `topics`, of which something may be missing. The next event of each says so. */
  empty(topics: Iterable<string>): void {
    for (const cursor of this.#known(topics)) {
      cursor.enter(cursor.phase);
      cursor.empty();
    }
  }

  /** Notes that `topics` are not followed now; they are asked for again later. */
  retreat(topics: Iterable<string>): void {
    for (const cursor of this.#known(topics)) cursor.enter("away");
  }

  /** Notes that everything up to `point` has come, of all topics that are followed now. */
  reach(point: string): void {
    for (const cursor of this.#topics.values()) {
      if (cursor.phase === "live") cursor.position = { ...cursor.position, point };
    }
  }

  /** Notes the end of the connection. */
  disconnect(): void {
    this.#topics = new Map([...this.#topics].filter(([, cursor]) => cursor.canMiss));
    this.retreat(this.#topics.keys());
  }

  /** Forgets `topics`, which are not followed any more. Following one again begins anew. */
  forget(topics: Iterable<string>): void {
    for (const topic of topics) this.#topics.delete(topic);
  }

  /** Returns all positions as they are now. */
  snapshot(): Map<string, Position> {
    return new Map([...this.#topics].map(([topic, { sayable }]) => [topic, sayable] as const).filter(([, position]) => isSomewhere(position)));
  }

  /** Begins with `positions`, which another process has kept. */
  restore(positions: ReadonlyMap<string, Position>): void {
    for (const [topic, position] of positions) {
      const cursor = new Cursor();
      cursor.position = position;
      cursor.wasFollowed = true;
      this.#topics.set(topic, cursor);
    }
  }

  get size(): number {
    return this.#topics.size;
  }

  #away(topics: Iterable<string>): [string, Cursor][] {
    const found: [string, Cursor][] = [];
    for (const topic of topics) {
      const cursor = this.#topics.get(topic) ?? new Cursor();
      this.#topics.set(topic, cursor);
      if (cursor.phase === "away") found.push([topic, cursor]);
    }
    return found;
  }

  #known(topics: Iterable<string>): Cursor[] {
    return [...topics].map((topic) => this.#topics.get(topic)).filter((cursor) => cursor !== undefined);
  }
}

function missable(cursors: readonly [string, Cursor][]): Set<string> {
  return new Set(cursors.filter(([, cursor]) => cursor.canMiss).map(([topic]) => topic));
}

/** Returns how many events are missing between the last of `places` and `event`; null where nobody can count them. */
export function missingBetween(places: Places, event: SegueEvent): number | null {
  const [epoch, seq] = places[0]!;
  if (event.epoch === epoch) return Math.max(0, event.seq - seq - 1);
  if (isLate(places, event)) return 0;
  if (event.after?.[0] === epoch) return Math.max(0, event.after[1] - seq);
  return null;
}

/** Returns `places` with that of `event`, which turns none of them back. What it goes on behind was counted, so it is late from now on. */
function behind(places: Places, event: SegueEvent): Places {
  if (isLate(places, event)) return places;
  const [before, last = 0] = event.after ?? [];
  const former = places.filter(([epoch]) => epoch !== event.epoch).map(([epoch, seq]) => [epoch, epoch === before ? Math.max(seq, last) : seq] as const);
  return [[event.epoch, event.seq] as const, ...former].slice(0, MAX_EPOCHS);
}

/** Tells whether `event` was before what has come since. A higher number of a former epoch is not: that epoch holds again. */
function isLate(places: Places, event: SegueEvent): boolean {
  return places.some(([epoch, seq]) => event.epoch === epoch && event.seq <= seq);
}
