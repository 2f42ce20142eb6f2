/**
 * The bell of a device: what it shows of its user's notifications, what it pulls, and how far it has seen. Pure.
 *
 * Rule 1: `held` is the mark up to which there is no gap. A live item right after it moves it. One further on shows a gap, which is pulled.
 * Rule 2: an item is given out once. Marks decide, and ids where a server that counts anew (`reset`) repeats itself.
 * Rule 3: the seen mark never passes a gap.
 * Rule 4: the read mark and the number of the last change only rise; what an older answer says of them and of the unread count is passed over.
 * Rule 5: marks of another epoch stand for other items. Whatever bears one leads to a pull with `held` and its own epoch; the server answers
 * that with `reset`, and the device begins again.
 */
import type { Marks, Pulled, ReadElsewhere, SegueNotification } from "./notifications.js";

const RECOUNT_EVERY_MS = 1_000;
const IDS_KEPT = 4_096;
export const PAGE = 50;

/** A pull to be made: after which mark (undefined leaves that to the server), and the epoch to which that belongs. */
export interface NextPull {
  readonly since?: number;
  readonly epoch?: number;
  readonly limit: number;
}

/** Where a device stood when it ended last time. */
export interface Place {
  readonly mark: number;
  readonly epoch?: number | undefined;
}

export interface BellOptions {
  readonly seenByHand: boolean;
  readonly seenEveryMs: number;
  readonly helloPullMs: number;
}

/** The bell of one device. Times are milliseconds of one clock. */
export class Bell {
  held: number | undefined;
  epoch: number | undefined;
  read = 0;
  unread = 0;
  #readBefore = 0;
  #changedBefore = 0;
  #fresh: SegueNotification[] = [];
  #ids = new Set<string>();
  #seenByHand: number;
  #seenTold = 0;
  #seenNotBeforeMs = 0;
  #isConnected = false;
  #isSynced = false;
  #hasMore = false;
  #hasMissed = false;
  #isCountOld = false;
  #pullNotBeforeMs = 0;
  #recountNotBeforeMs = 0;

  constructor(readonly options: BellOptions, place?: Place) {
    this.held = place?.mark;
    this.epoch = place?.epoch;
    this.#seenByHand = place?.mark ?? 0;
  }

