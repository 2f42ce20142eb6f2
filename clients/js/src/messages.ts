/** The messages of an access point (docs/client-protocol.md) and the values that an application gets of them. Pure. */
import { ProtocolError } from "./errors.js";

export type Wait = "local" | "all";
export type Whom = "friends";
export type Device = "desktop" | "mobile";
export type Payload = Readonly<Record<string, unknown>>;

/** A message as it is on the wire. */
export interface Message {
  readonly op: string;
  readonly id?: unknown;
  readonly [field: string]: unknown;
}

/** The most that one message may hold. */
export interface Limits {
  readonly message_bytes: number;
  readonly topics_per_message: number;
}

/** For a server that does not say. */
export const DEFAULT_LIMITS: Limits = { message_bytes: 32_768, topics_per_message: 200 };

/** The answer to hello. `window` has the kinds of topics whose events are kept for clients that were away. */
export interface Welcome {
  readonly session: string | number;
  readonly site: string;
  readonly user: string;
  readonly time_ms: number;
  readonly expires_ms?: number;
  readonly limits: Limits;
  readonly window: Readonly<Record<string, unknown>>;
}

/** An event that was published on a followed topic. */
export interface SegueEvent<P = Payload> {
  readonly topic: string;
  /** The site where it was published. */
  readonly site: string;
  /** Its number: `seq` rises by one for each topic and site within an `epoch`. */
  readonly epoch: number;
  readonly seq: number;
  /** When it was published, in ms since 1970. */
  readonly tsMs: number;
  readonly id: string;
  readonly kind: string;
  readonly payload: P;
  /** How many older events of the topic and site it has replaced on the way, which have not come. */
  readonly skipped: number;
  /** On the first event of an epoch that goes on from another one without loss: the last number of that one. */
  readonly after: readonly [epoch: number, seq: number] | null;
  /** How many events were lost before this one; null where something may be lost that nobody can count. */
  readonly gap: number | null;
  /** Whether it came while its topic was recovered, so it may be older than the connection. */
  readonly replayed: boolean;
}

/** A topic that is not followed, or not any more. */
export interface RejectedTopic {
  readonly topic: string;
  readonly code: string;
  readonly reason: string;
}

/** A topic of which something may be missing, for a reason of docs/recovery.md. */
export interface LostTopic {
  readonly topic: string;
  readonly reason: string;
}

/** The state of a subscription. */
export interface Installed {
  /** "local": the brokers of this site hold it; "all": those of every live site; "partial": not yet at `missingSites`. */
  readonly installed: Wait | "partial";
  readonly missingSites: readonly string[];
  readonly rejected: readonly RejectedTopic[];
  /** Whether all that was missed has come; null where nothing was asked for, or the server recovers nothing. */
  readonly recovered: boolean | null;
  readonly lost: readonly LostTopic[];
  /** How many events were missed, and have come. */
  readonly replayed: number;
}

/** The answer to the subscribe `id`. Up to `point` everything has come. */
export interface Subscribed extends Installed {
  readonly id: unknown;
  readonly point: string | null;
}

/** News that something of `topics` may be missing, though no number shows it. Behind `point` nothing is. */
export interface Gap {
  readonly topics: readonly string[];
  readonly reason: string;
  readonly point: string | null;
}

/** News of followed topics that leave real time, because capacity is short, or come back. */
export interface Offloaded {
  readonly epoch: number;
  readonly left: readonly string[];
  readonly back: readonly string[];
  /** 0: nothing of them comes; otherwise one event in so many milliseconds. */
  readonly everyMs: number;
}

/** News of topics that are followed no longer, because the user may not see them any more. */
export interface Ended {
  readonly topics: readonly RejectedTopic[];
}

/** News of the topics of friends, for a client that follows its friends. */
export interface FriendNews {
  /** Those that are followed from now on: feeds of friends, and their playlists. */
  readonly topics: readonly string[];
  /** Those that are followed no longer. What was subscribed by name goes on. */
  readonly left: readonly string[];
  /** How many are not followed because the connection has as many topics as it may have. */
  readonly beyond: number;
  /** Whether everybody could be asked who knows of friends. If not, more comes by itself. */
  readonly whole: boolean;
}

/** What an operator tells everybody. */
export interface Announcement {
  readonly text: string;
  readonly data: Payload;
  readonly timeMs: number;
}

/** A past event, in a history or as the last one of a topic. */
export interface PastEvent {
  readonly topic: string;
  readonly tsMs: number;
  readonly id: string;
  readonly kind: string;
  readonly payload: Payload;
  /** What it is about, such as `new-album`; empty outside a history. */
  readonly class: string;
}

/** A page of the stored events of a topic, newest first. `next` is the `before` of the page after it; null at the end. */
export interface History {
  readonly topic: string;
  readonly items: readonly PastEvent[];
  readonly next: string | null;
}

