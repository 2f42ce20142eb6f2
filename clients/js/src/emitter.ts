/** Listeners by name. One that throws is told on the console, and the others hear all the same. */
export class Emitter<Events extends object> {
  #listeners = new Map<keyof Events, Set<(value: never) => void>>();

  /** Calls `listener` with every `name` from now on. Returns what ends that. */
  on<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as (value: never) => void));
    return () => this.off(name, listener);
  }

  off<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): void {
    this.#listeners.get(name)?.delete(listener as (value: never) => void);
  }

  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])] as ((value: Events[Name]) => void)[]) {
      try {
        listener(value);
      } catch (error) {
        console.error(`segue: a listener for ${String(name)} failed`, error);
      }
    }
  }
}
