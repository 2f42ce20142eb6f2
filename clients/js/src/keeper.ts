/** The keeper of a client's connection: connects, subscribes its topics again, waits, and gives up only when a code says so. */
import { Connection, type Deliver } from "./connection.js";
import { codeOf } from "./codes.js";
import { deferred, type Deferred } from "./deferred.js";
import { ConnectionLost, Misuse, Refused } from "./errors.js";
import { weakest, type Installed, type Wait, type Welcome, type Whom } from "./messages.js";
import type { Settings } from "./options.js";
import { Reconnect } from "./reconnect.js";
import type { Recoverer } from "./recoverer.js";
import { Refresher } from "./refresher.js";
import type { State } from "./state.js";
import { fresh, type Token, type TokensFor } from "./token.js";

/** What a message says of topics of which no service is to remember that they were followed. */
export const PASSING = { lasting: false };

/** What a keeper tells its client. */
export interface KeeperEars {
  readonly deliver: Deliver;
  readonly welcomed: (welcome: Welcome) => void;
  readonly tell: (state: State) => void;
}

/** At most one connection at any time, to the addresses in turn. Its `topics` are subscribed at every connect. */
export class Keeper {
  readonly topics = new Set<string>();
  /** Those of them of which no service is to remember that they were followed. */
  readonly passing = new Set<string>();
  /** What is followed because it is of friends; undefined: friends are not followed. */
  ofFriends: Set<string> | undefined;
  #reconnect: Reconnect;
  #connection = deferred<Connection>();
  #opened: Connection | undefined;
  #current: Connection | undefined;
  #ending: unknown;
  #lost: ConnectionLost | undefined;
  #wake: Deferred<void> | undefined;
  #isStarted = false;

  constructor(
    urls: readonly string[],
    readonly token: Token,
    readonly hello: object,
    readonly settings: Settings,
    readonly recoverer: Recoverer,
    readonly ears: KeeperEars,
    readonly tokensFor?: TokensFor,
  ) {
    const { backoff, random, stableMs } = settings;
    this.#reconnect = new Reconnect(urls, backoff, random, { stableMs, renewsToken: typeof token !== "string" });
  }

