/** Artists whom the user follows, and so hears of for good (docs/artists.md). */
import { part, ServiceClient, type Urls } from "./service.js";
import type { Token } from "./token.js";

export type ArtistNews = "new-album" | "new-track" | "artist-playlist";

/** One feed of an artist: news of one `type`. */
export interface ArtistFeed {
  readonly artist: string;
  readonly type: ArtistNews;
}

export class ArtistClient extends ServiceClient {
  constructor(urls: Urls, token: Token) {
    super(urls, token, "/v1/artists");
  }

  /** Yields the feeds that the user follows, by artist. */
  async *followed(): AsyncGenerator<ArtistFeed> {
    for await (const page of this.pages<{ topics: ArtistFeed[]; next: string | null }>("followed")) yield* page.topics;
  }

  /** Follows all feeds of `artist`, by their id; returns the types of news in them. */
  async follow(artist: string): Promise<readonly ArtistNews[]> {
    return (await this.ask<{ types: ArtistNews[] }>("PUT", `${part(artist)}/follow`)).types;
  }

  async unfollow(artist: string): Promise<void> {
    await this.ask("DELETE", `${part(artist)}/follow`);
  }
}
