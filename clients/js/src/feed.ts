/** The feed of notifications: it pulls when its `Bell` says so, gives out the bell's items, and shares the marks with other tabs. */
import { Bell, PAGE, type NextPull, type Place } from "./bell.js";
import type { Connection } from "./connection.js";
import { ConnectionLost, Misuse, ProtocolError, Refused } from "./errors.js";
import type { Message, Payload } from "./messages.js";
import { marksOf, notificationOf, pulledOf, type Marks, type ReadElsewhere, type SegueNotification } from "./notifications.js";
import type { Settings, TextStore } from "./options.js";

/** What a feed tells its client. */
export interface FeedEars {
  readonly notification: (item: SegueNotification) => void;
  readonly marks: (marks: ReadElsewhere) => void;
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
    this.bell.pulled(pulledOf(message));
    this.#settle();
  }

  /** Takes an event of the user's inbox. */
  event(kind: string, payload: Payload): void {
    if (kind === "notification") this.bell.live(notificationOf(payload), payload["epoch"] as number | undefined);
    else if (kind === "marks") this.#share(payload as unknown as ReadElsewhere);
    this.#settle();
  }

  see(mark: number): void {
    if (!this.settings.seenByHand) throw new Misuse("notifications are seen when they are told; give the option seenByHand to say it yourself");
    this.bell.see(mark);
    this.#settle();
  }

  /** Moves the user's read mark to `mark`, or to the end without it. Returns the marks. */
  async read(mark?: number): Promise<Marks> {
    const held = this.bell.held;
    const marks = marksOf(await this.now().call("marks", { op: "read", ...(mark !== undefined && this.#at(mark)) }));
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
      const pull = { op: "pull", since, ...(this.bell.epoch !== undefined && { epoch: this.bell.epoch }), limit: PAGE };
      const answer = pulledOf(await this.now().call("notifications", pull));
      found.push(...answer.items);
      if (!answer.more || answer.next <= since) break;
      since = answer.next;
    }
    return found.slice(-limit);
  }

  #share(marks: ReadElsewhere): void {
    this.bell.readElsewhere(marks);
    const { read, unread, epoch } = marks;
    this.#tabs?.postMessage({ read, unread, ...(epoch !== undefined && { epoch }) });
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
    this.bell.pulled(pulledOf(await this.now().call("notifications", { op: "pull", ...pull })), pull);
  }

  async #tellSeen(): Promise<void> {
    const held = this.bell.held;
    const mark = this.bell.seenDue(performance.now());
    if (mark === undefined) return;
    this.bell.marked(marksOf(await this.now().call("marks", { op: "seen", ...this.#at(mark) })), held);
  }

  /** Returns a mark with the epoch to which it belongs, as a request names them. */
  #at(mark: number): object {
    return { mark, ...(this.bell.epoch !== undefined && { epoch: this.bell.epoch }) };
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
