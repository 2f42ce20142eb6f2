/**
 * The recovery of a client: what it asks for when it comes back, and what the answers mean for its positions. Pure.
 *
 * Nothing of it is said to a server whose welcome names no window.
 */
import { Cursors } from "./cursors.js";
import type { Refused } from "./errors.js";
import {
  limitedTo,
  sizeBytes,
  topicBatches,
  type Gap,
  type Installed,
  type LostTopic,
  type Message,
  type SegueEvent,
  type Subscribed,
  type Wait,
  type Welcome,
} from "./messages.js";
import { kindOf } from "./topics.js";

/** Bytes of an epoch, a number, and what stands around them and a name. */
const NUMBER_BYTES = 48;
/** The most that one message asks to recover numbers of. */
const MAX_SINCE = 2_000;

/**
 * A subscribe that is not answered. `away`: the topics that were not followed when it was sent. `nowhere`: those without a position. `canMiss`: those of
 * which something can be missing.
 */
interface Asked {
  readonly topics: readonly string[];
  readonly away: ReadonlySet<string>;
  readonly nowhere: ReadonlySet<string>;
  readonly canMiss: ReadonlySet<string>;
  readonly recovers: boolean;
}

/** The recovery of one client, over all its connections. It tells `changed` when positions may have changed. */
export class Recoverer {
  readonly cursors = new Cursors();
  #welcome: Welcome | undefined;
  #asked = new Map<unknown, Asked>();

  constructor(readonly changed: () => void = () => undefined) {}

