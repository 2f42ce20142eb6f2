/**
 * All that services keep for a user, in one object, with the names of the Python SDK's `segue.Api`.
 *
 *     const api = new Api({}, token);
 *     await api.social.follow("bob");
 *     for await (const playlist of api.playlists.ownedBy("bob")) console.log(playlist.name);
 */
import { ArtistClient } from "./artists.js";
import { PlaylistClient } from "./playlists.js";
import { SettingsClient } from "./preferences.js";
import type { Urls } from "./service.js";
import { Social } from "./social.js";
import type { Token } from "./token.js";

/** The addresses of the services of each kind; what it leaves out is where `segue up` has it on this machine. */
export interface ApiUrls {
  readonly artists?: Urls;
  readonly playlists?: Urls;
  readonly settings?: Urls;
  readonly social?: Urls;
}

export class Api {
  readonly artists: ArtistClient;
  readonly playlists: PlaylistClient;
  readonly settings: SettingsClient;
  readonly social: Social;

  /** `urls` are the addresses of each kind, or the one of a proxy in front of all. `token` is a token, or a function that is called for one at every request. */
  constructor(urls: ApiUrls | Urls, token: Token) {
    const each: ApiUrls =
      typeof urls === "string" || Array.isArray(urls) ? { artists: urls, playlists: urls, settings: urls, social: urls } : (urls as ApiUrls);
    this.artists = new ArtistClient(each.artists ?? "http://127.0.0.1:7732", token);
    this.playlists = new PlaylistClient(each.playlists ?? "http://127.0.0.1:7730", token);
    this.settings = new SettingsClient(each.settings ?? "http://127.0.0.1:7720", token);
    this.social = new Social(each.social ?? "http://127.0.0.1:7731", token);
  }
}
