/**
 * One connection to an access point, from hello to its end. It knows nothing of reconnecting.
 *
 * Answers find their callers by id, pongs by their order.
 */
import { codeOf } from "./codes.js";
import { deferred, type Deferred } from "./deferred.js";
import { ConnectionLost, ProtocolError, Refused, refusal } from "./errors.js";
import {
  gapOf,
  problemOf,
  subscribedOf,
  topicBatches,
  weakest,
  welcomeOf,
  type Installed,
  type Message,
  type Problem,
  type Wait,
  type Welcome,
  type Whom,
} from "./messages.js";
import type { Settings } from "./options.js";
import type { Recoverer } from "./recoverer.js";
import type { TokensFor } from "./token.js";
import { Wire } from "./wire.js";

/** Servers take no more of these at once. */
const SUBSCRIBES_AT_ONCE = 8;

/** Takes every message that is no answer, and the gaps that a recovery has found. */
export type Deliver = (message: Message) => void;

/** A call that is not answered. `op`: that of its answer. */
interface OpenCall extends Deferred<Message> {
  readonly op: string;
}

export class Connection {
  /** Settles when the server welcomes the client; rejects with ConnectionLost. */
  readonly welcomed = deferred<Welcome>();
  /** Resolves with what ended the connection. */
  readonly ended = deferred<ConnectionLost>();
  #wire: Wire;
  #welcome: Welcome | undefined;
  #lost: ConnectionLost | undefined;
  #nextId = 1;
  #calls = new Map<unknown, OpenCall>();
  #installs = new Map<unknown, Installed>();
  #pongs: Deferred<number>[] = [];
  #subscribing: Promise<unknown>[] = [];
  #hasHeard = false;
  #timer: ReturnType<typeof setTimeout>;

