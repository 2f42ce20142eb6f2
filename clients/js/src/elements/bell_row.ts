/** A row of `<segue-bell>`: one notification, and the button of its menu. */
import type { SegueNotification } from "../notifications.js";
import { icon } from "./icons.js";
import type { KeyedRow } from "./keyed_list.js";
import { element, say } from "./parts.js";
import { ago, lineOfNotification, type Words } from "./words.js";

/** A notification as the bell shows it now: `isNew` where it is unread, or was so when the bell was opened. */
export interface BellItem {
  readonly item: SegueNotification;
  readonly isNew: boolean;
  readonly words: Words;
}

/** What a row tells the bell. */
export interface BellRowEars {
  readonly chosen: (item: SegueNotification) => void;
  readonly menu: (row: BellRow) => void;
}

export class BellRow implements KeyedRow<BellItem> {
  readonly root = element("li");
  readonly row = element("button", "row");
  readonly more = element("button", "more", icon("more"));
  #avatar = element("span", "avatar");
  #who = element("span", "who");
  #verb = document.createTextNode("");
  #about = element("span", "about");
  #time = element("time");
  #isNew = element("span", "hidden");

  constructor(public shown: BellItem, ears: BellRowEars) {
    this.#avatar.ariaHidden = "true";
    this.more.ariaHasPopup = "menu";
    this.more.ariaExpanded = "false";
    const said = element("span", "what", this.#who, this.#verb, this.#about);
    this.row.append(this.#avatar, said, this.#time, this.#isNew);
    this.root.append(this.row, this.more);
    this.row.addEventListener("click", () => ears.chosen(this.shown.item));
    this.more.addEventListener("click", () => ears.menu(this));
  }

  show(shown: BellItem): void {
    this.shown = shown;
    const { item, isNew, words } = shown;
    const { who, verb, what } = lineOfNotification(item, words);
    say(this.#avatar, [...who][0] ?? "?");
    say(this.#who, who);
    say(this.#verb, ` ${verb}`);
    say(this.#about, what);
    say(this.#time, ago(Date.now() - item.tsMs, words.language));
    this.#time.dateTime = new Date(item.tsMs).toISOString();
    this.#time.title = new Date(item.tsMs).toLocaleString(words.language);
    say(this.#isNew, isNew ? words.isNew : "");
    this.more.ariaLabel = words.actionsFor([who, verb, what].filter(Boolean).join(" "));
    this.root.classList.toggle("unread", isNew);
  }
}
