/** A playlist that several people change at once: what it holds now, and changes that are shown before the service has taken them. */
import { Refused } from "segue";
import type { PlaylistContents } from "segue/api";
import type { Session } from "./session.js";

const MOST_TRIES = 5;

export class SharedPlaylist {
  #held: PlaylistContents | undefined;
  #tracks: readonly string[] = [];
  #changes: Promise<void> = Promise.resolve();
  #stop: () => void = () => undefined;
  #isClosed = false;

  /** `changed` is called whenever what it holds is another. */
  constructor(readonly session: Session, readonly owner: string, readonly id: string, readonly changed: () => void) {}

  /** What the service holds, as far as this page knows; undefined before `open`. */
  get held(): PlaylistContents | undefined {
    return this.#held;
  }

  /** The tracks, with changes that are under way. */
  get tracks(): readonly string[] {
    return this.#tracks;
  }

  /** Fetches it, and hears of changes until `close`. Raises what the service raises. */
  async open(): Promise<void> {
    await this.#fetch();
    const { topic } = this.#held!;
    this.#stop = this.session.client.on("event", (event) => event.topic === topic && (event.payload["version"] as number) > this.#held!.version && void this.#fetch());
    if (!this.#isClosed) await this.session.client.subscribe(topic);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  async add(track: string): Promise<void> {
    await this.#change((tracks) => [...tracks, track], async (version) => await this.session.api.playlists.add(this.owner, this.id, [track], { version }));
  }

  async remove(at: number): Promise<void> {
    const track = this.#tracks[at]!;
    const found = (): number => nearest(this.#held!.tracks, track, at);
    await this.#change((tracks) => tracks.filter((_, each) => each !== at), async (version) => (found() < 0 ? version : await this.session.api.playlists.remove(this.owner, this.id, found(), { version })));
  }

  /** Moves a track to the position `to` of the list without it: behind the track that stands before that place, wherever others put it. */
  async move(from: number, to: number): Promise<void> {
    const track = this.#tracks[from]!;
    const wanted = moved(this.#tracks, from, to);
    const before = wanted[to - 1];
    const send = async (version: number): Promise<number> => {
      const { tracks } = this.#held!;
      const at = nearest(tracks, track, from);
      const left = tracks.filter((_, each) => each !== at);
      const place = before === undefined ? 0 : nearest(left, before, to - 1) + 1;
      if (at < 0 || place === at) return version;
      return await this.session.api.playlists.reorder(this.owner, this.id, at, place > at ? place + 1 : place, { version });
    };
    await this.#change(() => wanted, send);
  }

  /** Shows a change at once, and sends it behind those before it. A version that somebody else has made meanwhile is fetched, and it is sent to that. */
  async #change(edit: (tracks: readonly string[]) => readonly string[], send: (version: number) => Promise<number>): Promise<void> {
    this.#show(edit(this.#tracks));
    const done = this.#changes.then(async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          await send(this.#held!.version);
          return await this.#fetch();
        } catch (error) {
          await this.#fetch();
          if (!(error instanceof Refused && error.code.name === "conflict") || tries === MOST_TRIES) throw error;
        }
      }
    });
    this.#changes = done.catch(() => undefined);
    await done;
  }

  async #fetch(): Promise<void> {
    const held = await this.session.api.playlists.get(this.owner, this.id);
    if (held.version < (this.#held?.version ?? 0)) return;
    this.#held = held;
    this.#show(held.tracks);
  }

  #show(tracks: readonly string[]): void {
    this.#tracks = tracks;
    this.changed();
  }
}

function moved(tracks: readonly string[], from: number, to: number): string[] {
  const left = tracks.filter((_, at) => at !== from);
  return [...left.slice(0, to), tracks[from]!, ...left.slice(to)];
}

/** Returns where `track` is, nearest to `at`; -1 where it is no more. */
export function nearest(tracks: readonly string[], track: string, at: number): number {
  const found = tracks.map((each, index) => [each, index] as const).filter(([each]) => each === track);
  return found.sort(([, one], [, other]) => Math.abs(one - at) - Math.abs(other - at))[0]?.[1] ?? -1;
}
