/**
 * A playlist that is kept on this device: the same order as on all others within a second, and edits that show at once.
 *
 *     const mix = new PlaylistReplica(client, api.playlists, "ann", "mix");
 *     mix.on("change", () => console.log(mix.name, mix.tracks));
 *     await mix.open();
 *     mix.reorder(2, 0);
 *
 * It loads the contents and follows the playlist's topic. Edits are about what is shown, and are made at the service one after the other;
 * what others do meanwhile is merged. What decides is `replica_core.ts`.
 */
import { Backoff } from "./backoff.js";
import { Client } from "./client.js";
import { Emitter } from "./emitter.js";
import { ConnectionLost, Misuse, ProtocolError, Refused, refusal } from "./errors.js";
import type { PlaylistClient, PlaylistContents } from "./playlists.js";
import { ReplicaCore, type PlaylistNews, type RefusedEdit, type Request, type SendEdit } from "./replica_core.js";

/** So long a version that is on its way is waited for before the playlist is fetched. */
const LATE_MS = 500;

/** How many replicas of a client have followed a topic that the application does not follow itself. The last one follows it no longer. */
const followers = new WeakMap<Client, Map<string, number>>();

/** Adds `change` to the followers of `topic`. Returns how many there are now. */
function followed(client: Client, topic: string, change: number): number {
  const counts = followers.get(client) ?? new Map<string, number>();
  followers.set(client, counts);
  const count = (counts.get(topic) ?? 0) + change;
  counts.set(topic, count);
  if (!count) counts.delete(topic);
  return count;
}

/** Whether a replica subscribes at this moment, and not the application. */
let isAsking = false;

/** What a replica tells, by name. */
export interface ReplicaEvents {
  /** Something else is shown, or another number of edits waits. */
  change: PlaylistReplica;
  /** An edit was taken back, and why. */
  refused: RefusedEdit;
}

export interface ReplicaOptions {
  /** When it is tried again where nobody answers. */
  readonly backoff?: Backoff;
  readonly random?: () => number;
}

/** The playlist `id` of `owner` on this device, from `open` to `close`. Positions that are none raise RangeError. */
export class PlaylistReplica extends Emitter<ReplicaEvents> {
  readonly topic: string;
  #core = new ReplicaCore(() => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  #backoff: Backoff;
  #random: () => number;
  #failures = 0;
  #stops: (() => void)[] = [];
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #wakes: (() => void)[] = [];
  #isOpen = false;
  #isOurs = false;
  #shown = "";

  /** `client` is connected and hears of changes; `playlists` asks the playlist service, as the same user. */
  constructor(readonly client: Client, readonly playlists: PlaylistClient, readonly owner: string, readonly id: string, options: ReplicaOptions = {}) {
    super();
    if (!(client instanceof Client)) throw new Misuse("the client is none of this package; make it from the same copy of it");
    this.topic = `hm://playlist/user/${owner}/playlist/${id}/`;
    this.#backoff = options.backoff ?? new Backoff();
    this.#random = options.random ?? Math.random;
  }

