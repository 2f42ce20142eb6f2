/** A row of `<segue-feed>`: an event, or that something may be missing. */
import type { PastEvent, SegueEvent } from "../messages.js";
import type { KeyedRow } from "./keyed_list.js";
import { element, say } from "./parts.js";
import { ago, lineOfEvent, type Words } from "./words.js";

/** What a row shows. How many events are `missed` is null where nobody can count them. */
export type Shown = { readonly key: string; readonly words: Words } & ({ readonly event: PastEvent | SegueEvent } | { readonly missed: number | null });

export class FeedRow implements KeyedRow<Shown> {
  readonly root = element("li");
  #avatar = element("span", "avatar");
  #who = element("span", "who");
  #verb = document.createTextNode("");
  #about = element("span", "about");
  #time = element("time");

  constructor(shown: Shown) {
    if ("missed" in shown) {
      this.root.className = "note";
      return;
    }
    this.#avatar.ariaHidden = "true";
    this.root.append(this.#avatar, element("span", "what", this.#who, this.#verb, this.#about), this.#time);
  }

  show(shown: Shown): void {
    if ("missed" in shown) return say(this.root, shown.words.missed(shown.missed));
    const { event, words } = shown;
    const { who, verb, what } = lineOfEvent(event, words);
    say(this.#avatar, [...who][0] ?? "?");
    say(this.#who, who);
    say(this.#verb, ` ${verb}`);
    say(this.#about, what);
    say(this.#time, ago(Date.now() - event.tsMs, words.language));
    this.#time.dateTime = new Date(event.tsMs).toISOString();
    this.#time.title = new Date(event.tsMs).toLocaleString(words.language);
  }
}