/** A refusal: of the call `id`, or of the whole connection where the code is fatal. */
export interface Problem {
  readonly code: string;
  readonly number: number;
  readonly reason: string;
  readonly reconnectInMs: number | undefined;
  readonly reconnect: boolean | undefined;
  readonly point: string | null;
}

/** Returns the message in one text frame. Raises ProtocolError for what is no object with an op. */
export function decode(text: string): Message {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new ProtocolError("the server sent a text that is not JSON");
  }
  if (typeof message !== "object" || message === null || typeof (message as Message).op !== "string") {
    throw new ProtocolError("the server sent a message without an op");
  }
  return message as Message;
}

export function eventOf(message: Message): SegueEvent {
  const { op: _, ts, ...rest } = message;
  return { skipped: 0, after: null, gap: 0, replayed: false, payload: {}, ...rest, tsMs: ts } as unknown as SegueEvent;
}

export function welcomeOf(message: Message): Welcome {
  const limits = { ...DEFAULT_LIMITS, ...(message["limits"] as Partial<Limits>) };
  return { window: {}, ...message, limits } as unknown as Welcome;
}

export function subscribedOf(message: Message): Subscribed {
  const { op: _, missing_sites, ...rest } = message;
  return { rejected: [], recovered: null, lost: [], replayed: 0, point: null, ...rest, missingSites: missing_sites ?? [] } as unknown as Subscribed;
}

export function gapOf(message: Message): Gap {
  const { op: _, ...rest } = message;
  return { point: null, ...rest } as unknown as Gap;
}

export function offloadedOf(message: Message): Offloaded {
  const { op: _, every_ms, ...rest } = message;
  return { left: [], back: [], ...rest, everyMs: every_ms ?? 0 } as unknown as Offloaded;
}

export function endedOf(message: Message): Ended {
  return { topics: (message["topics"] as RejectedTopic[] | undefined) ?? [] };
}

export function friendNewsOf(message: Message): FriendNews {
  const { op: _, ...news } = message;
  return { topics: [], left: [], beyond: 0, whole: true, ...news };
}

export function announcementOf(message: Message): Announcement {
  const { op: _, time_ms, ...rest } = message;
  return { data: {}, ...rest, timeMs: time_ms ?? 0 } as unknown as Announcement;
}

export function pastEventOf(sent: Payload): PastEvent {
  const { ts, ...rest } = sent;
  return { class: "", ...rest, tsMs: ts } as unknown as PastEvent;
}

export function problemOf(message: Message): Problem {
  const { code, number = 0, reason = "", reconnect_in_ms, reconnect, point = null } = message as Message & Partial<Problem> & { reconnect_in_ms?: number };
  return { code: String(code), number, reason, reconnectInMs: reconnect_in_ms, reconnect, point };
}

/** Returns `limits` with at most so many topics in a message. */
export function limitedTo(topics: number, limits: Limits): Limits {
  return { ...limits, topics_per_message: Math.min(topics, limits.topics_per_message) };
}

const encoder = new TextEncoder();

/** Returns how many bytes `text` has on the wire. */
export function sizeBytes(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Returns `topics` in order, in lists that fit into one message each by `limits`. A list holds at least one topic.
 * `extraBytes` says how many bytes more than its name a message has for a topic.
 */
export function topicBatches(topics: Iterable<string>, limits: Limits, extraBytes: (topic: string) => number = () => 0): string[][] {
  const roomBytes = limits.message_bytes / 2; // the other half is more than enough for quotes, escapes and the other fields
  const batches: string[][] = [];
  let heldBytes = 0;
  for (const topic of topics) {
    const addedBytes = sizeBytes(topic) + 3 + extraBytes(topic);
    const last = batches.at(-1);
    if (!last || last.length >= limits.topics_per_message || heldBytes + addedBytes > roomBytes) {
      batches.push([topic]);
      heldBytes = addedBytes;
    } else {
      last.push(topic);
      heldBytes += addedBytes;
    }
  }
  return batches;
}

const STRENGTH = ["partial", "local", "all"] as const;

/** Returns one answer that promises what all of `answers` promise. No answers at all, for no topics, promise everything. */
export function weakest(answers: readonly Installed[]): Installed {
  const said = answers.map((each) => each.recovered).filter((each) => each !== null);
  return {
    installed: STRENGTH[Math.min(2, ...answers.map((each) => STRENGTH.indexOf(each.installed)))]!,
    missingSites: [...new Set(answers.flatMap((each) => each.missingSites))].sort(),
    rejected: answers.flatMap((each) => each.rejected),
    recovered: said.length ? said.every(Boolean) : null,
    lost: answers.flatMap((each) => each.lost),
    replayed: answers.reduce((sum, each) => sum + each.replayed, 0),
  };
}
