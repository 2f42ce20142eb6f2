/** Stored notifications (docs/notifications.md): their messages, and what an application gets of them. Pure. */
import type { Message, Payload } from "./messages.js";

/** One stored notification of this user. */
export interface SegueNotification {
  /** Its number in the user's inbox: 1, 2, 3 ... */
  readonly mark: number;
  readonly topic: string;
  readonly kind: string;
  /** What it is about, such as `new-album` or `playlist`. */
  readonly class: string;
  readonly tsMs: number;
  readonly id: string;
  readonly payload: Payload;
  /** What the rules chose for it. */
  readonly types: readonly string[];
  /** Whether the user had read it, on any device, when it was sent. */
  readonly read: boolean;
  /** Whether the user had archived it then. */
  readonly archived: boolean;
  /** Whether a bell shows it, and counts it until it is read. */
  readonly rings: boolean;
}

export type Action = "read" | "unread" | "archive" | "unarchive" | "delete";

/** A mark of which a change was refused, and why. */
export interface RejectedMark {
  readonly mark: number;
  readonly code: string;
  readonly reason: string;
}

/**
 * The marks of a user: up to `seen` this client has taken notifications, up to `read` the user has read, and `unread` are left. `changed` is the
 * number of the last change of single notifications, and `rejected` what a change did not change.
 */
export interface Marks {
  readonly seen: number;
  readonly read: number;
  readonly unread: number;
  readonly epoch?: number;
  readonly changed?: number;
  readonly rejected?: readonly RejectedMark[];
}

/** The news that the read mark rose, on whatever device. */
export type ReadElsewhere = Omit<Marks, "seen" | "rejected">;

/** What the server says of the inbox, whoever asked: notifications, marks, or a change that follows the one with the number `after`. */
export interface InboxNews extends Partial<ReadElsewhere> {
  readonly items?: readonly SegueNotification[];
  readonly after?: number;
  readonly action?: Action;
  readonly marks?: readonly number[];
  readonly up_to?: number;
}

/** A page of notifications, newest first. `next` is the `before` of the page after it; null at the end. */
export interface NotificationPage extends Marks {
  readonly items: readonly SegueNotification[];
  readonly next: number | null;
}

/** The answer to a pull: all stored notifications after a mark, up to `next`. */
export interface Pulled extends Marks {
  readonly items: readonly SegueNotification[];
  readonly next: number;
  readonly more: boolean;
  /** The mark that was asked for stands for nothing in this epoch, so the answer began at 0. */
  readonly reset: boolean;
}

export function notificationOf(sent: Payload): SegueNotification {
  const { epoch: _, ts, types = [], ...rest } = sent;
  return { read: false, archived: false, ...rest, types, tsMs: ts, rings: (types as string[]).includes("in-client") } as unknown as SegueNotification;
}

export function marksOf(message: Message): Marks {
  const { op: _, id: __, ...marks } = message;
  return marks as unknown as Marks;
}

/** Returns the answer to a pull or a list. */
export function pulledOf<Answer = Pulled>(message: Message): Answer {
  const items = (message["items"] as Payload[] | undefined) ?? [];
  return { seen: 0, read: 0, unread: 0, more: false, reset: false, ...message, items: items.map(notificationOf) } as unknown as Answer;
}