  /** Connects. Raises Refused, and ConnectionLost if no access point welcomes the client in time. */
  async start(): Promise<void> {
    if (this.#isStarted) throw new Misuse("a Client connects once; make a new one");
    this.#isStarted = true;
    const late = setTimeout(() => this.close(this.#late()), this.settings.openTimeoutMs);
    void this.#keepConnected();
    try {
      await this.connected();
    } finally {
      clearTimeout(late);
    }
  }

  /** Disconnects for good. Every call that waits raises `why`. May be called twice. */
  close(why: unknown = new Misuse("the client is closed; make a new one")): void {
    if (this.#ending !== undefined) return;
    this.#ending = why;
    this.#opened?.end(new ConnectionLost("the client was closed"));
    this.#connection.reject(why);
    this.#wake?.resolve();
    const reason = why instanceof Misuse ? "" : String(why instanceof Error ? why.message : why);
    this.ears.tell({ phase: "closed", url: this.#reconnect.url, reason });
  }

  /** Ends a wait between two tries: the network is back. */
  retryNow(): void {
    this.#wake?.resolve();
  }

  /** Follows `topics` no longer, also after the next reconnect. */
  forget(topics: readonly string[]): void {
    for (const topic of topics) this.ofFriends?.delete(topic);
    this.unname(topics);
  }

  /** Follows `topics` by name no longer. What is of friends goes on. */
  unname(topics: readonly string[]): void {
    for (const topic of topics) {
      this.topics.delete(topic);
      this.passing.delete(topic);
    }
    this.recoverer.forget(topics.filter((topic) => !this.isFollowed(topic)));
  }

  /** Subscribes `topics` on `connection`. Returns and raises as `Connection.subscribe`. */
  async subscribe(connection: Connection, topics: readonly string[], wait: Wait): Promise<Installed> {
    const wanted = topics.filter((topic) => this.topics.has(topic));
    const passing = wanted.filter((topic) => this.passing.has(topic));
    const lasting = await connection.subscribe(wanted.filter((topic) => !this.passing.has(topic)), wait, this.tokensFor);
    return passing.length ? weakest([lasting, await connection.subscribe(passing, wait, this.tokensFor, PASSING)]) : lasting;
  }

  /** Whether `topic` is followed, for whatever reason. */
  isFollowed(topic: string): boolean {
    return this.topics.has(topic) || this.ofFriends?.has(topic) === true;
  }

  /** Follows friends on `connection`. In `rejected` is what nobody could allow now. Raises ConnectionLost and Refused. */
  async follow(connection: Connection, wait: Wait, whom: Whom = "friends"): Promise<Installed> {
    if (!this.ofFriends) return weakest([]);
    return this.settled(await connection.follow(whom, [...this.ofFriends], wait, this.tokensFor));
  }

  /** Returns the connection, as soon as there is one. Raises what ended the client. */
  async connected(): Promise<Connection> {
    this.#check();
    return await this.#connection.promise;
  }

  /** Returns the connection. Raises ConnectionLost when there is none at this moment, and what ended the client. */
  now(): Connection {
    this.#check();
    if (!this.#current) throw new ConnectionLost(`not connected at the moment${this.#because()}`);
    return this.#current;
  }

  #check(): void {
    if (!this.#isStarted) throw new Misuse("not connected; call connect() first");
    if (this.#ending !== undefined) throw this.#ending;
  }

  #late(): ConnectionLost {
    return new ConnectionLost(`no access point welcomed us within ${this.settings.openTimeoutMs} ms${this.#because()}`);
  }

  /** Returns why the last connection ended, behind a colon. */
  #because(): string {
    return this.#lost ? `: ${this.#lost.message}` : "";
  }

  async #keepConnected(): Promise<void> {
    try {
      while (this.#ending === undefined) {
        const lost = await this.#live();
        this.#lost = lost;
        if (this.#ending === undefined) await this.#pause(lost);
      }
    } catch (error) {
      this.close(error); // a refusal, an error of the token function, a defect: the application must see it
    }
  }

  async #pause(lost: ConnectionLost): Promise<void> {
    const retryInMs = this.#reconnect.ended(lost, performance.now());
    const wake = (this.#wake = deferred<void>());
    const timer = setTimeout(wake.resolve, retryInMs);
    this.ears.tell({ phase: "waiting", url: this.#reconnect.url, reason: lost.message, retryInMs });
    await wake.promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }

  /** Lives through one connection, from its first try to its end. Returns what ended it. */
  async #live(): Promise<ConnectionLost> {
    const url = this.#reconnect.url;
    this.ears.tell({ phase: "connecting", url });
    let connection: Connection | undefined;
    let refresher: Refresher | undefined;
    try {
      const token = await fresh(this.token);
      if (this.#ending !== undefined) return new ConnectionLost("the client was closed");
      connection = this.#opened = new Connection(url, { token, ...this.hello }, this.settings, this.recoverer, this.ears.deliver);
      const welcome = await connection.welcomed.promise;
      this.#reconnect.welcomed(performance.now());
      this.ears.welcomed(welcome);
      refresher = new Refresher(connection, this.token, welcome, this.settings, (error) => this.close(error));
      this.#current = connection;
      this.#connection.resolve(connection);
      const installed = await this.#resubscribe(connection, [...this.topics], this.ofFriends !== undefined);
      this.ears.tell({ phase: "connected", url, site: welcome.site, user: welcome.user, timeMs: welcome.time_ms, installed });
      void this.#askAgain(connection, installed).catch((error) => this.close(error));
      return await connection.ended.promise;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      return error;
    } finally {
      connection?.end(new ConnectionLost("the client has ended this connection")); // unless it has ended by itself
      if (this.#current) this.#connection = deferred(); // who waits for the first one goes on waiting
      this.#opened = this.#current = undefined;
      if (this.#ending !== undefined) this.#connection.reject(this.#ending);
      refresher?.stop();
      this.recoverer.disconnect();
    }
  }

  /** Subscribes to what nobody could allow at the reconnect, until somebody could. */
  async #askAgain(connection: Connection, first: Installed): Promise<void> {
    for (let tries = 0, installed = first; ; tries += 1) {
      const left = installed.rejected.map(({ topic }) => topic).filter((topic) => this.isFollowed(topic));
      if (!left.length) return;
      await new Promise((resolve) => setTimeout(resolve, this.settings.backoff.delayMs(tries, this.settings.random)));
      if (this.#current !== connection) return;
      const named = left.filter((topic) => this.topics.has(topic));
      try {
        installed = await this.#resubscribe(connection, named, named.length < left.length);
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error; // refused as a whole: what is left is asked for again
      }
    }
  }

  async #resubscribe(connection: Connection, topics: readonly string[], follows: boolean): Promise<Installed> {
    try {
      const installed = this.settled(await this.subscribe(connection, topics, "local"));
      return follows ? weakest([installed, await this.follow(connection, "local")]) : installed;
    } catch (error) {
      if (error instanceof Refused) throw new ConnectionLost(error.reason, { code: error.code });
      throw error;
    }
  }

  /** Returns `installed` when what was rejected for good is forgotten: asking again would not help. */
  settled(installed: Installed): Installed {
    this.forget(installed.rejected.filter(({ code }) => codeOf(code)?.reconnect === false).map(({ topic }) => topic));
    return installed;
  }
}