  /** Takes note that a connection was welcomed. The access point pulls for the client, and its answer may have come already. */
  connected(nowMs: number): void {
    this.#isConnected = true;
    if (!this.#isSynced) this.#pullNotBeforeMs = nowMs + this.options.helloPullMs;
  }

  /** Takes note that the connection ended. */
  lost(): void {
    this.#isConnected = this.#isSynced = false;
    this.#seenTold = 0; // whether the last one arrived is unknown
    this.#readBefore = this.#changedBefore = 0; // what comes over the next connection is newer
  }

  /** Takes note that the server could not answer a pull or a seen. Neither is asked again before `retryAtMs`. */
  failed(retryAtMs: number): void {
    this.#hasMissed = true;
    this.#pullNotBeforeMs = this.#seenNotBeforeMs = retryAtMs;
  }

  /** Takes an item that came through the engine; its mark belongs to `epoch`. */
  live(item: SegueNotification, epoch?: number): void {
    if (this.#isOther(epoch)) this.#hasMissed = true;
    else if (this.held !== undefined && item.mark === this.held + 1) {
      this.#accept(item);
      if (item.rings && item.mark > this.read) this.unread += 1;
    } else if (this.held === undefined || item.mark > this.held || !this.#ids.has(item.id)) {
      this.#hasMissed = true; // a gap; or an old mark of a new event: the server may count anew
    }
  }

  /** Takes over a read mark that rose, or the count after a change, on whatever device. */
  readElsewhere({ epoch, read, unread, changed = 0 }: ReadElsewhere): void {
    if (this.#isOther(epoch)) this.#hasMissed = true;
    else if (read >= this.#readBefore && changed >= this.#changedBefore) {
      this.read = this.#readBefore = read;
      this.#changedBefore = changed;
      this.unread = unread;
    }
  }

  /** Takes the answer to a seen or a read; `heldWhenAsked` is `held` when it was asked. */
  marked(marks: Marks, heldWhenAsked: number | undefined): void {
    this.readElsewhere(marks);
    if (this.#isOther(marks.epoch)) return;
    this.#seenTold = Math.max(this.#seenTold, marks.seen);
    this.#isCountOld ||= this.held !== heldWhenAsked; // an item came meanwhile; was it counted?
  }

  /** Takes the answer to `pull`, or to the pull that the access point made at hello. */
  pulled(answer: Pulled, pull?: NextPull): void {
    const since = pull?.since;
    const start = answer.reset ? 0 : (since ?? answer.seen);
    this.#isSynced = true;
    this.#pullNotBeforeMs = 0;
    if (this.held === undefined || (answer.reset && since !== undefined)) this.#begin(start, answer.epoch);
    else if (this.#isOther(answer.epoch)) {
      this.#hasMissed = true;
      return;
    }
    this.epoch = answer.epoch ?? this.epoch;
    this.#seenTold = Math.max(this.#seenTold, Math.min(answer.seen, answer.next));
    this.readElsewhere(answer);
    const isOvertaken = answer.next < this.held!; // by live copies; or, at hello, the server counts anew
    const isWhole = start <= this.held!;
    if (isWhole) this.#append(answer);
    this.#hasMore = !isWhole || answer.more || (isOvertaken && since === undefined);
    this.#isCountOld = isOvertaken && since !== undefined;
  }

  /** Returns the items to give out now, ascending by mark. */
  take(): SegueNotification[] {
    return this.#fresh.splice(0);
  }

  /** Takes note that the application has dealt with everything up to `mark`. */
  see(mark: number): void {
    this.#seenByHand = Math.max(this.#seenByHand, mark);
  }

  /** The seen mark to keep and to tell; undefined while nothing is known. */
  get seen(): number | undefined {
    return this.held === undefined || !this.options.seenByHand ? this.held : Math.min(this.held, this.#seenByHand);
  }

  /** Returns the pull to make now, if there is one. One at a time: ask again when `pulled` or `failed` was called. */
  pullDue(nowMs: number): NextPull | undefined {
    const dueMs = this.#pullDueMs();
    if (dueMs === undefined || dueMs > nowMs) return undefined;
    this.#hasMissed = false; // what is missed from here on, this pull may not know
    this.#recountNotBeforeMs = nowMs + RECOUNT_EVERY_MS;
    const since = this.held === undefined ? {} : { since: this.held, ...(this.epoch !== undefined && { epoch: this.epoch }) };
    return { ...since, limit: PAGE };
  }

  /** Returns the seen mark to tell now, if there is one. It counts as told. */
  seenDue(nowMs: number): number | undefined {
    const dueMs = this.#seenDueMs();
    if (dueMs === undefined || dueMs > nowMs) return undefined;
    this.#seenNotBeforeMs = nowMs + this.options.seenEveryMs;
    return (this.#seenTold = this.seen ?? 0);
  }

  /** Returns when to ask `pullDue` and `seenDue` again, unless something happens before; undefined: only then. */
  nextDueMs(): number | undefined {
    const due = [this.#pullDueMs(), this.#seenDueMs()].filter((each) => each !== undefined);
    return due.length ? Math.min(...due) : undefined;
  }

  #pullDueMs(): number | undefined {
    const isBehind = this.#hasMore || this.#hasMissed || !this.#isSynced;
    if (!this.#isConnected || !(isBehind || this.#isCountOld)) return undefined;
    return isBehind ? this.#pullNotBeforeMs : Math.max(this.#pullNotBeforeMs, this.#recountNotBeforeMs);
  }

  #seenDueMs(): number | undefined {
    return this.#isConnected && (this.seen ?? 0) > this.#seenTold ? this.#seenNotBeforeMs : undefined;
  }

  #isOther(epoch: number | undefined): boolean {
    return this.held !== undefined && epoch !== undefined && this.epoch !== undefined && epoch !== this.epoch;
  }

  #begin(held: number, epoch: number | undefined): void {
    this.held = held;
    this.epoch = epoch;
    this.#readBefore = this.#changedBefore = this.#seenTold = this.#seenByHand = 0;
  }

  #append(answer: Pulled): void {
    for (const item of answer.items) if (item.mark > this.held!) this.#accept(item);
    this.held = Math.max(this.held!, answer.next);
  }

  /** Moves past `item`, and gives it out unless it was before. */
  #accept(item: SegueNotification): void {
    this.held = item.mark;
    if (this.#ids.has(item.id)) return;
    this.#fresh.push(item);
    this.#ids.add(item.id);
    if (this.#ids.size > IDS_KEPT) this.#ids.delete(this.#ids.values().next().value!);
  }
}
