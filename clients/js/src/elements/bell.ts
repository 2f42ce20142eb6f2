/** `<segue-bell url="ws://…" token="…">`: the user's notifications, and how many are unread. */
import type { Client } from "../client.js";
import type { SegueNotification } from "../notifications.js";
import { ClientElement } from "./client_element.js";
import { element, STYLE, styled } from "./parts.js";
import { ago, lineOfNotification } from "./words.js";

const SHOWN = 20;
const MANY = 99;
/** Pixels: how wide the panel is where there is room, and how far it stays from the edges of the page. */
const WIDTH = 380;
const EDGE = 8;
const BELL = "M12 2a6 6 0 0 0-6 6v4.6L4.3 16a1 1 0 0 0 .9 1.5h13.6a1 1 0 0 0 .9-1.5L18 12.6V8a6 6 0 0 0-6-6Zm-2.4 17a2.5 2.5 0 0 0 4.8 0Z";

const BELL_STYLE = `${STYLE}
  :host { display: inline-block; position: relative; }
  button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; }
  #bell { position: relative; display: grid; place-items: center; width: 44px; height: 44px; border-radius: 50%; }
  #bell:hover { background: var(--_line); }
  svg { width: 24px; height: 24px; fill: currentColor; }
  #badge { position: absolute; inset-block-start: 2px; inset-inline-end: 0; min-width: 20px; padding: 0 5px; border-radius: 10px; text-align: center;
    background: var(--_accent); color: var(--_on-accent); font-size: 12px; font-weight: 700; line-height: 20px; }
  #badge:empty { display: none; }
  #panel { position: fixed; inset: auto; margin: 0; padding: 0; max-height: min(520px, 80vh); overflow: auto; border-radius: 14px;
    border: 1px solid var(--_line); background: var(--_surface); color: var(--_text); box-shadow: 0 12px 36px rgb(0 0 0 / 25%); }
  h2 { font-size: 1.05em; margin: 0; padding: 14px 16px; border-block-end: 1px solid var(--_line); }
  li { padding: 0; }
  li button { display: flex; gap: 12px; align-items: baseline; width: 100%; padding: 10px 16px; text-align: start; }
  li button:hover { background: var(--_line); }
  li button:focus-visible { outline-offset: -2px; }
  .dot { flex: none; width: 8px; height: 8px; border-radius: 50%; align-self: center; }
  .unread .dot { background: var(--_accent); }
`;

/**
 * A bell. It tells the page of a notification that is chosen as the event `segue-open`, with the notification as its `detail`. What was unread
 * when it was opened stays marked until it is closed.
 */
export class SegueBell extends ClientElement {
  static readonly observedAttributes = ["url", "token"];
  #items: SegueNotification[] = [];
  #readShown = 0;
  #button = element("button");
  #badge = element("span");
  #label = element("span", "hidden");
  #status = element("span", "hidden");
  #panel = element("div");
  #title = element("h2");
  #list = element("ol");
  #empty = element("p", "empty");