  /** Follows the playlist and loads it. Raises Refused where it may not be seen or is not there, and ConnectionLost. */
  async open(): Promise<void> {
    const { client, topic } = this;
    this.#isOpen = true;
    this.#own();
    this.#stops = [
      client.on("event", (event) => event.topic === topic && this.#do(this.#core.changed(event.payload as unknown as PlaylistNews))),
      client.on("gap", ({ topics }) => topics.includes(topic) && this.#do(this.#core.reload())),
      client.on("state", (state) => state.phase === "connected" && state.installed.recovered !== true && this.#do(this.#core.reload())),
      // It may still be seen when its owner is a friend no longer.
      client.on("friends", ({ left }) => left.includes(topic) && this.#own() && void this.#followItself()),
      client.on("asked", ([topics, follows]) => topics.includes(topic) && this.#asked(follows)),
      client.on("ended", ({ topics }) => {
        for (const each of topics) if (each.topic === topic) this.#do(this.#core.gone(each.code, each.reason));
      }),
    ];
    try {
      if (this.#isOurs) await this.#subscribe();
      this.#core.reload();
      this.#loaded(await this.playlists.get(this.owner, this.id));
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Counts among those who follow the topic themselves, if the application does not follow it. Returns whether that is so from now on. */
  #own(): boolean {
    const { client, topic } = this;
    if (this.#isOurs || (!followed(client, topic, 0) && client.topics.has(topic))) return false;
    this.#isOurs = true;
    followed(client, topic, 1);
    return true;
  }

  /** Leaves the topic to the others who follow it. Returns whether nobody does now. */
  #disown(): boolean {
    if (!this.#isOurs) return false;
    this.#isOurs = false;
    return !followed(this.client, this.topic, -1);
  }

  /** Takes note that the application has subscribed the topic, or has unsubscribed it. */
  #asked(follows: boolean): void {
    if (!follows) {
      if (this.#own() || this.#isOurs) void this.#followItself();
    } else if (!isAsking) this.#disown();
  }

  /** Follows the topic itself from now on, and loads what was missed meanwhile. */
  async #followItself(): Promise<void> {
    try {
      await this.#subscribe();
      this.#do(this.#core.reload());
    } catch (error) {
      if (!this.#isOpen || this.client.state?.phase === "closed") return;
      if (!(error instanceof Refused)) throw error;
      if (error.code.reconnect) this.#afterPause(() => (void this.#followItself(), []));
      else this.#do(this.#core.gone(error.code.name, error.reason));
    }
  }

  async #subscribe(): Promise<void> {
    isAsking = true;
    const asked = this.client.subscribe(this.topic, { lasting: false });
    isAsking = false;
    const { rejected } = await asked;
    for (const { code, reason } of rejected) throw refusal(code, reason);
  }

  /** Keeps it no longer. Edits that are not made yet are forgotten; see `settled`. May be called twice. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#wake();
    for (const stop of this.#stops) stop();
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#disown()) await this.client.unsubscribe(this.topic);
  }

  /** Returns when all edits are made or refused, or the replica is closed. */
  async settled(): Promise<void> {
    while (this.waiting && this.#isOpen) await new Promise<void>((wake) => this.#wakes.push(wake));
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  /** The tracks, with the user's own edits. */
  get tracks(): readonly string[] {
    return this.#core.tracks;
  }

  /** The name, with the user's own edits. */
  get name(): string {
    return this.#core.shownName;
  }

  /** Whether editors may change it, too. */
  get collaborative(): boolean {
    return this.#core.collaborative;
  }

  /** The newest version that is known. */
  get version(): number {
    return this.#core.version;
  }

  /** How many edits are not made yet. */
  get waiting(): number {
    return this.#core.waiting;
  }

  /** Whether it was deleted, or may not be seen any more. */
  get isGone(): boolean {
    return this.#core.isGone;
  }

  /** Puts `tracks` at the end, or before the one that is shown at `position`. */
  add(tracks: readonly string[], position?: number): void {
    this.#do(this.#core.add(tracks, position));
  }

  /** Takes away `count` tracks that are shown from `position` on. */
  remove(position: number, count = 1): void {
    this.#do(this.#core.remove(position, count));
  }

  /** Moves `count` tracks that are shown from `position` on before the one that is at `to` now. */
  reorder(position: number, to: number, count = 1): void {
    this.#do(this.#core.reorder(position, to, count));
  }

  /** Calls the playlist `name`. */
  rename(name: string): void {
    this.#do(this.#core.rename(name));
  }

  /** Says whether the editors of one's own playlist may change it. */
  setCollaborative(collaborative: boolean): void {
    this.#do(this.#core.setCollaborative(collaborative));
  }

  #do(requests: readonly Request[]): void {
    if (!this.#isOpen) return;
    for (const request of requests) {
      if (request.ask === "send") void this.#send(request);
      else if (request.ask === "fetch") void this.#fetch();
      else if (request.ask === "await") this.#later(LATE_MS, () => this.#core.late(request.version));
      else this.emit("refused", request);
    }
    const shown = JSON.stringify([this.version, this.name, this.waiting, this.isGone, this.tracks]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#wake();
    this.emit("change", this);
  }

  #later(delayMs: number, step: () => Request[]): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#do(step());
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Does `step` after a while that grows with each failure. */
  #afterPause(step: () => Request[]): void {
    this.#later(this.#backoff.delayMs(this.#failures++, this.#random), step);
  }

  async #send({ id, change, version }: SendEdit): Promise<void> {
    try {
      const made = await this.playlists.change(this.owner, this.id, change, { version, edit: id });
      this.#failures = 0;
      this.#do(this.#core.answered(id, made));
    } catch (error) {
      if (error instanceof Refused) {
        const { code, reason } = error;
        this.#do(code.name === "conflict" ? this.#core.conflicted(id) : this.#core.refused(id, code.name, reason));
      } else this.#unanswered(error, () => this.#core.retry(), () => this.#core.unanswered(id));
    }
  }

  async #fetch(): Promise<void> {
    try {
      this.#loaded(await this.playlists.get(this.owner, this.id));
      this.#failures = 0;
    } catch (error) {
      if (error instanceof Refused) this.#do(this.#core.gone(error.code.name, error.reason));
      else this.#unanswered(error, () => this.#core.notLoaded());
    }
  }

  #unanswered(error: unknown, later: () => Request[], now: () => Request[] = () => []): void {
    if (!(error instanceof ConnectionLost || error instanceof ProtocolError)) throw error;
    this.#do(now());
    if (this.#isOpen) this.#afterPause(later);
  }

  #loaded({ version, name, collaborative, tracks }: PlaylistContents): void {
    this.#do(this.#core.loaded(version, name, collaborative, tracks));
  }
}
