/** The feed of notifications: it pulls when its `Bell` says so, gives out the bell's items, and shares the marks with other tabs. */
import { Bell, PAGE, type NextPull, type Place } from "./bell.js";
import type { Connection } from "./connection.js";
import { ConnectionLost, Misuse, ProtocolError, Refused } from "./errors.js";
import type { Message, Payload } from "./messages.js";
import {
  marksOf,
  notificationOf,
  pulledOf,
  type Action,
  type InboxNews,
  type Marks,
  type Pulled,
  type ReadElsewhere,
  type SegueNotification,
} from "./notifications.js";
import type { Settings, TextStore } from "./options.js";

/** What a feed tells its client. */
export interface FeedEars {
  readonly notification: (item: SegueNotification) => void;
  readonly marks: (marks: ReadElsewhere) => void;
  readonly inbox: (news: InboxNews) => void;
}

export class NotificationFeed {
  readonly bell: Bell;
  #isStarted = false;
  #isBusy = false;
  #isOver = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tabs: BroadcastChannel | undefined;
  #told = "";
  #kept = "";

  /** `now` returns the connection, or raises; `store` keeps the place where this device goes on. */
  constructor(readonly settings: Settings, readonly now: () => Connection, readonly ears: FeedEars, readonly store?: TextStore) {
    this.bell = new Bell(settings, placeOf(store?.load() ?? null));
  }

  /** Begins to pull gaps, and to tell the seen mark: the application wants notifications. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#settle();
  }

  /** Takes note that a connection of `user` was welcomed. */
  connected(user: string): void {
    this.bell.connected(performance.now());
    if (!this.#tabs && globalThis.BroadcastChannel) {
      this.#tabs = new BroadcastChannel(`segue ${user}`);
      (this.#tabs as { unref?: () => void }).unref?.(); // node would wait for it
      this.#tabs.onmessage = ({ data }: MessageEvent<ReadElsewhere>) => {
        this.bell.readElsewhere(data);
        this.#settle();
      };
    }
    this.#settle();
  }

  lost(): void {
    this.bell.lost();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#tabs?.close();
  }

  /** Takes the pull that the access point makes. */
  pulled(message: Message): void {
    this.#pulled(pulledOf(message));
    this.#settle();
  }

  /** Takes an event of the user's inbox. */
  event(kind: string, payload: Payload): void {
    const epoch = payload["epoch"] as number;
    if (kind === "notification") {
      const item = notificationOf(payload);
      this.bell.live(item, epoch);
      this.ears.inbox({ items: [item], epoch });
    } else if (kind === "marks") {
      this.#share(payload as unknown as ReadElsewhere);
      this.ears.inbox(payload);
    }
    this.#settle();
  }

  see(mark: number): void {
    if (!this.settings.seenByHand) throw new Misuse("notifications are seen when they are told; give the option seenByHand to say it yourself");
    this.bell.see(mark);
    this.#settle();
  }

  /** Moves the user's read mark to `mark`, or to the end without it. Returns the marks. */
  read(mark?: number): Promise<Marks> {
    return this.#mark(mark === undefined ? { op: "read" } : this.#at({ op: "read", mark }));
  }

  /** Does `action` with the notifications at `marks`. Returns the marks. */
  change(action: Action, marks: readonly number[]): Promise<Marks> {
    return this.#mark(this.#at({ op: "change", action, marks }));
  }

  async #mark(message: Message): Promise<Marks> {
    const held = this.bell.held;
    const marks = marksOf(await this.now().call("marks", message));
    this.bell.marked(marks, held);
    this.#share(marks);
    this.#settle();
    return marks;
  }

  /** Returns the newest notifications up to the mark that is held, ascending, whether they were seen or not: about `limit` of them. */
  async recent(limit: number): Promise<SegueNotification[]> {
    this.start();
    if (this.bell.held === undefined) await this.#ask({ limit: PAGE });
    const end = this.bell.held!;
    const found: SegueNotification[] = [];
    for (let since = Math.max(0, end - limit); since < end; ) {
      const answer = pulledOf(await this.now().call("notifications", this.#at({ op: "pull", since, limit: PAGE })));
      found.push(...answer.items);
      if (!answer.more || answer.next <= since) break;
      since = answer.next;
    }
    return found.slice(-limit);
  }

  #share(marks: ReadElsewhere): void {
    this.bell.readElsewhere(marks);
    const { read, unread, epoch, changed } = marks;
    this.#tabs?.postMessage({ read, unread, epoch, changed });
  }

  /** Gives out what there is, and looks when to ask again. */
  #settle(): void {
    if (!this.#isStarted || this.#isOver) return;
    const { held, read, unread } = this.bell;
    for (const item of this.bell.take()) this.ears.notification(item);
    const told = `${read} ${unread}`;
    if (told !== this.#told && held !== undefined) this.ears.marks({ read, unread });
    this.#told = told;
    this.#keep();
    clearTimeout(this.#timer);
    const dueMs = this.bell.nextDueMs();
    if (!this.#isBusy && dueMs !== undefined) this.#timer = setTimeout(() => void this.#keepUp(), Math.max(0, dueMs - performance.now()));
  }

  #keep(): void {
    const text = JSON.stringify({ mark: this.bell.seen, epoch: this.bell.epoch });
    if (this.bell.seen === undefined || !this.store || text === this.#kept) return;
    try {
      this.store.save(text);
      this.#kept = text;
    } catch (error) {
      console.warn("segue: the mark is not kept, so the next page shows again what this one has shown", error);
    }
  }

  async #keepUp(): Promise<void> {
    this.#isBusy = true;
    try {
      await this.#pull();
      await this.#tellSeen();
    } catch (error) {
      if (error instanceof ConnectionLost) this.bell.lost(); // `connected` wakes us
      else if (error instanceof Refused || error instanceof ProtocolError) this.#failed();
      else if (!this.#isOver) throw error;
    } finally {
      this.#isBusy = false;
      this.#settle();
    }
  }

  #failed(): void {
    this.bell.failed(performance.now() + this.settings.backoff.delayMs(this.#failures++, this.settings.random));
  }

  async #pull(): Promise<void> {
    const pull = this.bell.pullDue(performance.now());
    if (!pull) return;
    await this.#ask(pull);
    this.#failures = 0;
  }

  async #ask(pull: NextPull): Promise<void> {
    this.#pulled(pulledOf(await this.now().call("notifications", { op: "pull", ...pull })), pull);
  }

  #pulled(answer: Pulled, pull?: NextPull): void {
    this.bell.pulled(answer, pull);
    this.ears.inbox(answer);
  }

  async #tellSeen(): Promise<void> {
    const held = this.bell.held;
    const mark = this.bell.seenDue(performance.now());
    if (mark === undefined) return;
    this.bell.marked(marksOf(await this.now().call("marks", this.#at({ op: "seen", mark }))), held);
  }

  /** Returns a request with the epoch to which its marks belong. */
  #at(request: Message): Message {
    return { ...request, ...(this.bell.epoch !== undefined && { epoch: this.bell.epoch }) };
  }
}

/** Returns the place in `text`; undefined where there is none. */
function placeOf(text: string | null): Place | undefined {
  if (text === null) return undefined;
  try {
    const place = JSON.parse(text) as Place;
    if (Number.isSafeInteger(place.mark) && (place.epoch === undefined || Number.isSafeInteger(place.epoch))) return place;
  } catch {
    // told below
  }
  throw new Misuse("the option marks: its store holds no mark; empty it, or give another one, to begin where the server knows");
}
