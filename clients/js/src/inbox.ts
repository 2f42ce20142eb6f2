/**
 * A user's inbox on this device, `segue/inbox`: loaded page by page, kept as it is on all devices, and what the user does with single notifications.
 *
 *     const inbox = new NotificationInbox(client);
 *     inbox.on("change", () => show(inbox.select()));
 *     await inbox.load();
 */
import { Client } from "./client.js"; // by value: whoever has an inbox has a client, and one file of both is smaller
export { Client };
import { Emitter } from "./emitter.js";
import { ConnectionLost, SegueError } from "./errors.js";
import { InboxView, type Selection } from "./inbox_view.js";
import type { Action, Marks, SegueNotification } from "./notifications.js";

export type { Selection } from "./inbox_view.js";

const PAGE = 50;
const MAX_PAGE = 500;
const AGAIN_MS = 2_000;

/** What an inbox tells, by name. */
export interface InboxEvents {
  /** Something of what is loaded has changed, here or on another device. */
  change: undefined;
}

export class NotificationInbox extends Emitter<InboxEvents> {
  readonly #view = new InboxView();
  readonly #page: number;
  readonly #stops: (() => void)[];
  #isLoading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `page` is how many notifications one page has. */
  constructor(readonly client: Client, { page = PAGE }: { readonly page?: number } = {}) {
    super();
    this.#page = page;
    this.#stops = [
      client.on("inbox", (news) => {
        this.#view.heard(news);
        this.#tell();
      }),
      client.on("state", ({ phase }) => {
        if (phase !== "connected" || !this.#view.next.size) return;
        this.#view.isStale = true; // what was told meanwhile is missing
        this.#tell();
      }),
    ];
  }

  /** Listens to the client no more. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
    clearTimeout(this.#timer);
  }

  /** All that is loaded, newest first: `read` and `archived` say how it is now. */
  get items(): readonly SegueNotification[] {
    return this.#view.items;
  }

  /** Returns what is loaded and fits, newest first: by default what is not archived. */
  select(selection?: Selection): readonly SegueNotification[] {
    return this.#view.select(selection);
  }

  /** Loads the newest page in place of all that is loaded. Raises Refused and ConnectionLost. */
  async load(): Promise<void> {
    await this.#load(false, true, this.#page);
  }

  /** Returns whether there may be older ones: archived ones, or others. */
  hasMore({ archived = false } = {}): boolean {
    return this.#view.next.get(archived) !== null;
  }

  /** Loads the next page: of what is archived, or of the rest. Raises as `load`. */
  async more({ archived = false } = {}): Promise<void> {
    if (this.hasMore({ archived })) await this.#load(archived, false, this.#page);
  }

  /** Marks these as read. Returns the marks, with what was rejected. Raises as `load`. The same goes for all that follow. At most 100 at once. */
  markRead(...marks: readonly number[]): Promise<Marks> {
    return this.#do("read", marks);
  }

  /** Marks these as unread, although the read mark is beyond them. */
  markUnread(...marks: readonly number[]): Promise<Marks> {
    return this.#do("unread", marks);
  }

  /** Archives these. They count as unread no more. */
  archive(...marks: readonly number[]): Promise<Marks> {
    return this.#do("archive", marks);
  }

  /** Takes these out of the archive. */
  unarchive(...marks: readonly number[]): Promise<Marks> {
    return this.#do("unarchive", marks);
  }

  /** Deletes these, for good and on all devices. */
  delete(...marks: readonly number[]): Promise<Marks> {
    return this.#do("delete", marks);
  }

  async #do(action: Action, marks: readonly number[]): Promise<Marks> {
    const answer = await this.client.changeNotifications(action, marks);
    const rejected = new Set(answer.rejected?.map(({ mark }) => mark));
    this.#view.done(
      action,
      marks.filter((mark) => !rejected.has(mark)),
      answer.changed ?? 0,
    );
    this.#tell();
    return answer;
  }

  async #load(archived: boolean, anew: boolean, limit: number): Promise<void> {
    const before = anew ? null : (this.#view.next.get(archived) ?? null);
    const { epoch } = this.#view;
    const place = before === null ? {} : { before, ...(epoch !== undefined && { epoch }) };
    this.#view.loaded(await this.client.listNotifications({ archived, limit, ...place }), archived, anew);
    this.#tell();
  }

  #tell(): void {
    if (this.#view.next.size) this.emit("change", undefined);
    if (this.#view.isStale) void this.#reload();
  }

  /** Loads as much as there was before. */
  async #reload(): Promise<void> {
    if (this.#isLoading || !this.#stops.length) return;
    this.#isLoading = true;
    try {
      while (this.#view.isStale) {
        const limit = Math.min(MAX_PAGE, Math.max(this.#page, this.items.length));
        const withArchive = this.#view.next.has(true);
        await this.#load(false, true, limit);
        if (withArchive) await this.#load(true, false, limit);
      }
    } catch (error) {
      if (!(error instanceof SegueError)) throw error;
      // `connected` wakes us after a loss of the connection
      if (!(error instanceof ConnectionLost) && this.#stops.length) this.#timer = setTimeout(() => void this.#reload(), AGAIN_MS);
    } finally {
      this.#isLoading = false;
    }
  }
}
