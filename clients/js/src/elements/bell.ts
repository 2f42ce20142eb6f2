/** `<segue-bell url="ws://…" token="…">`: the user's notifications, and how many are unread. */
import type { Client } from "../client.js";
import type { SegueNotification } from "../notifications.js";
import { BellFinder } from "./bell_finder.js";
import { BellInbox } from "./bell_inbox.js";
import { BellMenu } from "./bell_menu.js";
import { BellRow, type BellItem } from "./bell_row.js";
import { BellState } from "./bell_state.js";
import { BELL_STYLE } from "./bell_style.js";
import { ClientElement } from "./client_element.js";
import { icon } from "./icons.js";
import { KeyedList } from "./keyed_list.js";
import { element, say, styled } from "./parts.js";

const MANY = 99;
/** Pixels: how wide the panel is where there is room, and how far it stays from the edges of the page. */
const WIDTH = 420;
const EDGE = 8;

/**
 * A bell, and the inbox behind it. It tells the page of a notification that is chosen as the event `segue-open`, with the notification as its
 * `detail`. Opening it reads all, and what was unread stays marked until it is closed. With `reads="chosen"` only what is chosen is read.
 */
export class SegueBell extends ClientElement {
  static readonly observedAttributes = ["url", "token"];
  #inbox: BellInbox | undefined;
  #arrived = new Set<string>();
  #button = element("button", "", icon("bell"));
  #badge = element("span");
  #label = element("span", "hidden");
  #status = element("span", "hidden");
  #panel = element("div");
  #title = element("h2");
  #readAll = tool("read-all", "allRead");
  #archiveRead = tool("archive-read", "archive");
  #scroll = element("div");
  #list = element("ol");
  #refused = element("p");
  #finder = new BellFinder(() => this.#found());
  #menu = new BellMenu((action, item) => this.#inbox?.do(action, [item]));
  #state = new BellState({ again: () => this.#inbox?.load(), more: () => this.#more() }, this.#scroll);
  #rows = new KeyedList<BellItem, BellRow>(
    this.#list,
    keyOf,
    (shown) => new BellRow(shown, { chosen: (item) => this.#choose(item), menu: (row) => this.#menu.toggle(row) }),
    () => this.#finder.chosen,
  );

  constructor() {
    super();
    this.#button.id = "bell";
    this.#badge.id = "badge";
    this.#badge.ariaHidden = "true";
    this.#status.role = "status";
    this.#button.append(this.#badge, this.#label);
    this.#button.ariaExpanded = "false";
    this.#button.ariaHasPopup = "dialog";
    this.#button.popoverTargetElement = this.#panel;
    this.#furnish();
    styled(this.root, BELL_STYLE);
    this.root.append(this.#button, this.#status, this.#panel);
    this.#listenToPage();
  }

  /** The notifications that are loaded, newest first. */
  get items(): readonly SegueNotification[] {
    return this.#inbox?.items ?? [];
  }

  protected override listen(client: Client, until: (stop: () => void) => void): void {
    until(client.on("notification", ({ id }) => this.#isOpen && this.#arrived.add(id)));
    this.#inbox = new BellInbox(client, () => this.changed(), until);
  }

  protected override draw(): void {
    const { words } = this;
    const unread = this.client?.unread ?? 0;
    say(this.#badge, unread > MANY ? `${MANY}+` : unread ? String(unread) : "");
    const label = unread ? `${words.notifications}, ${words.unread(unread)}` : words.notifications;
    say(this.#label, label);
    say(this.#status, label); // read aloud when it changes
    say(this.#title, words.notifications);
    const shown = this.#shown();
    this.#drawTools(shown);
    this.#finder.draw(words, [...new Set(this.items.map((item) => item.class))].sort());
    this.#scroll.setAttribute("aria-labelledby", this.#finder.chosen.id);
    const open = this.#menu.row;
    // Another device has taken it away. First the menu goes: its row has the focus then, and hands it on.
    if (open && !shown.some((each) => keyOf(each) === keyOf(open.shown))) this.#menu.close();
    for (const row of this.#rows.show(shown)) row.root.classList.toggle("arrived", this.#arrived.delete(row.shown.item.id));
    this.#state.draw(words, this.client?.state?.phase, this.#inbox, this.#finder, shown.length);
    say(this.#refused, this.#inbox?.isRefused ? words.notDone : "");
  }

  get #isOpen(): boolean {
    return this.#panel.matches(":popover-open");
  }

  #furnish(): void {
    this.#panel.id = "panel";
    this.#panel.popover = "auto";
    this.#panel.role = "dialog";
    this.#panel.setAttribute("aria-labelledby", "title");
    this.#title.id = "title";
    this.#scroll.id = "scroll";
    this.#scroll.role = "tabpanel";
    this.#list.setAttribute("role", "list");
    this.#refused.id = "refused";
    this.#refused.role = "alert";
    this.#scroll.append(this.#list, ...this.#state.parts);
    const head = element("div", "head", this.#title, this.#readAll, this.#archiveRead);
    this.#panel.append(head, this.#finder.tabs, this.#finder.find, this.#scroll, this.#refused, this.#menu.root);
  }

  #listenToPage(): void {
    this.#panel.addEventListener("beforetoggle", (event) => event.target === this.#panel && this.#toggling((event as ToggleEvent).newState === "open"));
    this.#panel.addEventListener("toggle", (event) => event.target === this.#panel && this.#toggled((event as ToggleEvent).newState === "open"));
    this.#list.addEventListener("keydown", (event) => this.#move(event));
    this.#scroll.addEventListener("scroll", () => this.#menu.close());
    this.#readAll.addEventListener("click", () => isOn(this.#readAll) && this.#inbox?.readAll());
    this.#archiveRead.addEventListener("click", () => isOn(this.#archiveRead) && this.#inbox?.do("archive", this.#read(this.#shown())));
  }

  #shown(): readonly BellItem[] {
    const { words } = this;
    const { tab, text } = this.#finder;
    const found = this.#inbox?.select({ archived: tab === "archived", class: this.#finder.class, text }) ?? [];
    const shown = found.map((item) => ({ item, isNew: this.#inbox!.isNew(item), words }));
    return tab === "unread" ? shown.filter(({ isNew }) => isNew) : shown;
  }

  #read(shown: readonly BellItem[]): readonly SegueNotification[] {
    return shown.filter(({ isNew, item }) => !isNew && !item.archived).map(({ item }) => item);
  }

  #drawTools(shown: readonly BellItem[]): void {
    const { words } = this;
    const hasNew = (this.client?.unread ?? 0) > 0 || shown.some(({ isNew }) => isNew);
    for (const [button, name, on] of [[this.#readAll, words.readAll, hasNew], [this.#archiveRead, words.archiveRead, this.#read(shown).length > 0]] as const) {
      if (button.title !== name) button.title = button.ariaLabel = name;
      button.ariaDisabled = String(!on); // one that is disabled loses the focus
    }
  }

  #found(): void {
    this.#menu.close();
    this.#scroll.scrollTop = 0;
    this.changed();
  }

  #more(): void {
    this.#inbox?.more(this.#finder.tab === "archived");
  }

  #choose(item: SegueNotification): void {
    if (this.getAttribute("reads") === "chosen" && !item.read) this.#inbox?.do("read", [item]);
    this.tell("segue-open", item);
  }

  #toggling(isOpen: boolean): void {
    if (!isOpen) return;
    this.#inbox?.opened();
    this.#place();
  }

  /** Puts the panel below the bell, within the page. */
  #place = (): void => {
    const { bottom, right, left } = this.#button.getBoundingClientRect();
    const pageWidth = document.documentElement.clientWidth;
    const width = Math.min(WIDTH, pageWidth - 2 * EDGE);
    const from = getComputedStyle(this).direction === "rtl" ? left : right - width;
    this.#panel.style.top = `${bottom + 6}px`;
    this.#panel.style.left = `${Math.max(EDGE, Math.min(from, pageWidth - width - EDGE))}px`;
    this.#panel.style.width = `${width}px`;
  };

  #toggled(isOpen: boolean): void {
    this.#button.ariaExpanded = String(isOpen);
    if (isOpen) addEventListener("resize", this.#place);
    else removeEventListener("resize", this.#place);
    if (!isOpen) this.#inbox?.closed();
    this.changed();
    if (isOpen && this.client?.unread && this.getAttribute("reads") !== "chosen") this.client.read().catch(() => undefined); // it stays unread, and shows so
  }

  /** Up and down, first and last, as in any list; to the sides between a notification and its menu. */
  #move(event: KeyboardEvent): void {
    const focused = this.root.activeElement as HTMLElement | null;
    const name = focused?.className === "more" ? "more" : "row";
    const rows = [...this.#list.querySelectorAll<HTMLElement>(`.${name}`)];
    const now = rows.indexOf(focused!);
    const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: rows.length - 1 }[event.key];
    const aside = /^Arrow(Left|Right)$/.test(event.key) ? focused?.parentElement?.querySelector<HTMLElement>(name === "row" ? ".more" : ".row") : undefined;
    const row = next === undefined ? aside : rows[Math.min(Math.max(next, 0), rows.length - 1)];
    if (!row) return;
    event.preventDefault();
    row.focus();
  }
}

function keyOf({ item }: BellItem): string {
  return `${item.mark} ${item.id}`;
}

function tool(id: string, drawing: Parameters<typeof icon>[0]): HTMLButtonElement {
  const button = element("button", "tool", icon(drawing));
  button.id = id;
  return button;
}

function isOn(button: HTMLButtonElement): boolean {
  return button.ariaDisabled !== "true";
}

customElements.define("segue-bell", SegueBell);
