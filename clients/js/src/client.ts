/**
 * The client: follow topics over WebSocket and stay connected. Its names are those of the Python SDK.
 *
 *     const client = new Client("ws://127.0.0.1:7700", () => fetchToken());
 *     client.on("event", (event) => console.log(event.kind, event.payload));
 *     await client.connect();
 *     await client.subscribe("hm://presence/user/bob/");
 */
import { doors } from "./address.js";
import { ClientTopics } from "./client_topics.js";
import { Emitter } from "./emitter.js";
import { Misuse } from "./errors.js";
import { Keeper } from "./keeper.js";
import {
  announcementOf,
  endedOf,
  eventOf,
  friendNewsOf,
  gapOf,
  limitedTo,
  offloadedOf,
  pastEventOf,
  topicBatches,
  type Announcement,
  type Ended,
  type FriendNews,
  type Gap,
  type History,
  type Installed,
  type Message,
  type Offloaded,
  type PastEvent,
  type Payload,
  type SegueEvent,
  type Wait,
  type Welcome,
  type Whom,
} from "./messages.js";
import { NotificationFeed } from "./feed.js";
import { pulledOf, type Action, type InboxNews, type Marks, type NotificationPage, type ReadElsewhere, type SegueNotification } from "./notifications.js";
import { settled, type ClientOptions } from "./options.js";
import { Recoverer } from "./recoverer.js";
import { PositionSaver } from "./saver.js";
import type { State } from "./state.js";
import type { Token } from "./token.js";
import { INBOXES } from "./topics.js";

const LAST_TOPICS = 500;
const RESERVED = ["op", "id", "kind"];

/** What a client tells, by name. */
export interface ClientEvents {
  state: State;
  event: SegueEvent;
  /** Something of followed topics may be missing: what they show should be fetched anew. */
  gap: Gap;
  /** The user may not see followed topics any more. They are followed no longer, also after a reconnect. */
  ended: Ended;
  /** Topics of friends are followed from now on, or no longer; see `follow`. */
  friends: FriendNews;
  /** What was asked by name: topics, and whether they are followed from now on. Parts that follow the same ones hear of it. */
  asked: readonly [topics: readonly string[], follows: boolean];
  offloaded: Offloaded;
  announcement: Announcement;
  /** A stored notification of the user: each once, ascending by mark, whether it came live or was pulled. */
  notification: SegueNotification;
  /** The read mark or the number of unread notifications has changed, on whatever device. */
  marks: ReadElsewhere;
  /** What the server says of the inbox; `NotificationInbox` of `segue/inbox` keeps a view by it. */
  inbox: InboxNews;
}

/**
 * A connection to Segue that comes back by itself, with all its topics.
 *
 * Events are real time. What is published while the client is away comes when it is back, as far as the server keeps it: the state
 * "connected" says in `installed` whether that was all, and each event in `gap` what is missing before it. None comes twice.
 *
 * A code that forbids reconnecting, such as that of a bad token, ends the client. Every call that waits then raises Refused.
 */
export class Client extends Emitter<ClientEvents> {
  #recoverer = new Recoverer(() => this.#saver?.touch());
  #keeper: Keeper;
  #topics: ClientTopics;
  #feed: NotificationFeed;
  #saver: PositionSaver | undefined;
  #state: State | undefined;
  #online = (): void => this.#keeper.retryNow();
  #hidden = (): void => this.#saver?.save();

  /**
   * - `urls`: one access point, or several that are tried in turn.
   * - `token`: a JWT, or a function that returns one. It is called before every connection, and when most of a token's life is over. What
   *   it raises ends the client, except ConnectionLost, which means: try again later.
   */
  constructor(urls: string | readonly string[], token: Token, options: ClientOptions = {}) {
    super();
    const settings = settled(options);
    const { user, positions, subscriptionTokens } = options;
    const hello = { client: settings.client, device: settings.device, ...(user !== undefined && { user }), ...(settings.private && { private: true }) };
    if (positions) this.#saver = new PositionSaver(positions, this.#recoverer.cursors, settings.positionsEveryMs);
    const ears = {
      deliver: (message: Message) => this.#deliver(message),
      welcomed: (welcome: Welcome) => {
        this.#saver?.belong(welcome.user);
        this.#feed.connected(welcome.user);
      },
      tell: (state: State) => this.#tell(state),
    };
    this.#keeper = new Keeper(doors(urls, ["ws", "wss"], "/v1/connect"), token, hello, settings, this.#recoverer, ears, subscriptionTokens);
    this.#topics = new ClientTopics(this.#keeper, this.#recoverer);
    const told = {
      notification: (item: SegueNotification) => this.emit("notification", item),
      marks: (marks: ReadElsewhere) => this.emit("marks", marks),
      inbox: (news: InboxNews) => this.emit("inbox", news),
    };
    this.#feed = new NotificationFeed(settings, () => this.#keeper.now(), told, options.marks);
  }

