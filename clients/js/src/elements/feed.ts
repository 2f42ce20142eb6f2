/** `<segue-feed url="ws://…" token="…" friends="*">`: what friends play, the moment it happens. */
import type { Client } from "../client.js";
import { Refused, refusal } from "../errors.js";
import type { PastEvent, RejectedTopic, SegueEvent } from "../messages.js";
import { ClientElement } from "./client_element.js";
import { FeedRow, type Shown } from "./feed_row.js";
import { KeyedList } from "./keyed_list.js";
import { element, say, STYLE, styled } from "./parts.js";

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
  li.arrived { animation: arrive 0.35s ease-out; }
  #refused { padding: 6px 0; border-block-end: 1px solid var(--_line); background: color-mix(in srgb, var(--_line) 35%, var(--_surface)); }
  #refused:empty { display: none; }
  #refused p { margin: 0; padding: 4px 16px; font-size: 0.93em; overflow-wrap: anywhere; }
  @keyframes arrive { from { opacity: 0; transform: translateY(-8px); } }
  @media (prefers-reduced-motion: reduce) { li.arrived { animation: none; } }
`;

/** An event, or how many are missing before it. */
type Told = { readonly key: string } & ({ readonly event: PastEvent | SegueEvent } | { readonly missed: number | null });

/**
 * A feed. `friends` are names of users with blanks between them, or `*`: whoever is a friend of the user; `topics` are other topics, likewise. It begins with the last thing that each
 * friend did. What of them is refused is said, and shown as soon as it is a friend's. The attribute `phase` says whether it is connected.
 */
export class SegueFeed extends ClientElement {
  static readonly observedAttributes = ["url", "token", "friends", "topics"];
  #shown: Told[] = [];
  #refused = new Map<string, RejectedTopic>();
  #topics: readonly string[] = [];
  #followsFriends = false;
  #title = element("h2");
  #phase = element("span");
  #refusals = element("div");
  #list = element("ol");
  #empty = element("p", "empty");
  #rows = new KeyedList<Shown, FeedRow>(this.#list, ({ key }) => key, (shown) => new FeedRow(shown));

  constructor() {
    super();
    this.#phase.id = "phase";
    this.#phase.role = "status";
    this.#title.id = "title";
    const log = element("div", "", this.#list); // what comes is read aloud
    log.role = "log";
    log.setAttribute("aria-labelledby", "title");
    this.#list.role = "list"; // one without bullets is none to every reader
    this.#refusals.id = "refused";
    this.#refusals.role = "status";
    styled(this.root, FEED_STYLE);
    this.root.append(element("div", "head", this.#title, this.#phase), this.#refusals, log, this.#empty);
  }

  protected override listen(client: Client, until: (stop: () => void) => void): void {
    const names = listed(this.getAttribute("friends"));
    const friends = names.filter((name) => name !== ALL).map((name) => FEEDS + `${name}/`);
    this.#followsFriends = names.includes(ALL);
    this.#topics = [...friends, ...listed(this.getAttribute("topics"))];
    this.#shown = [];
    this.#refused.clear();
    until(client.on("event", (event) => this.#shows(event.topic) && this.#add(event)));
    until(client.on("gap", ({ topics }) => topics.some((topic) => this.#shows(topic)) && void this.#last(client, feedsOf(topics))));
    until(client.on("ended", ({ topics }) => this.#refuse(client, topics.filter(({ topic }) => this.#topics.includes(topic)))));
    until(client.on("friends", ({ topics }) => this.#befriended(client, topics)));
    until(client.on("friends", ({ left }) => void this.#follow(client, left.filter((topic) => this.#topics.includes(topic) && !client.topics.has(topic)))));
    until(client.on("state", ({ phase }) => this.#told(phase)));
    this.#told(client.state?.phase ?? "connecting");
    void this.#follow(client, this.#topics);
    if (this.#followsFriends) void this.#followFriends(client);
  }

  /** Whether events of `topic` are shown. Of friends these are the feeds: a line in a feed tells of each change of their playlists. */
  #shows(topic: string): boolean {
    return this.#topics.includes(topic) || (this.#followsFriends && topic.startsWith(FEEDS));
  }

  protected override draw(): void {
    const { words } = this;
    say(this.#title, words.friends);
    say(this.#phase, words.phases[this.getAttribute("phase") ?? "connecting"] ?? ""); // read aloud when it changes
    say(this.#empty, words.quiet);
    this.#empty.hidden = this.#shown.length > 0;
    const hadAny = this.#list.childElementCount > 0;
    const fresh = this.#rows.show(this.#shown.map((each) => ({ ...each, words })));
    if (hadAny) for (const row of fresh) row.root.classList.add("arrived");
    this.#drawRefusals();
  }

  #drawRefusals(): void {
    const lines = [...this.#refused.values()].map(({ topic, code, reason }) => {
      const name = topic.startsWith(FEEDS) ? topic.slice(FEEDS.length).replace(/\/$/, "") : topic;
      return code === "forbidden" ? this.words.notAllowed(name) : `${this.words.notFollowed(name)} (${reason})`;
    });
    if (lines.join("\n") === [...this.#refusals.children].map(({ textContent }) => textContent).join("\n")) return;
    this.#refusals.replaceChildren(...lines.map((line) => element("p", "", line)));
  }

  /** Shows that these are not followed, and why. Feeds among them are heard as soon as they are those of friends: so who is one is followed. */
  #refuse(client: Client, topics: readonly RejectedTopic[]): void {
    for (const each of topics) this.#refused.set(each.topic, each);
    this.changed();
    if (!this.#followsFriends && feedsOf(topics.map(({ topic }) => topic)).length) void this.#followFriends(client);
  }

  /** Shows what of `topics`, which are followed now because they are of friends, belongs here. */
  #befriended(client: Client, topics: Iterable<string>): void {
    const feeds = feedsOf(topics).filter((topic) => this.#shows(topic));
    for (const topic of feeds) this.#refused.delete(topic);
    this.changed();
    void this.#last(client, feeds);
  }

  /** Follows `topics`, which are named here. Those of who is a friend no longer are among them: whether they may be heard all the same is said. */
  async #follow(client: Client, topics: readonly string[]): Promise<void> {
    if (!topics.length) return;
    try {
      const { rejected } = await client.subscribe(topics);
      if (this.client !== client) return;
      this.#refuse(client, rejected);
      if (rejected.length) this.tell("segue-error", refusal(rejected[0]!.code, rejected[0]!.reason));
      void this.#last(client, feedsOf(topics).filter((topic) => !this.#refused.has(topic)));
    } catch (error) {
      this.#failed(client, topics, error);
    }
  }

  #failed(client: Client, topics: readonly string[], error: unknown): void {
    if (error instanceof Refused && this.client === client) this.#refuse(client, topics.map((topic) => ({ topic, code: error.code.name, reason: error.reason })));
    this.tell("segue-error", error);
  }

  /** Follows whoever is a friend, and begins with the last thing that each of them did. Where nobody can say who is one, that is shown if all are wanted. */
  async #followFriends(client: Client): Promise<void> {
    try {
      await client.follow("friends");
      if (this.client === client) this.#befriended(client, client.topics);
    } catch (error) {
      if (this.#followsFriends) this.#failed(client, [this.words.allFriends], error);
    }
  }

  /** Shows what friends did before, or while something was missed. Where that cannot be had, what they do is shown all the same. */
  async #last(client: Client, friends: readonly string[]): Promise<void> {
    if (!friends.length) return;
    try {
      const events = await client.last(friends);
      if (this.client === client) for (const event of [...events].sort((one, other) => one.tsMs - other.tsMs)) this.#add({ ...event, gap: 0 });
    } catch (error) {
      this.tell("segue-error", error);
    }
  }

  #told(phase: string): void {
    this.setAttribute("phase", phase);
    this.changed();
  }

  #add(event: (PastEvent | SegueEvent) & { readonly gap: number | null }): void {
    if (this.#shown.some((each) => "event" in each && each.event.id === event.id && each.event.topic === event.topic)) return;
    this.#refused.delete(event.topic); // it is followed after all
    const key = `${event.topic} ${event.id}`;
    const missed: Told[] = event.gap === 0 ? [] : [{ key: `before ${key}`, missed: event.gap }];
    this.#shown = [{ key, event }, ...missed, ...this.#shown].slice(0, SHOWN);
    this.changed();
  }
}

function feedsOf(topics: Iterable<string>): string[] {
  return [...topics].filter((topic) => topic.startsWith(FEEDS));
}

function listed(text: string | null): string[] {
  return (text ?? "").split(/[\s,]+/).filter(Boolean);
}

customElements.define("segue-feed", SegueFeed);
