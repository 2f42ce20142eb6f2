/** What of the notifications `<segue-bell>` shows: a tab, a class, words. */
import { element, say } from "./parts.js";
import type { Words } from "./words.js";

export const TABS = ["all", "unread", "archived"] as const;
export type Tab = (typeof TABS)[number];

/** The tabs, the field of words and the list of classes. `changed` is called when something else is wanted. */
export class BellFinder {
  readonly tabs = element("div");
  readonly find = element("div");
  tab: Tab = "all";
  #buttons = TABS.map((tab) => this.#button(tab));
  #search = element("input");
  #class = element("select");

  constructor(private readonly changed: () => void) {
    this.tabs.id = "tabs";
    this.tabs.role = "tablist";
    this.tabs.append(...this.#buttons);
    this.tabs.addEventListener("keydown", (event) => this.#move(event));
    this.find.id = "find";
    this.#search.type = "search";
    this.#search.id = "search";
    this.#class.id = "class";
    this.#search.addEventListener("input", changed);
    this.#class.addEventListener("change", changed);
    this.find.append(this.#search, this.#class);
    this.#choose("all");
  }

  /** The button of the tab that is chosen. */
  get chosen(): HTMLButtonElement {
    return this.#buttons[TABS.indexOf(this.tab)]!;
  }

  /** The words that are looked for. */
  get text(): string {
    return this.#search.value;
  }

  /** The class that is wanted; undefined: all. */
  get class(): string | undefined {
    return this.#class.value || undefined;
  }

  /** Whether all of a tab is wanted. */
  get isWide(): boolean {
    return !this.text.trim() && this.class === undefined;
  }

  /** Shows itself in these words. `classes` are those of what is loaded. */
  draw(words: Words, classes: readonly string[]): void {
    this.tabs.ariaLabel = words.whichShown;
    for (const [place, button] of this.#buttons.entries()) say(button, words.tabs[TABS[place]!]);
    if (this.#search.placeholder !== words.search) this.#search.ariaLabel = this.#search.placeholder = words.search;
    this.find.hidden = !classes.length && this.isWide;
    this.#class.hidden = classes.length < 2 && this.class === undefined;
    const options = [["", words.allClasses], ...classes.map((name) => [name, words.classes[name] ?? name])] as [string, string][];
    const shown = JSON.stringify(options);
    if (this.#class.dataset["shown"] === shown) return; // one that is open stays
    const chosen = this.#class.value;
    this.#class.dataset["shown"] = shown;
    this.#class.ariaLabel = words.whichClass;
    this.#class.replaceChildren(...options.map(([value, label]) => new Option(label, value, false, value === chosen)));
  }

  #button(tab: Tab): HTMLButtonElement {
    const button = element("button");
    button.id = `tab-${tab}`;
    button.role = "tab";
    button.setAttribute("aria-controls", "scroll");
    button.addEventListener("click", () => {
      this.#choose(tab);
      this.changed();
    });
    return button;
  }

  #choose(tab: Tab): void {
    this.tab = tab;
    for (const [place, button] of this.#buttons.entries()) {
      const isChosen = TABS[place] === tab;
      button.ariaSelected = String(isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    }
  }

  #move(event: KeyboardEvent): void {
    const forward = getComputedStyle(this.tabs).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const step = event.key === forward ? 1 : event.key.startsWith("Arrow") && /Left|Right/.test(event.key) ? TABS.length - 1 : 0;
    const place = { Home: 0, End: TABS.length - 1 }[event.key] ?? (step ? (TABS.indexOf(this.tab) + step) % TABS.length : -1);
    const button = this.#buttons[place];
    if (!button) return;
    event.preventDefault();
    button.focus();
    button.click();
  }
}