  constructor() {
    super();
    this.#button.id = "bell";
    this.#badge.id = "badge";
    this.#badge.ariaHidden = "true";
    this.#panel.id = "panel";
    this.#panel.popover = "auto";
    this.#panel.role = "dialog";
    this.#panel.setAttribute("aria-labelledby", "title");
    this.#title.id = "title";
    this.#list.setAttribute("role", "list");
    this.#status.role = "status";
    this.#button.append(icon(), this.#badge, this.#label);
    this.#button.ariaExpanded = "false";
    this.#button.ariaHasPopup = "dialog";
    this.#button.popoverTargetElement = this.#panel;
    this.#panel.append(this.#title, this.#list, this.#empty);
    styled(this.root, BELL_STYLE);
    this.root.append(this.#button, this.#status, this.#panel);
    this.#panel.addEventListener("beforetoggle", (event) => this.#toggling((event as ToggleEvent).newState === "open"));
    this.#panel.addEventListener("toggle", (event) => this.#toggled((event as ToggleEvent).newState === "open"));
    this.#panel.addEventListener("keydown", (event) => this.#move(event));
  }

  /** The notifications that it shows, newest first. */
  get items(): readonly SegueNotification[] {
    return this.#items;
  }

  protected override listen(client: Client, until: (stop: () => void) => void): void {
    this.#items = [];
    until(client.on("notification", (item) => this.#add([item])));
    until(client.on("marks", () => this.changed()));
    until(client.on("state", ({ phase }) => phase === "connected" && this.#fill(client)));
    if (client.state?.phase === "connected") this.#fill(client);
  }

  protected override draw(): void {
    const { words } = this;
    const unread = this.client?.unread ?? 0;
    this.#badge.textContent = unread > MANY ? `${MANY}+` : unread ? String(unread) : "";
    const label = unread ? `${words.notifications}, ${words.unread(unread)}` : words.notifications;
    if (this.#label.textContent !== label) this.#label.textContent = this.#status.textContent = label; // read aloud only when it changes
    this.#title.textContent = words.notifications;
    this.#empty.textContent = words.empty;
    this.#empty.hidden = this.#items.length > 0;
    const isOpen = this.#panel.matches(":popover-open");
    const read = isOpen ? this.#readShown : (this.client?.readMark ?? 0);
    const focused = this.root.activeElement?.getAttribute("data-id");
    this.#list.replaceChildren(...this.#items.map((item) => this.#row(item, item.mark > read)));
    if (focused) this.#list.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Shows the newest ones, which this device may have seen before. */
  #fill(client: Client): void {
    client.recent(SHOWN).then((items) => this.client === client && this.#add(items), () => undefined); // a later one fills it, too
  }

  #add(items: readonly SegueNotification[]): void {
    const fresh = items.filter(({ rings, id }) => rings && !this.#items.some((each) => each.id === id));
    this.#items = [...this.#items, ...fresh].sort((one, other) => other.mark - one.mark).slice(0, SHOWN);
    this.changed();
  }

  #row(item: SegueNotification, isUnread: boolean): HTMLLIElement {
    const { who, verb, what } = lineOfNotification(item, this.words);
    const said = element("span", "what", element("span", "who", who), ` ${verb}`, what && element("span", "about", what));
    const time = element("time", "", ago(Date.now() - item.tsMs, this.words.language));
    time.dateTime = new Date(item.tsMs).toISOString();
    const button = element("button", "", element("span", "dot"), said, time, isUnread ? element("span", "hidden", this.words.isNew) : "");
    button.dataset["id"] = item.id;
    button.addEventListener("click", () => this.tell("segue-open", item));
    return element("li", isUnread ? "unread" : "", button);
  }

  #toggling(isOpen: boolean): void {
    if (!isOpen) return;
    this.#readShown = this.client?.readMark ?? 0; // what was unread stays marked while it is looked at
    const { bottom, right, left } = this.#button.getBoundingClientRect();
    const pageWidth = document.documentElement.clientWidth;
    const width = Math.min(WIDTH, pageWidth - 2 * EDGE);
    const from = getComputedStyle(this).direction === "rtl" ? left : right - width;
    this.#panel.style.top = `${bottom + 6}px`;
    this.#panel.style.left = `${Math.max(EDGE, Math.min(from, pageWidth - width - EDGE))}px`;
    this.#panel.style.width = `${width}px`;
  }

  #toggled(isOpen: boolean): void {
    this.#button.ariaExpanded = String(isOpen);
    this.changed();
    if (isOpen && this.client?.unread) this.client.read().catch(() => undefined); // it stays unread, and shows so
  }

  /** Up and down, first and last: as in any list. */
  #move(event: KeyboardEvent): void {
    const rows = [...this.#list.querySelectorAll<HTMLElement>("button")];
    const now = rows.indexOf(this.root.activeElement as HTMLElement);
    const next = { ArrowDown: now + 1, ArrowUp: now < 0 ? rows.length - 1 : now - 1, Home: 0, End: rows.length - 1 }[event.key];
    const row = next === undefined ? undefined : rows[Math.min(Math.max(next, 0), rows.length - 1)];
    if (!row) return;
    event.preventDefault();
    row.focus();
  }
}

function icon(): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", BELL);
  svg.append(path);
  return svg;
}

customElements.define("segue-bell", SegueBell);
