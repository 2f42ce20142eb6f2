/** Playlists: made, changed, listed, followed (docs/playlists.md). A playlist is named by its owner and its id. */
import type { PlaylistChange } from "./replica_edits.js";
import { part, ServiceClient, type Json } from "./service.js";

/** A playlist with its tracks, at one version. `topic` is what a client subscribes to, to hear of its changes. */
export interface PlaylistContents {
  readonly topic: string;
  readonly owner: string;
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly collaborative: boolean;
  readonly tracks: readonly string[];
  readonly changedMs: number;
}

/** A playlist without its tracks, of which there are `tracks`. */
export interface PlaylistSummary extends Omit<PlaylistContents, "tracks"> {
  readonly tracks: number;
}

/** The version to which a change is made. The service refuses (`conflict`) where the playlist has another one by now. */
export interface AtVersion {
  readonly version?: number;
}

/** A change that was not answered may have been made. The error is ConnectionLost then: fetch the playlist and look. */
export class PlaylistClient extends ServiceClient {
  /** Creates a playlist of the user. Without `id` one is made. */
  async create(
    name: string,
    { id = "", tracks = [], collaborative = false }: { readonly id?: string; readonly tracks?: readonly string[]; readonly collaborative?: boolean } = {},
  ): Promise<PlaylistContents> {
    return await this.ask("POST", "playlists", { body: { name, id, tracks, collaborative }, isRepeatable: false });
  }

  async get(owner: string, id: string): Promise<PlaylistContents> {
    return await this.ask("GET", place(owner, id));
  }

  /** Yields the playlists that `user` owns, by id: those that one may see. */
  ownedBy(user: string): AsyncGenerator<PlaylistSummary> {
    return this.#listed(`users/${part(user)}/playlists`);
  }

  /** Yields the playlists that `user` follows: those that one may see. */
  followedBy(user: string): AsyncGenerator<PlaylistSummary> {
    return this.#listed(`users/${part(user)}/followed`);
  }

  /** Yields the users who follow a playlist: its owner is told of all. */
  async *followers(owner: string, id: string): AsyncGenerator<string> {
    for await (const page of this.pages<{ followers: string[]; next: string | null }>(`${place(owner, id)}/followers`)) yield* page.followers;
  }

  /** Follows a playlist: on all devices, and for longer than a connection. */
  async follow(owner: string, id: string): Promise<void> {
    await this.ask("PUT", `${place(owner, id)}/follow`);
  }

  async unfollow(owner: string, id: string): Promise<void> {
    await this.ask("DELETE", `${place(owner, id)}/follow`);
  }

  /** Calls a playlist `name`; returns the version that this makes. */
  async rename(owner: string, id: string, name: string, { version }: AtVersion = {}): Promise<number> {
    return await this.#change(owner, id, version, { op: "rename", name });
  }

  /** Says whether the editors of one's own playlist may change it; returns the version that this makes. */
  async setCollaborative(owner: string, id: string, collaborative: boolean, { version }: AtVersion = {}): Promise<number> {
    return await this.#change(owner, id, version, { op: "collaborative", collaborative });
  }

  /** Puts `tracks` at the end, or before the one at `position`, which needs a `version`; returns the version that this makes. */
  async add(owner: string, id: string, tracks: readonly string[], { position, version }: AtVersion & { readonly position?: number } = {}): Promise<number> {
    return await this.#change(owner, id, version, { op: "add", tracks, position });
  }

  /** Takes away `count` tracks from `position` on; returns the version that this makes. */
  async remove(owner: string, id: string, position: number, { count = 1, version }: Required<AtVersion> & { readonly count?: number }): Promise<number> {
    return await this.#change(owner, id, version, { op: "remove", position, count });
  }

  /** Moves `count` tracks from `position` on before the one at `to`, counted in the list as it was; returns the version that this makes. */
  async reorder(
    owner: string,
    id: string,
    position: number,
    to: number,
    { count = 1, version }: Required<AtVersion> & { readonly count?: number },
  ): Promise<number> {
    return await this.#change(owner, id, version, { op: "reorder", position, to, count });
  }

  /** Makes a `change` to a `version`; returns the version that this makes. Followers are told the id `edit`, by which a replica knows its own change. */
  async change(owner: string, id: string, change: PlaylistChange, { version, edit }: { readonly version: number; readonly edit: string }): Promise<number> {
    return await this.#make(owner, id, { change, version, edit });
  }

  /** Deletes one's own playlist. Its id is not used again. */
  async delete(owner: string, id: string, { version }: AtVersion = {}): Promise<void> {
    await this.ask("DELETE", place(owner, id), { isRepeatable: false, ...(version !== undefined && { query: { version: String(version) } }) });
  }

  async *#listed(path: string): AsyncGenerator<PlaylistSummary> {
    for await (const page of this.pages<{ playlists: PlaylistSummary[]; next: string | null }>(path)) yield* page.playlists;
  }

  async #change(owner: string, id: string, version: number | undefined, change: Record<string, unknown>): Promise<number> {
    return await this.#make(owner, id, { change, version }); // JSON leaves out what is undefined
  }

  async #make(owner: string, id: string, body: Json): Promise<number> {
    return (await this.ask<{ version: number }>("POST", `${place(owner, id)}/changes`, { body, isRepeatable: false })).version;
  }
}

function place(owner: string, id: string): string {
  return `playlists/${part(owner)}/${part(id)}`;
}
