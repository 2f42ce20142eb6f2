/** The session of a user: a client that is connected, what services keep, and what the pages show of both. */
import { Client, Refused, type FriendNews, type PastEvent, type SegueEvent } from "segue";
import { Api, type FollowedUser } from "segue/api";
import { NotificationInbox } from "segue/inbox";
import { enablePushes, showPush, type PushSetup } from "./pushes.js";
import { station, urlsOf, type Artist, type Login, type Mail, type Push, type Roster } from "./station.js";

const SHOWN = 60;

export interface Playing {
  readonly artist: string;
  readonly track: string;
}

/** What changes, and who draws it anew. */
export type Topic = "away" | "artists" | "feed" | "friends" | "mails" | "notifications" | "phase" | "playing" | "playlists" | "private" | "pushes";

export class Session {
  readonly user: string;
  readonly api: Api;
  client: Client;
  /** What Segue keeps for the user. It is made anew with each client. */
  inbox: NotificationInbox;
  /** Whom the user follows. */
  friends: readonly FollowedUser[] = [];
  /** Who follows the user. */
  followers: readonly FollowedUser[] = [];
  /** The last thing that each friend did. */
  readonly last = new Map<string, PastEvent | SegueEvent>();
  feed: readonly (PastEvent | SegueEvent)[] = [];
  readonly artists = new Set<string>();
  mails: readonly Mail[] = [];
  /** The pushes that the radio took for this browser; `isShown`: the service worker has shown it. */
  pushes: readonly (Push & { readonly isShown: boolean })[] = [];
  /** How pushes come to this browser, once it has asked for them. */
  pushSetup: PushSetup | undefined;
  playing: (Playing & { readonly isPaused: boolean }) | undefined;
  isPrivate = false;
  isAway = false;
  #token: string;
  #login: Login;
  #listeners = new Map<Topic, Set<() => void>>();
  #stopNews: () => void;
  /** How often it was asked who the friends are: an answer that was overtaken says less than the one before it. */
  #asked = 0;

  private constructor(login: Login, readonly roster: Roster) {
    this.#login = login;
    this.user = login.user;
    this.#token = login.token;
    this.api = new Api(urlsOf(login), () => this.#token);
    this.client = this.#connect();
    this.inbox = this.#open();
    this.#stopNews = station.news(this.user, {
      mail: (mail) => this.#set("mails", () => (this.mails = [mail, ...this.mails])),
      push: (push) => void showPush(push).then((isShown) => this.#set("pushes", () => (this.pushes = [{ ...push, isShown }, ...this.pushes]))),
    });
  }

  /** Logs in. Raises what the client raises if it cannot connect. */
  static async begin(user: string): Promise<Session> {
    const [login, roster] = await Promise.all([station.login(user), station.roster()]);
    const session = new Session(login, roster);
    try {
      await session.#arrive();
    } catch (error) {
      session.end();
      throw error;
    }
    return session;
  }

  /** Calls `draw` now, and whenever one of `topics` has changed, as long as `shown` is in the page. */
  show(shown: Element, topics: readonly Topic[], draw: () => void): void {
    const listen = (): void => {
      if (shown.isConnected) draw();
      else for (const topic of topics) this.#listeners.get(topic)?.delete(listen);
    };
    for (const topic of topics) this.#listeners.set(topic, (this.#listeners.get(topic) ?? new Set()).add(listen));
    draw();
  }

  async follow(user: string): Promise<void> {
    await this.api.social.follow(user);
    await this.#people();
  }

  async unfollow(user: string): Promise<void> {
    await this.api.social.unfollow(user);
    await this.#people();
  }

  async followArtist(artist: Artist, wanted: boolean): Promise<void> {
    await (wanted ? this.api.artists.follow(artist.id) : this.api.artists.unfollow(artist.id));
    this.#set("artists", () => (wanted ? this.artists.add(artist.id) : this.artists.delete(artist.id)));
  }

  /** Plays something, or pauses it, and tells friends, but not in a private session. */
  async play(playing: Playing, { isPaused = false } = {}): Promise<void> {
    this.#set("playing", () => (this.playing = { ...playing, isPaused }));
    await this.client.act(isPaused ? "pause" : "play", { artist: playing.artist, track: playing.track });
  }

  async setPrivate(on: boolean): Promise<void> {
    await this.client.setPrivate(on);
    this.#set("private", () => (this.isPrivate = on));
  }

  async takePushes(): Promise<void> {
    const setup = await enablePushes(this.user, this.api.settings);
    this.#set("pushes", () => (this.pushSetup = setup));
  }

