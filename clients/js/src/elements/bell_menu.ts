/** The menu of one notification in `<segue-bell>`. */
import type { Action, SegueNotification } from "../notifications.js";
import type { BellRow } from "./bell_row.js";
import { icon } from "./icons.js";
import { element } from "./parts.js";

/** Pixels: how far the menu stays from the edges of the page. */
const EDGE = 8;

/** Returns what may be done with a notification that is shown as read, or not. */
export function actionsOf({ archived }: SegueNotification, isNew: boolean): readonly Action[] {
  return [isNew ? "read" : "unread", archived ? "unarchive" : "archive", "delete"];
}

/**
 * A menu with the keys of one: up and down, Home and End, a letter. Escape and Tab close it, and whoever opened it gets the focus back.
 */
export class BellMenu {
  readonly root = element("div");
  #row: BellRow | undefined;

  constructor(private readonly chosen: (action: Action, item: SegueNotification) => void) {
    this.root.id = "menu";
    this.root.role = "menu";
    this.root.popover = "auto";
    this.root.addEventListener("keydown", (event) => this.#press(event));
    this.root.addEventListener("toggle", (event) => (event as ToggleEvent).newState === "closed" && this.#closed());
  }

  /** The row whose menu is open. */
  get row(): BellRow | undefined {
    return this.#row;
  }

  /** Opens it beside the button of a row, or closes it where it is open there. */
  toggle(row: BellRow): void {
    const isOpenThere = this.#row === row;
    this.close();
    if (!isOpenThere) this.#open(row);
  }

  /** Closes it. The button of its row has the focus then, if the menu had it. */
  close(): void {
    if (this.root.matches(":popover-open")) this.root.hidePopover();
    this.#closed();
  }

  #open(row: BellRow): void {
    this.#row = row;
    const { item, isNew, words } = row.shown;
    const entries = actionsOf(item, isNew).map((action) => {
      const entry = element("button", "", icon(action), words.actions[action]);
      entry.role = "menuitem";
      entry.tabIndex = -1;
      entry.dataset["action"] = action;
      entry.addEventListener("click", () => this.#choose(action));
      return entry;
    });
    this.root.replaceChildren(...entries);
    this.root.ariaLabel = row.more.ariaLabel;
    row.more.ariaExpanded = "true";
    this.root.showPopover();
    this.#place(row.more.getBoundingClientRect());
    entries[0]!.focus();
  }

  /** Puts it below the button, or above where there is no room, with its end at the end of the button. */
  #place(button: DOMRect): void {
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const { clientWidth, clientHeight } = document.documentElement;
    const left = getComputedStyle(this.root).direction === "rtl" ? button.left : button.right - width;
    const top = button.bottom + height + EDGE > clientHeight ? button.top - height : button.bottom;
    this.root.style.left = `${Math.max(EDGE, Math.min(left, clientWidth - width - EDGE))}px`;
    this.root.style.top = `${Math.max(EDGE, top)}px`;
  }

  #choose(action: Action): void {
    const { item } = this.#row!.shown;
    this.close(); // first: the row may go, and hands on the focus that it has then
    this.chosen(action, item);
  }

  #closed(): void {
    const row = this.#row;
    if (!row || this.root.matches(":popover-open")) return;
    this.#row = undefined;
    row.more.ariaExpanded = "false";
    const { activeElement } = this.root.getRootNode() as ShadowRoot;
    if (!activeElement || this.root.contains(activeElement)) row.more.focus();
  }

  #press(event: KeyboardEvent): void {
    if (event.key === "Tab") {
      event.preventDefault();
      return this.close();
    }
    const entries = [...this.root.children] as HTMLElement[];
    const now = entries.indexOf((this.root.getRootNode() as ShadowRoot).activeElement as HTMLElement);
    const byLetter = entries.findIndex(({ textContent }) => event.key.length === 1 && textContent?.toLowerCase().startsWith(event.key.toLowerCase()));
    const found = { ArrowDown: now + 1, ArrowUp: now - 1 + entries.length, Home: 0, End: entries.length - 1 }[event.key] ?? byLetter;
    if (found < 0) return;
    event.preventDefault();
    event.stopPropagation();
    entries[found % entries.length]!.focus();
  }
}