  /** Opens a connection to `url` and says `hello`, a message of these fields. `recoverer` hears what is asked and answered. */
  constructor(
    readonly url: string,
    hello: object,
    readonly settings: Settings,
    readonly recoverer: Recoverer,
    readonly deliver: Deliver,
  ) {
    const late = (): void => this.end(new ConnectionLost(`${url} did not welcome us within ${settings.answerTimeoutMs} ms`));
    this.#timer = setTimeout(late, settings.answerTimeoutMs);
    this.#wire = new Wire(settings.webSocket, url, {
      opened: () => this.#wire.send({ op: "hello", ...hello }),
      heard: (message) => this.#heard(message),
      lost: (why) => this.#over(why),
    });
  }

  end(why: ConnectionLost): void {
    this.#wire.end(why);
  }

  /** Sends `message` under an id of its own. Returns its answer, whose op is `expected`. Raises ConnectionLost, Refused and ProtocolError. */
  async call(expected: string, message: Message, id: unknown = this.#nextId++): Promise<Message> {
    if (this.#lost) throw this.#lost;
    const call = { op: expected, ...deferred<Message>() };
    this.#calls.set(id, call);
    this.#wire.send({ ...message, id });
    return await call.promise;
  }

  /**
   * Subscribes `topics`, in as many messages as it takes. Returns what all of the answers promise.
   *
   * `fields` is what else each message says. Raises as `call`, and what `tokensFor` raises, when all messages are answered: nothing is subscribed behind it.
   */
  async subscribe(topics: readonly string[], wait: Wait, tokensFor?: TokensFor, fields: object = {}): Promise<Installed> {
    const installs = this.recoverer.batches(topics).map((batch) => this.#inTurn(() => this.#install(batch, wait, tokensFor, fields)));
    await Promise.allSettled(installs);
    return weakest(await Promise.all(installs));
  }

  /** Follows all of `whom`. What was missed comes of `topics`, those of theirs that were followed before; the others are new. Raises as `subscribe`. */
  async follow(whom: Whom, topics: readonly string[], wait: Wait, tokensFor?: TokensFor): Promise<Installed> {
    const known = await this.subscribe(topics, wait, tokensFor, { follow: whom });
    const { isOffered } = this.recoverer;
    const id = this.#nextId++;
    await this.call("subscribed", { op: "subscribe", topics: [], wait, follow: whom, ...(isOffered && { recover: true }) }, id);
    return weakest([known, this.#installed(id)]);
  }

  /** Unsubscribes `topics`; no event of theirs comes after it. `fields` is what else it says. Raises as `call`. */
  async unsubscribe(topics: readonly string[], fields: object = {}): Promise<void> {
    for (const batch of topicBatches(topics, this.#welcome!.limits)) await this.call("unsubscribed", { op: "unsubscribe", topics: batch, ...fields });
  }

  /** Returns the server's clock, in ms since 1970. Raises ConnectionLost. */
  ping(): Promise<number> {
    if (this.#lost) return Promise.reject(this.#lost);
    const pong = deferred<number>();
    this.#pongs.push(pong);
    this.#wire.send({ op: "ping", ...(this.recoverer.isOffered && { point: true }) });
    return pong.promise;
  }

  async #install(batch: readonly string[], wait: Wait, tokensFor: TokensFor | undefined, fields: object): Promise<Installed> {
    const tokens = (await tokensFor?.(batch)) ?? [];
    if (this.#lost) throw this.#lost;
    const id = this.#nextId++; // no await between this and the call
    try {
      await this.call("subscribed", { ...this.recoverer.ask(id, batch, wait), ...(tokens.length > 0 && { tokens }), ...fields }, id);
    } catch (error) {
      if (!(error instanceof Refused && this.recoverer.refused(id, error))) throw error;
      return await this.#install(batch, wait, tokensFor, fields);
    }
    return this.#installed(id);
  }

  #installed(id: unknown): Installed {
    const installed = this.#installs.get(id)!;
    this.#installs.delete(id);
    return installed;
  }

  /** Waits for a turn among the subscribes that a recovering server takes at once. */
  async #inTurn<T>(subscribe: () => Promise<T>): Promise<T> {
    while (this.recoverer.isOffered && this.#subscribing.length >= SUBSCRIBES_AT_ONCE) await Promise.race(this.#subscribing);
    const settled = subscribe();
    const turn: Promise<unknown> = settled.then(leave, leave);
    const subscribing = this.#subscribing;
    subscribing.push(turn);
    function leave(): void {
      subscribing.splice(subscribing.indexOf(turn), 1);
    }
    return await settled;
  }

  #heard(message: Message): void {
    this.#hasHeard = true;
    if (!this.#welcome) return this.#greeted(message);
    switch (message.op) {
      case "welcome":
        throw new ConnectionLost(`${this.url} sent a second welcome`);
      case "error":
        return this.#refused(problemOf(message), message.id);
      case "pong":
        this.recoverer.reach((message["point"] as string | undefined) ?? null);
        return this.#pongs.shift()?.resolve(message["time_ms"] as number);
      case "subscribed":
        return this.#subscribed(message);
      case "gap":
        this.recoverer.miss(gapOf(message));
        return this.deliver(message);
      default:
        return this.#calls.has(message.id) ? this.#answered(message) : this.deliver(message);
    }
  }

  #greeted(message: Message): void {
    if (message.op === "error") throw lossOf(problemOf(message));
    if (message.op !== "welcome") throw new ConnectionLost(`${this.url} answered hello with ${message.op}`);
    this.#welcome = welcomeOf(message);
    this.recoverer.connect(this.#welcome);
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#beat(), this.settings.heartbeatMs);
    this.welcomed.resolve(this.#welcome);
  }

  #beat(): void {
    if (!this.#hasHeard) return this.end(new ConnectionLost(`nothing was heard from ${this.url} for ${this.settings.heartbeatMs} ms`));
    this.#hasHeard = false;
    void this.ping();
  }

  #subscribed(message: Message): void {
    const { installed, gaps } = this.recoverer.answered(subscribedOf(message));
    this.#installs.set(message.id, installed);
    this.#answered(message);
    for (const gap of gaps) this.deliver({ op: "gap", ...gap });
  }

  /** Returns the call `id`, which waits no longer; undefined where nobody waits. */
  #waiting(id: unknown): OpenCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #answered(message: Message): void {
    const call = this.#waiting(message.id);
    if (!call) return void this.#installs.delete(message.id);
    if (call.op === message.op) call.resolve(message);
    else call.reject(new ProtocolError(`${this.url} answered ${call.op} with ${message.op}`));
  }

  #refused(problem: Problem, id: unknown): void {
    if (codeOf(problem.code, problem.number)?.fatal) {
      this.recoverer.reach(problem.point);
      throw lossOf(problem);
    }
    const call = this.#waiting(id);
    if (call) call.reject(refusal(problem.code, problem.reason));
    else this.deliver({ op: "error", ...problem });
  }

  #over(why: ConnectionLost): void {
    this.#lost = why;
    clearTimeout(this.#timer); // of the interval, too: they are of one kind
    for (const waiting of [...this.#calls.values(), ...this.#pongs, this.welcomed]) waiting.reject(why);
    this.ended.resolve(why);
  }
}

function lossOf(problem: Problem): ConnectionLost {
  const retryAfterMs = problem.reconnectInMs === undefined ? undefined : Math.max(0, problem.reconnectInMs);
  const code = codeOf(problem.code, problem.number);
  return new ConnectionLost(problem.reason || problem.code, { code, retryAfterMs, isFinal: problem.reconnect === false });
}
