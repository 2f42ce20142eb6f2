/**
 * The inbox as a device shows it: the notifications that it has loaded, newest first, and what all devices have done with them. Pure.
 *
 * Rule 1: a page of the server is right as of its moment. What comes live changes it from there on.
 * Rule 2: changes are a chain: each names the number of the one before it. One that does not follow the last one here shows that something was
 * missed, and the view is stale until it is loaded again.
 * Rule 3: a change that is older than the last one here says nothing.
 * Rule 4: numbers of another epoch stand for other notifications, so the view is stale.
 */
import type { Action, InboxNews, NotificationPage, SegueNotification } from "./notifications.js";

/** So many marks of deleted notifications are remembered, for live copies of them that come late. */
const DELETED_KEPT = 4_096;

/** What of the loaded notifications is wanted. */
export interface Selection {
  /** What is archived, or what is not (the default); null: both. */
  readonly archived?: boolean | null;
  /** Of this class only. */
  readonly class?: string | undefined;
  /** Only what is not read. */
  readonly unread?: boolean;
  /** All words of it stand in the topic, the kind, or a text or number of the payload, in any case. */
  readonly text?: string;
}

export class InboxView {
  /** Whether it is to be loaded again. */
  isStale = false;
  epoch: number | undefined;
  readonly next = new Map<boolean, number | null>();
  #changed = 0;
  #read = 0;
  #items = new Map<number, SegueNotification>();
  #deleted = new Set<number>();

  /** All that is loaded, newest first. */
  get items(): readonly SegueNotification[] {
    return [...this.#items.values()].sort((one, other) => other.mark - one.mark);
  }

  /** Returns what is loaded and fits, newest first. */
  select({ archived = false, class: about, unread = false, text = "" }: Selection = {}): readonly SegueNotification[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return this.items.filter(
      (item) =>
        (archived === null || item.archived === archived) &&
        (about === undefined || item.class === about) &&
        !(unread && item.read) &&
        (!words.length || hasAll(item, words)),
    );
  }

  /** Takes a page that was asked for: of what is `archived`, or of the rest. `anew`: it replaces all that there is. */
  loaded(page: NotificationPage, archived: boolean, anew: boolean): void {
    if (anew) this.#begin(page);
    else if (page.epoch !== this.epoch) {
      this.isStale = true;
      return;
    }
    for (const item of page.items) this.#items.set(item.mark, item);
    this.next.set(archived, page.next);
  }

  /** Takes what the server says, whoever asked: notifications, marks, or a change on whatever device. */
  heard(news: InboxNews): void {
    const { items = [], epoch, read = 0, changed = 0, after = 0, action, marks = [], up_to } = news;
    if (epoch !== undefined && this.epoch !== undefined && epoch !== this.epoch) {
      this.isStale = true;
      return;
    }
    for (const item of items) if (!this.#deleted.has(item.mark) && this.#reaches(item.archived, item.mark)) this.#items.set(item.mark, item);
    if (read > this.#read) {
      this.#read = read;
      this.#apply("read", this.#upTo(read));
    }
    if (changed <= this.#changed) return;
    this.isStale ||= !action || after !== this.#changed;
    this.#changed = changed;
    if (action) this.#apply(action, [...marks, ...this.#upTo(up_to ?? 0)]);
  }

  /**
   * Takes a change of this device that is done, and was the change `changed` or one before it. If the news of it is here already, this says
   * nothing: others may have changed the same since.
   */
  done(action: Action, marks: readonly number[], changed: number): void {
    if (changed > this.#changed) this.#apply(action, marks);
  }

  #apply(action: Action, marks: readonly number[]): void {
    for (const mark of marks) {
      const item = this.#items.get(mark);
      if (action === "delete") {
        this.#items.delete(mark);
        this.#deleted.add(mark);
        if (this.#deleted.size > DELETED_KEPT) this.#deleted.delete(this.#deleted.values().next().value!);
      } else if (item) this.#items.set(mark, changedBy(action, item));
      else if (action.endsWith("archive") && this.#reaches(action === "archive", mark)) this.isStale = true; // it belongs here, and is not
    }
  }

  #upTo(mark: number): number[] {
    return [...this.#items.keys()].filter((each) => each <= mark);
  }

  /** Returns whether what was loaded reaches down to `mark`. */
  #reaches(archived: boolean, mark: number): boolean {
    return this.next.has(archived) && mark >= (this.next.get(archived) ?? 0);
  }

  #begin({ epoch, changed = 0, read }: NotificationPage): void {
    this.epoch = epoch;
    this.#changed = changed;
    this.#read = read;
    this.#items.clear();
    this.#deleted.clear();
    this.next.clear();
    this.isStale = false;
  }
}

function changedBy(action: Action, item: SegueNotification): SegueNotification {
  return action.endsWith("read") ? { ...item, read: action === "read" } : { ...item, archived: action === "archive" };
}

function hasAll({ topic, kind, payload }: SegueNotification, words: readonly string[]): boolean {
  const said = Object.values(payload).filter((value) => typeof value === "string" || typeof value === "number");
  const text = [topic, kind, ...said].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
