/**
 * The topics of a client: what it follows by name or because it is of friends, and what is out of real time of that. Its names are those of
 * `segue/sdk/client_topics.py`.
 */
import type { Connection } from "./connection.js";
import { ConnectionLost, Refused } from "./errors.js";
import { PASSING, type Keeper } from "./keeper.js";
import type { Ended, FriendNews, Installed, Offloaded, Wait, Whom } from "./messages.js";
import type { Recoverer } from "./recoverer.js";

/** The topics of one client, over all its connections. `keeper` holds them for the next one, and `recoverer` knows how far each has come. */
export class ClientTopics {
  readonly offloaded = new Set<string>();
  #keeper: Keeper;
  #recoverer: Recoverer;

  constructor(keeper: Keeper, recoverer: Recoverer) {
    this.#keeper = keeper;
    this.#recoverer = recoverer;
  }

  /** The topics that are followed, for whatever reason. */
  get followed(): ReadonlySet<string> {
    return new Set([...this.#keeper.topics, ...(this.#keeper.ofFriends ?? [])]);
  }

  /** Follows `wanted`. Returns and raises as `Client.subscribe`. */
  async subscribe(wanted: readonly string[], wait: Wait, lasting: boolean): Promise<Installed> {
    const { topics, passing } = this.#keeper;
    const added = wanted.filter((topic) => !topics.has(topic));
    for (const topic of wanted) topics.add(topic);
    if (lasting) for (const topic of wanted) passing.delete(topic);
    else for (const topic of added) passing.add(topic);
    try {
      const installed = this.#keeper.settled(await this.#onceConnected((connection) => this.#keeper.subscribe(connection, wanted, wait)));
      this.#keeper.unname(added.filter((added) => installed.rejected.some(({ topic }) => topic === added)));
      return installed;
    } catch (error) {
      if (error instanceof Refused) await this.unsubscribe(added); // a part, sent in a message of its own, may have been accepted
      throw error;
    }
  }

  /** Stops following `unwanted`, but what is of friends. Raises Refused. */
  async unsubscribe(unwanted: readonly string[]): Promise<void> {
    const passing = unwanted.filter((topic) => this.#keeper.passing.delete(topic));
    for (const topic of unwanted) this.#keeper.topics.delete(topic);
    try {
      await this.#unlessLost(async (connection) => {
        await connection.unsubscribe(passing, PASSING);
        await connection.unsubscribe(unwanted.filter((topic) => !passing.includes(topic)));
      });
    } finally {
      this.#forgetGone(unwanted);
    }
  }

  /** Follows all friends and their playlists. Returns and raises as `Client.follow`. */
  async follow(whom: Whom, wait: Wait): Promise<Installed> {
    const keeper = this.#keeper;
    const begins = !keeper.ofFriends;
    // Those of another page, whose positions were kept: if they are of friends still, what was missed comes.
    keeper.ofFriends ??= new Set(this.#recoverer.keptOfFriends().filter((topic) => !keeper.topics.has(topic)));
    try {
      return await this.#onceConnected((connection) => keeper.follow(connection, wait, whom));
    } catch (error) {
      if (error instanceof Refused && begins) keeper.ofFriends = undefined; // otherwise those who are followed stay, and so does the wish
      throw error;
    }
  }

  /** Follows friends no longer. Raises Refused. */
  async unfollow(whom: Whom): Promise<void> {
    const { ofFriends = [] } = this.#keeper;
    this.#keeper.ofFriends = undefined;
    this.#forgetGone(ofFriends);
    await this.#unlessLost((connection) => connection.call("unsubscribed", { op: "unsubscribe", topics: [], follow: whom }));
  }

  /** Does what an access point forgets together with the connection, so nothing is left to do where that is lost. */
  async #unlessLost(call: (connection: Connection) => Promise<unknown>): Promise<void> {
    try {
      await call(this.#keeper.now());
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    }
  }

  /** Returns what `call` does, as soon as there is a connection, and again where that breaks. */
  async #onceConnected(call: (connection: Connection) => Promise<Installed>): Promise<Installed> {
    for (;;) {
      const connection = await this.#keeper.connected();
      try {
        return await call(connection);
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        await connection.ended.promise;
      }
    }
  }

  /** Takes note of topics that left real time, or came back. */
  move(news: Offloaded): void {
    for (const topic of news.left) if (this.#keeper.isFollowed(topic)) this.offloaded.add(topic); // what was unsubscribed meanwhile is of no interest
    for (const topic of news.back) this.offloaded.delete(topic);
  }

  /** Follows no longer what the user may not see any more. */
  drop(news: Ended): void {
    const ended = news.topics.map(({ topic }) => topic);
    this.#keeper.forget(ended);
    this.#forgetGone(ended);
  }

  /** Takes note of topics that are of friends now, or no longer. Returns whether friends are followed still. */
  befriend(news: FriendNews): boolean {
    const { ofFriends } = this.#keeper;
    if (!ofFriends) return false; // it was on its way when friends were followed no longer
    for (const topic of news.topics) ofFriends.add(topic);
    this.#recoverer.begin(news.topics);
    for (const topic of news.left) ofFriends.delete(topic);
    this.#forgetGone(news.left);
    return true;
  }

  /** Forgets where the client is in those of `topics` that nothing keeps. */
  #forgetGone(topics: Iterable<string>): void {
    const gone = [...topics].filter((topic) => !this.#keeper.isFollowed(topic));
    for (const topic of gone) this.offloaded.delete(topic);
    this.#recoverer.forget(gone);
  }
}
