/** Whom the user follows and blocks, their address books, wall posts, and who sees what of theirs (docs/friends.md). */
import { part, ServiceClient, type Urls } from "./service.js";
import type { Token } from "./token.js";

export type Listeners = "everyone" | "followers" | "friends" | "nobody";
export type Viewing = "private" | "followers" | "public";

/** A user whom one follows, or who follows one. `mutual`: it goes both ways, so both are friends. */
export interface FollowedUser {
  readonly user: string;
  readonly mutual: boolean;
}

/** A device that is private, until `untilMs` or until it is ended (null). */
export interface PrivateDevice {
  readonly client: string;
  readonly untilMs: number | null;
}

export interface PrivacyState {
  readonly listening: Listeners;
  readonly private: readonly PrivateDevice[];
}

/** Who sees a playlist, and who is on its list of editors. */
export interface PlaylistState {
  readonly playlist: string;
  readonly visibility: Viewing;
  readonly editors: readonly string[];
}

/** An address book or a social account that the user has linked; `verified`: a service vouches for who the user is there. */
export interface LinkedBook {
  readonly provider: string;
  readonly contacts: number;
  readonly verified: boolean;
}

export class Social extends ServiceClient {
  constructor(urls: Urls, token: Token) {
    super(urls, token, "/v1/social");
  }

  /** Yields all whom the user follows, by name. */
  async *friends(): AsyncGenerator<FollowedUser> {
    for await (const page of this.pages<{ friends: FollowedUser[]; next: string | null }>("friends")) yield* page.friends;
  }

  /** Yields all who follow the user, and whether the user follows them, too. */
  async *followers(): AsyncGenerator<FollowedUser> {
    for await (const page of this.pages<{ followers: FollowedUser[]; next: string | null }>("followers")) yield* page.followers;
  }

  /** Follows `user`; returns whether they follow back. */
  async follow(user: string): Promise<boolean> {
    return (await this.ask<FollowedUser>("PUT", `friends/${part(user)}`)).mutual;
  }

  async unfollow(user: string): Promise<void> {
    await this.ask("DELETE", `friends/${part(user)}`);
  }

  async links(): Promise<readonly LinkedBook[]> {
    return (await this.ask<{ links: LinkedBook[] }>("GET", "links")).links;
  }

  /** Links an address book: whoever of its `contacts` is here, or comes later, is followed. `me` is left out. Returns how many were taken. */
  async link(provider: string, contacts: readonly string[], { me = null }: { readonly me?: string | null } = {}): Promise<number> {
    return (await this.ask<LinkedBook>("PUT", `links/${part(provider)}`, { body: { contacts, me } })).contacts;
  }

  async unlink(provider: string): Promise<void> {
    await this.ask("DELETE", `links/${part(provider)}`);
  }

  /** Returns whether the user wants wall posts. */
  async wall(): Promise<boolean> {
    return (await this.ask<{ enabled: boolean }>("GET", "wall")).enabled;
  }

  async setWall(wanted: boolean): Promise<boolean> {
    return (await this.ask<{ enabled: boolean }>("PUT", "wall", { body: { enabled: wanted } })).enabled;
  }

  /** Yields all whom the user blocks, by name. */
  async *blocks(): AsyncGenerator<string> {
    for await (const page of this.pages<{ blocked: string[]; next: string | null }>("blocks")) yield* page.blocked;
  }

  /** Blocks `user`: neither of the two sees anything of the other, nor follows them. */
  async block(user: string): Promise<void> {
    await this.ask("PUT", `blocks/${part(user)}`);
  }

  async unblock(user: string): Promise<void> {
    await this.ask("DELETE", `blocks/${part(user)}`);
  }

  async privacy(): Promise<PrivacyState> {
    return await this.ask("GET", "privacy");
  }

  /** Says who sees what the user plays; returns what holds now. */
  async setListening(listening: Listeners): Promise<PrivacyState> {
    return await this.ask("PUT", "privacy", { body: { listening } });
  }

  /** Makes the device `client` private, for `hours` or until it is ended. */
  async beginPrivate(client: string, hours: number | null = null): Promise<PrivateDevice> {
    return await this.ask("PUT", `private/${part(client)}`, { body: { hours } });
  }

  async endPrivate(client: string): Promise<void> {
    await this.ask("DELETE", `private/${part(client)}`);
  }

  /** Returns who sees `playlist`, by its id, and who edits it. */
  async playlist(playlist: string): Promise<PlaylistState> {
    return await this.ask("GET", `playlists/${part(playlist)}`);
  }

  async setPlaylist(playlist: string, visibility: Viewing): Promise<PlaylistState> {
    return await this.ask("PUT", `playlists/${part(playlist)}`, { body: { visibility } });
  }

  /** Puts `user` on the list of editors of `playlist`, or takes them off; returns what holds now. */
  async setEditor(playlist: string, user: string, { wanted = true }: { readonly wanted?: boolean } = {}): Promise<PlaylistState> {
    return await this.ask(wanted ? "PUT" : "DELETE", `playlists/${part(playlist)}/editors/${part(user)}`);
  }
}