  /** Whether the server recovers anything. */
  get isOffered(): boolean {
    return Object.keys(this.#welcome?.window ?? {}).length > 0;
  }

  /** Notes a new connection, which began with `welcome`. */
  connect(welcome: Welcome): void {
    this.#welcome = welcome;
    this.#asked.clear();
  }

  /** Notes the end of the connection. */
  disconnect(): void {
    this.#asked.clear();
    this.cursors.disconnect();
  }

  /** Returns `topics` in lists for one subscribe each: those of a list have the same point, and all are recovered or none. */
  batches(topics: Iterable<string>): string[][] {
    const { limits } = this.#welcome!;
    const most = limitedTo(MAX_SINCE, limits);
    const groups = grouped(topics, (topic) => (this.#isKept(topic) ? `kept ${this.cursors.position(topic)?.point ?? ""}` : ""));
    return [...groups].flatMap(([key, group]) => (key ? topicBatches(group, most, (topic) => this.#sinceBytes(topic)) : topicBatches(group, limits)));
  }

  /** Returns the subscribe for a list of `batches`, which is sent as `callId` at once. */
  ask(callId: unknown, topics: readonly string[], wait: Wait): Message {
    const recovers = this.#isKept(topics[0]!);
    const nowhere = new Set(topics.filter((topic) => this.cursors.position(topic) === null));
    const where = recovers ? this.#where(topics) : {};
    const away = new Set(topics.filter((topic) => this.cursors.isAway(topic)));
    const canMiss = recovers ? this.cursors.ask(topics) : this.cursors.begin(topics);
    this.#asked.set(callId, { topics, away, canMiss, nowhere, recovers });
    return { op: "subscribe", topics, wait, ...where };
  }

  /** Takes the answer to a subscribe. Returns it with what is missing, and the news of that. */
  answered(answer: Subscribed): { readonly installed: Installed; readonly gaps: readonly Gap[] } {
    const { id, point, ...said } = answer;
    const asked = this.#pop(id);
    if (!asked) {
      this.reach(point); // it asked for no topic by name
      return { installed: { ...said, recovered: null }, gaps: [] };
    }
    const rejected = new Set(answer.rejected.map(({ topic }) => topic));
    const canMiss = new Set([...asked.canMiss].filter((topic) => !rejected.has(topic)));
    const lost = this.#lost(asked, answer, canMiss);
    this.cursors.retreat([...rejected].filter((topic) => asked.away.has(topic))); // the others go on
    this.cursors.settle(asked.topics.filter((topic) => !rejected.has(topic)), asked.recovers ? lost.map(({ topic }) => topic) : []);
    this.reach(point);
    const recovered = this.isOffered && canMiss.size > 0 ? lost.length === 0 : null;
    return { installed: { ...said, recovered, lost }, gaps: gapsOf(lost, point) };
  }

  /** Takes the refusal of a subscribe. Returns whether to ask again: for the server does not take the positions. */
  refused(callId: unknown, refusal: Refused): boolean {
    const asked = this.#pop(callId);
    if (!asked) return false;
    this.cursors.retreat(asked.away);
    const isOurs = asked.recovers && refusal.code.name === "bad-field" && asked.canMiss.size > 0;
    if (isOurs) this.cursors.empty(asked.away);
    return isOurs;
  }

  /** Moves past `event`, which the application gets. Returns it with its gap; null if the application has it already. */
  take(event: SegueEvent): SegueEvent | null {
    const taken = this.cursors.take(event);
    if (taken) this.changed();
    return taken;
  }

  /** Notes that everything up to `point` has come; null: that the server does not say. */
  reach(point: string | null): void {
    if (point !== null) this.cursors.reach(point);
    this.changed();
  }

  /** Notes that something may be missing. */
  miss(gap: Gap): void {
    this.cursors.empty(gap.topics);
    this.reach(gap.point);
  }

  /** Notes that `topics` are followed from now on, without having been asked for by name. */
  begin(topics: readonly string[]): void {
    this.cursors.begin(topics);
    this.cursors.settle(topics, []);
  }

  /** Forgets `topics`, which are not followed any more. */
  forget(topics: Iterable<string>): void {
    this.cursors.forget(topics);
    this.changed();
  }

  /** Returns the topics with a position that may be those of friends: feeds and playlists. */
  keptOfFriends(): string[] {
    return [...this.cursors.snapshot().keys()].filter((topic) => /^hm:..p/.test(topic));
  }

  #pop(callId: unknown): Asked | undefined {
    const asked = this.#asked.get(callId);
    this.#asked.delete(callId);
    return asked;
  }

  #isKept(topic: string): boolean {
    const kind = kindOf(topic);
    return kind !== undefined && kind in (this.#welcome?.window ?? {});
  }

  #sinceBytes(topic: string): number {
    const sites = [...(this.cursors.position(topic)?.sites.keys() ?? [])];
    if (!sites.length) return 0;
    return sites.reduce((sum, site) => sum + sizeBytes(site) + NUMBER_BYTES, sizeBytes(topic) + NUMBER_BYTES);
  }

  #where(topics: readonly string[]): { recover: true; point?: string; since?: object } {
    let point: string | null = null; // those of a list have the same one
    const since: Record<string, object> = {};
    for (const topic of topics) {
      const position = this.cursors.position(topic);
      point ??= position?.point ?? null;
      if (position?.sites.size) since[topic] = Object.fromEntries([...position.sites].map(([site, [newest]]) => [site, newest]));
    }
    return { recover: true, ...(point !== null && { point }), ...(Object.keys(since).length > 0 && { since }) };
  }

  #lost(asked: Asked, answer: Subscribed, canMiss: ReadonlySet<string>): LostTopic[] {
    if (!this.isOffered) return [];
    const missable = asked.topics.filter((topic) => canMiss.has(topic));
    if (!asked.recovers) return missable.map((topic) => ({ topic, reason: "no-window" }));
    const said = new Map(answer.lost.map((each) => [each.topic, each] as const));
    // Who says neither a point nor a number is told that nothing is missing from now on.
    const silent = answer.recovered || answer.lost.length > 0 ? asked.nowhere : asked.canMiss;
    return missable.filter((topic) => said.has(topic) || silent.has(topic)).map((topic) => said.get(topic) ?? { topic, reason: "expired" });
  }
}

function gapsOf(lost: readonly LostTopic[], point: string | null): Gap[] {
  return [...grouped(lost, ({ reason }) => reason)].map(([reason, each]) => ({ topics: each.map(({ topic }) => topic), reason, point }));
}

/** Returns `items` by their key. */
function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(item);
  }
  return groups;
}
