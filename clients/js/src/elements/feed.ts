/** `<segue-feed url="ws://…" token="…" friends="*">`: what friends play, the moment it happens. */
import type { Client } from "../client.js";
import type { PastEvent, SegueEvent } from "../messages.js";
import { ClientElement } from "./client_element.js";
import { element, STYLE, styled } from "./parts.js";
import { ago, lineOfEvent } from "./words.js";

const SHOWN = 50;
const FEEDS = "hm://presence/user/";
/** The name that stands for all friends. */
const ALL = "*";

const FEED_STYLE = `${STYLE}
  :host { display: block; border: 1px solid var(--_line); border-radius: 14px; background: var(--_surface); overflow: hidden; }
  .head { display: flex; justify-content: space-between; align-items: baseline; gap: 12px; padding: 14px 16px; border-block-end: 1px solid var(--_line); }
  h2 { font-size: 1.05em; margin: 0; }
  #phase { color: var(--_faint); font-size: 0.87em; }
  #phase::before { content: ""; display: inline-block; width: 8px; height: 8px; margin-inline-end: 6px; border-radius: 50%; background: var(--_faint); }
  :host([phase="connected"]) #phase::before { background: var(--_accent); }
  li { align-items: center; }
  .note { padding: 8px 16px; }
`;

/** A line of the feed: an event, or a note that something may be missing. */
type Shown = { readonly event: PastEvent | SegueEvent } | { readonly missed: number | null };

/**
 * A feed. `friends` are names of users with blanks between them, or `*`: whoever is a friend of the user; `topics` are other topics, likewise. It begins with the last thing that each
 * friend did. The attribute `phase` says whether it is connected.
 */
export class SegueFeed extends ClientElement {
  static readonly observedAttributes = ["url", "token", "friends", "topics"];
  #shown: Shown[] = [];
  #topics: readonly string[] = [];
  #followsFriends = false;
  #title = element("h2");
  #phase = element("span");
  #list = element("ol");
  #empty = element("p", "empty");

  constructor() {
    super();
    this.#phase.id = "phase";
    this.#phase.role = "status";
    this.#title.id = "title";
    const log = element("div", "", this.#list); // what comes is read aloud
    log.role = "log";
    log.setAttribute("aria-labelledby", "title");
    this.#list.role = "list"; // one without bullets is none to every reader
    styled(this.root, FEED_STYLE);
    this.root.append(element("div", "head", this.#title, this.#phase), log, this.#empty);
  }

  protected override listen(client: Client, until: (stop: () => void) => void): void {
    const names = listed(this.getAttribute("friends"));
    const friends = names.filter((name) => name !== ALL).map((name) => FEEDS + `${name}/`);
    this.#followsFriends = names.includes(ALL);
    this.#topics = [...friends, ...listed(this.getAttribute("topics"))];
    this.#shown = [];
    until(client.on("event", (event) => this.#shows(event.topic) && this.#add(event)));
    until(client.on("gap", ({ topics }) => topics.some((topic) => this.#shows(topic)) && void this.#last(client, feedsOf(topics))));
    until(client.on("state", ({ phase }) => this.#told(phase)));
    this.#told(client.state?.phase ?? "connecting");
    void this.#follow(client, friends);
    if (this.#followsFriends) void this.#followFriends(client, until);
  }

  /** Whether events of `topic` are shown. Of friends these are the feeds: a line in a feed tells of each change of their playlists. */
  #shows(topic: string): boolean {
    return this.#topics.includes(topic) || (this.#followsFriends && topic.startsWith(FEEDS));
  }

  protected override draw(): void {
    const { words } = this;
    this.#title.textContent = words.friends;
    const phase = words.phases[this.getAttribute("phase") ?? "connecting"] ?? "";
    if (this.#phase.textContent !== phase) this.#phase.textContent = phase; // read aloud when it changes
    this.#empty.textContent = words.quiet;
    this.#empty.hidden = this.#shown.length > 0;
    const rows = this.#shown.map((each) => ("event" in each ? this.#row(each.event) : element("li", "note", words.missed(each.missed))));
    this.#list.replaceChildren(...rows);
  }

  async #follow(client: Client, friends: readonly string[]): Promise<void> {
    if (!this.#topics.length) return;
    try {
      await client.subscribe(this.#topics);
      await this.#last(client, friends);
    } catch (error) {
      this.tell("segue-error", error);
    }
  }

  /** Follows whoever is a friend, and begins with the last thing that each of them did, also of those who become one. */
  async #followFriends(client: Client, until: (stop: () => void) => void): Promise<void> {
    try {
      await client.follow("friends");
      until(client.on("friends", ({ topics }) => void this.#last(client, feedsOf(topics))));
      await this.#last(client, feedsOf(client.topics));
    } catch (error) {
      this.tell("segue-error", error);
    }
  }

  /** Shows what friends did before, or while something was missed. */
  async #last(client: Client, friends: readonly string[]): Promise<void> {
    if (!friends.length) return;
    const events = await client.last(friends);
    if (this.client === client) for (const event of [...events].sort((one, other) => one.tsMs - other.tsMs)) this.#add({ ...event, gap: 0 });
  }

  #told(phase: string): void {
    this.setAttribute("phase", phase);
    this.changed();
  }

  #add(event: (PastEvent | SegueEvent) & { readonly gap: number | null }): void {
    if (this.#shown.some((each) => "event" in each && each.event.id === event.id && each.event.topic === event.topic)) return;
    const missed: Shown[] = event.gap === 0 ? [] : [{ missed: event.gap }];
    this.#shown = [{ event }, ...missed, ...this.#shown].slice(0, SHOWN);
    this.changed();
  }

  #row(event: PastEvent | SegueEvent): HTMLLIElement {
    const { who, verb, what } = lineOfEvent(event, this.words);
    const avatar = element("span", "avatar", [...who][0] ?? "?");
    avatar.ariaHidden = "true";
    const time = element("time", "", ago(Date.now() - event.tsMs, this.words.language));
    time.dateTime = new Date(event.tsMs).toISOString();
    return element("li", "", avatar, element("span", "what", element("span", "who", who), ` ${verb}`, what && element("span", "about", what)), time);
  }
}

function feedsOf(topics: Iterable<string>): string[] {
  return [...topics].filter((topic) => topic.startsWith(FEEDS));
}

function listed(text: string | null): string[] {
  return (text ?? "").split(/[\s,]+/).filter(Boolean);
}

customElements.define("segue-feed", SegueFeed);