  /** Disconnects: what comes now finds nobody at home, and so is mailed and pushed. */
  leave(): void {
    this.client.close();
    this.#set("away", () => (this.isAway = true));
  }

  /** Comes back after `leave`. */
  async comeBack(): Promise<void> {
    this.client = this.#connect();
    this.inbox.close();
    this.inbox = this.#open();
    this.#set("away", () => (this.isAway = false));
    await this.#arrive();
  }

  end(): void {
    this.inbox.close();
    this.client.close();
    this.#stopNews();
    this.#listeners.clear();
  }

  /** Calls whoever shows `topic`. */
  changed(topic: Topic): void {
    for (const draw of [...(this.#listeners.get(topic) ?? [])]) draw();
  }

  #connect(): Client {
    const token = async (): Promise<string> => (this.#token = (await station.login(this.user)).token);
    const client = new Client(this.#login.url, token, { client: "radio", user: this.user, private: this.isPrivate });
    client.on("event", (event) => this.#heard(event));
    client.on("gap", ({ topics }) => void this.#look(topics.filter(userOf)).catch(() => undefined)); // lost again: then a gap is told again
    client.on("friends", (news) => void this.#moved(news));
    client.on("ended", ({ topics }) => this.#forget(topics.map(({ topic }) => topic)));
    client.on("state", () => this.changed("phase"));
    client.on("notification", (item) => void (item.class === "new-follower" && this.#people().catch(() => undefined)));
    return client;
  }

  #open(): NotificationInbox {
    const inbox = new NotificationInbox(this.client);
    inbox.on("change", () => this.changed("notifications"));
    return inbox;
  }

  async #arrive(): Promise<void> {
    await this.client.connect();
    await Promise.all([this.client.follow("friends"), this.#people(), this.#fans(), this.#mailbox(), this.inbox.load()]);
  }

  /** Asks whom the user follows, and who follows them. */
  async #people(): Promise<void> {
    const { social } = this.api;
    const asked = (this.#asked += 1);
    const [friends, followers] = await Promise.all([all(social.friends()), all(social.followers())]);
    if (asked === this.#asked) this.#set("friends", () => ([this.friends, this.followers] = [friends, followers]));
  }

  /** Asks what those did last who are heard from now on, and shows nothing of those who are not any more. */
  async #moved({ topics, left }: FriendNews): Promise<void> {
    this.#forget(left);
    try {
      await Promise.all([this.#people(), this.#look(topics.filter(userOf))]);
    } catch {
      // The connection is lost. When it is back, `friends` is told again.
    }
  }

  #forget(topics: readonly string[]): void {
    const gone = new Set(topics.map(userOf));
    this.#set("feed", () => (this.feed = this.feed.filter((each) => !gone.has(userOf(each.topic)))));
    this.#set("friends", () => gone.forEach((user) => this.last.delete(user ?? "")));
  }

  async #look(topics: readonly string[]): Promise<void> {
    if (!topics.length) return;
    const events = await this.client.last(topics);
    for (const event of [...events].sort((one, other) => one.tsMs - other.tsMs)) this.#heard(event);
  }

  async #fans(): Promise<void> {
    for await (const { artist } of this.api.artists.followed()) this.artists.add(artist);
    this.changed("artists");
  }

  async #mailbox(): Promise<void> {
    const mails = await station.mails(this.user);
    this.#set("mails", () => (this.mails = mails));
  }

  #heard(event: PastEvent | SegueEvent): void {
    const user = userOf(event.topic);
    if (!user || this.feed.some(({ id }) => id === event.id)) return;
    if ((this.last.get(user)?.tsMs ?? 0) <= event.tsMs) this.last.set(user, event);
    this.#set("feed", () => (this.feed = [event, ...this.feed].sort((one, other) => other.tsMs - one.tsMs).slice(0, SHOWN)));
    this.changed("friends");
  }

  #set(topic: Topic, change: () => unknown): void {
    change();
    this.changed(topic);
  }
}

async function all<Item>(found: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of found) items.push(item);
  return items;
}

/** Returns whose friend feed a topic is; undefined for another topic. */
export function userOf(topic: string): string | undefined {
  return /^hm:\/\/presence\/user\/([^/]+)\/$/.exec(topic)?.[1];
}

/** Returns what to tell a person of an error. */
export function inWords(error: unknown): string {
  if (error instanceof Refused) return error.reason;
  return error instanceof Error ? error.message : String(error);
}
