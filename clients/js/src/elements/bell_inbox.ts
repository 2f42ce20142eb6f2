/** The inbox behind `<segue-bell>`: what is loaded of it, what is new in it, and what the user does with it. */
import type { Client } from "../client.js";
import { NotificationInbox } from "../inbox.js";
import type { Action, SegueNotification } from "../notifications.js";

const PAGE = 20;
/** So many marks go in one change. */
const AT_ONCE = 100;

/** How it stands with something that is asked for. */
export type Loading = "idle" | "loading" | "failed";

/** `changed` is called when anything of it is another. */
export class BellInbox {
  /** How it stands with the newest page; "idle": it is here. */
  newest: Loading = "loading";
  /** Whether the last thing that the user wanted was not done. */
  isRefused = false;
  readonly #inbox: NotificationInbox;
  /** How it stands with the next page of each list: of what is archived, and of the rest. */
  readonly #older = new Map<boolean, Loading>();
  #fresh = new Set<string>();
  #settled = new Set<string>();
  #newAfter = Infinity;

  constructor(private readonly client: Client, private readonly changed: () => void, until: (stop: () => void) => void) {
    const inbox = (this.#inbox = new NotificationInbox(client, { page: PAGE }));
    until(() => inbox.close());
    until(inbox.on("change", changed));
    until(client.on("marks", changed)); // from here on, gaps are pulled
    until(client.on("state", ({ phase }) => this.#met(phase)));
    if (client.state) this.#met(client.state.phase);
  }

  /** All that is loaded and rings, newest first. */
  get items(): readonly SegueNotification[] {
    return this.#inbox.items.filter(({ rings }) => rings);
  }

  /** Returns what is loaded, rings, and fits. */
  select(selection: { archived: boolean; class: string | undefined; text: string }): readonly SegueNotification[] {
    return this.#inbox.select(selection).filter(({ rings }) => rings);
  }

  /** Returns whether a notification is unread, or was so when the bell was opened. */
  isNew({ read, mark, id }: SegueNotification): boolean {
    return !read || ((mark > this.#newAfter || this.#fresh.has(id)) && !this.#settled.has(id));
  }

  /** Takes note that the bell was opened: what is unread now is new until it is closed. */
  opened(): void {
    for (const { id, read } of this.items) if (!read) this.#fresh.add(id);
    if (this.newest !== "idle") this.#newAfter = this.client.readMark; // what is still to come
  }

  /** Takes note that the bell was closed. */
  closed(): void {
    this.#fresh.clear();
    this.#settled.clear();
    this.#newAfter = Infinity;
    this.isRefused = false;
  }

  /** Returns whether there may be older ones. */
  hasMore(archived: boolean): boolean {
    return this.newest === "idle" && this.#inbox.hasMore({ archived });
  }

  /** Returns how it stands with the next page. */
  older(archived: boolean): Loading {
    return this.#older.get(archived) ?? "idle";
  }

  /** Loads the newest page. */
  load(): void {
    void this.#loads((now) => (this.newest = now), () => this.#inbox.load());
  }

  /** Loads the next page, unless one is on its way. */
  more(archived: boolean): void {
    if (this.older(archived) !== "loading") void this.#loads((now) => this.#older.set(archived, now), () => this.#inbox.more({ archived }));
  }

  /** Reads all there is. */
  readAll(): void {
    for (const { id } of this.items) this.#settled.add(id);
    void this.#try(() => this.client.read());
  }

  /** Does `action` with `items`, on all devices of the user. */
  do(action: Action, items: readonly SegueNotification[]): void {
    for (const { id } of items) this.#settled.add(id);
    const marks = items.map(({ mark }) => mark);
    void this.#try(async () => {
      while (marks.length) await this.#act(action, marks.splice(0, AT_ONCE));
    });
  }

  async #act(action: Action, marks: readonly number[]): Promise<unknown> {
    const inbox = this.#inbox;
    if (action === "read") return await inbox.markRead(...marks);
    return action === "unread" ? await inbox.markUnread(...marks) : await inbox[action](...marks);
  }

  #met(phase: string): void {
    if (phase === "connected") {
      for (const [archived, now] of this.#older) if (now === "failed") this.#older.delete(archived); // it is asked for again when it comes into view
      if (this.newest !== "idle") this.load();
    }
    this.changed();
  }

  async #loads(stands: (now: Loading) => void, load: () => Promise<void>): Promise<void> {
    stands("loading");
    this.changed();
    await load().then(
      () => stands("idle"),
      () => stands("failed"),
    );
    this.changed();
  }

  async #try(act: () => Promise<unknown>): Promise<void> {
    this.isRefused = await act().then(
      () => false,
      () => true,
    );
    this.changed();
  }
}
