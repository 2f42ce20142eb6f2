/** The saver of a client's positions: at most once in a while, and at the end. */
import type { Cursors } from "./cursors.js";
import { Misuse } from "./errors.js";
import type { TextStore } from "./options.js";
import { read, written } from "./positions.js";

export class PositionSaver {
  #user = "";
  #saved: string | null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads what `store` has into `cursors`. Raises Misuse for a text that holds no positions. */
  constructor(readonly store: TextStore, readonly cursors: Cursors, readonly everyMs: number) {
    this.#saved = store.load();
    if (this.#saved === null) return;
    const kept = read(this.#saved);
    this.#user = kept.user;
    cursors.restore(kept.positions);
  }

  /** Notes that they are those of `user`. Raises Misuse where they are those of another one. */
  belong(user: string): void {
    if (this.#user && this.#user !== user) {
      throw new Misuse(`the option positions: its store holds those of ${this.#user}, and this client is ${user}; give each user a store`);
    }
    this.#user = user;
  }

  /** Notes that something may have changed. */
  touch(): void {
    this.#timer ??= setTimeout(() => this.save(), this.everyMs);
  }

  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = written({ user: this.#user, positions: this.cursors.snapshot() });
    if (!this.#user || text === this.#saved) return;
    try {
      this.store.save(text);
      this.#saved = text;
    } catch (error) {
      console.warn("segue: positions are not saved yet", error);
    }
  }
}