  /** Connects. Raises Refused, and ConnectionLost if no access point welcomes the client within `openTimeoutMs`. */
  async connect(): Promise<void> {
    globalThis.addEventListener?.("online", this.#online);
    globalThis.addEventListener?.("pagehide", this.#hidden);
    await this.#keeper.start();
  }

  /** Disconnects for good. May be called twice. */
  close(): void {
    this.#keeper.close();
  }

  /** The last state that was told; undefined before `connect`. */
  get state(): State | undefined {
    return this.#state;
  }

  /** The followed topics that are out of real time now, as far as this connection was told. It is empty without a connection. */
  get offloaded(): ReadonlySet<string> {
    return this.#topics.offloaded;
  }

  /** The topics that are followed: those that were subscribed, and those of friends. */
  get topics(): ReadonlySet<string> {
    return this.#topics.followed;
  }

  /**
   * Follows all friends and their playlists from now on, over every reconnect: whoever they are from time to time.
   *
   * A friend is a user whom the user follows. Whom they begin to follow, on whatever device, is heard within a second; whom they follow no
   * longer, or may not see, is heard no more. `topics` has those that are followed now, and the event `friends` tells of changes. Returns as
   * `subscribe`, when those are installed that there are now. Raises Refused: `unavailable` where the site has no social service. Who followed
   * friends before goes on.
   */
  follow(whom: Whom = "friends", { wait = "local" }: { readonly wait?: Wait } = {}): Promise<Installed> {
    return this.#topics.follow(whom, wait);
  }

  /** Follows friends no longer. What was subscribed by name goes on. Raises Refused. */
  unfollow(whom: Whom = "friends"): Promise<void> {
    return this.#topics.unfollow(whom);
  }

  /**
   * Follows `topics` from now on, over every reconnect. Returns how far the subscription is installed.
   *
   * Without `lasting` no service remembers it: who follows a playlist only to show it for a while gets no notifications about it later.
   * With `wait` "local" it returns when the brokers of this site hold the subscription, with "all" when those of every live site do. Topics
   * in `rejected` are not followed, unless they were before and their code lets them be asked for again: those stay. It waits for a connection, and
   * asks again if that breaks. Raises Refused: none of the new ones is followed then.
   */
  subscribe(topics: string | Iterable<string>, { wait = "local", lasting = true }: { readonly wait?: Wait; readonly lasting?: boolean } = {}): Promise<Installed> {
    const wanted = listed(topics);
    this.emit("asked", [wanted, true]);
    return this.#topics.subscribe(wanted, wait, lasting);
  }

  /** Stops following `topics`: none of their events arrives after it returns, but of those of friends. Raises Refused. */
  async unsubscribe(topics: string | Iterable<string>): Promise<void> {
    const unwanted = listed(topics);
    try {
      await this.#topics.unsubscribe(unwanted);
    } finally {
      this.emit("asked", [unwanted, false]);
    }
  }

  /**
   * Tells the user's friends what the user does: `act("play", { artist: "Björk" })`. It is told at most once, and never kept for later.
   *
   * Raises Refused. Raises ConnectionLost without a connection, and when it breaks before the answer: then nobody knows whether it was told.
   */
  async act(kind: string, fields: Payload = {}): Promise<void> {
    const taken = RESERVED.filter((name) => name in fields);
    if (taken.length) throw new Misuse(`${taken.join(", ")}: a name of the protocol; call it something else`);
    await this.#keeper.now().call("ok", { op: "act", kind, ...fields });
  }

  /** Begins or ends a private session of this device, for `hours` or until it is said otherwise. Returns until when, in ms since 1970. Raises as `act`. */
  async setPrivate(on: boolean, { hours }: { readonly hours?: number } = {}): Promise<number> {
    return (await this.#keeper.now().call("private", { op: "private", on, ...(hours !== undefined && { hours }) }))["until_ms"] as number;
  }

  /** Returns the clock of the access point, in ms since 1970. Raises ConnectionLost. */
  async ping(): Promise<number> {
    return await this.#keeper.now().ping();
  }

  /** Returns a page of the stored events of `topic`, newest first. `before` is the `next` of the page before it. Raises as `act`. */
  async history(topic: string, { limit = 50, before }: { readonly limit?: number; readonly before?: string } = {}): Promise<History> {
    const answer = await this.#keeper.now().call("history", { op: "history", topic, limit, ...(before !== undefined && { before }) });
    const { items, next } = answer as unknown as { items: Payload[]; next: string | null };
    return { topic, items: items.map(pastEventOf), next };
  }

  /** Returns the last event of each of `topics` that has one. They are friend feeds. Raises as `act`. */
  async last(topics: string | Iterable<string>): Promise<readonly PastEvent[]> {
    const connection = this.#keeper.now();
    const { limits } = await connection.welcomed.promise;
    const found: PastEvent[] = [];
    for (const batch of topicBatches(listed(topics), limitedTo(LAST_TOPICS, limits))) {
      const answer = await connection.call("last", { op: "last", topics: batch });
      found.push(...(answer["events"] as Payload[]).map(pastEventOf));
    }
    return found;
  }

  /**
   * Listens. From the first listener for `notification` or `marks` on, gaps are pulled, and what was told is seen.
   */
  override on<Name extends keyof ClientEvents>(name: Name, listener: (value: ClientEvents[Name]) => void): () => void {
    const stop = super.on(name, listener);
    if (name === "notification" || name === "marks") this.#feed.start();
    return stop;
  }

  /** How many notifications a bell shows as unread. */
  get unread(): number {
    return this.#feed.bell.unread;
  }

  /** The mark up to which the user has read, on whatever device. */
  get readMark(): number {
    return this.#feed.bell.read;
  }

  /** Says that the application has dealt with everything up to `mark`. Raises Misuse without `seenByHand`. */
  seen(mark: number): void {
    this.#feed.see(mark);
  }

  /** Says that the user has read everything up to `mark`; without it, all there is. All devices are told. Returns the marks. Raises as `act`. */
  read(mark?: number): Promise<Marks> {
    return this.#feed.read(mark);
  }

  /**
   * Returns a page of the user's notifications, newest first, whatever this device has seen: those that are archived, or the others. `before` is the
   * `next` of the page before it, and `epoch` the epoch of that page. Raises as `act`.
   */
  async listNotifications(asked: { readonly archived?: boolean; readonly limit?: number; readonly before?: number; readonly epoch?: number } = {}): Promise<NotificationPage> {
    return pulledOf(await this.#keeper.now().call("list", { op: "list", archived: false, ...asked }));
  }

  /**
   * Does `action` with the notifications at `marks`, on all devices of the user. Returns the marks, with those that were `rejected`: they stand for
   * nothing that is there. It may be repeated. Raises as `act`.
   */
  changeNotifications(action: Action, marks: readonly number[]): Promise<Marks> {
    return this.#feed.change(action, marks);
  }

  /** Returns the newest notifications, ascending by mark, whether this device has seen them or not. Raises as `act`. */
  recent(limit = 20): Promise<readonly SegueNotification[]> {
    return this.#feed.recent(limit);
  }

  #deliver(message: Message): void {
    switch (message.op) {
      case "event":
        return this.#event(eventOf(message));
      case "gap":
        return this.emit("gap", gapOf(message));
      case "notifications":
        return this.#feed.pulled(message);
      case "offloaded":
        return this.#offload(offloadedOf(message));
      case "ended":
        return this.#drop(endedOf(message));
      case "followed":
        return this.#befriend(friendNewsOf(message));
      case "announcement":
        return this.emit("announcement", announcementOf(message));
      case "error":
        return console.warn(`segue: the server complains: ${String(message["code"])}: ${String(message["reason"])}`);
    }
  }

  #event(event: SegueEvent): void {
    if (event.topic.startsWith(INBOXES)) return this.#feed.event(event.kind, event.payload);
    const taken = this.#recoverer.take(event); // first: a position moves before its event is handed out
    if (!taken) return;
    this.emit("event", taken);
  }

  #offload(news: Offloaded): void {
    this.#topics.move(news);
    this.emit("offloaded", news);
  }

  #befriend(news: FriendNews): void {
    if (this.#topics.befriend(news)) this.emit("friends", news);
  }

  #drop(news: Ended): void {
    this.#topics.drop(news);
    this.emit("ended", news);
  }

  #tell(state: State): void {
    this.#state = state;
    if (state.phase !== "connected") this.#topics.offloaded.clear(); // a new connection is told of each topic that is out once it is subscribed
    if (state.phase === "waiting") this.#feed.lost();
    if (state.phase === "closed") this.#over();
    this.emit("state", state);
  }

  #over(): void {
    globalThis.removeEventListener?.("online", this.#online);
    globalThis.removeEventListener?.("pagehide", this.#hidden);
    this.#saver?.save();
    this.#feed.end();
  }
}

function listed(topics: string | Iterable<string>): string[] {
  return typeof topics === "string" ? [topics] : [...new Set(topics)];
}
