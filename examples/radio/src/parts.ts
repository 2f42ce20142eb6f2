/** What pages are made of: elements, icons, avatars, and lists that keep the rows that stay. */

export type Child = Node | string | false | null | undefined;
type Props = Readonly<Record<string, unknown>>;

/** Returns a new element. Names with "-" and `role` are attributes, all others properties. */
export function h<Name extends keyof HTMLElementTagNameMap>(name: Name, props: Props = {}, ...children: readonly Child[]): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key.includes("-") || key === "role") made.setAttribute(key, String(value));
    else Object.assign(made, { [key]: value });
  }
  made.append(...children.filter((child): child is Node | string => child !== false && child !== null && child !== undefined && child !== ""));
  return made;
}

const SHAPES = {
  add: "M12 5v14M5 12h14",
  archive: "M4 5h16v4H4ZM5.500 9v10h13V9M10 13h4",
  artists: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3ZM6 11a6 6 0 0 0 12 0M12 17v4",
  away: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  friends: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM2.500 20a6.500 6.500 0 0 1 13 0M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14a6.500 6.500 0 0 1 3.500 6",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  heart: "M12 20s-7.500-4.600-7.500-10A4.300 4.300 0 0 1 12 7.400 4.300 4.300 0 0 1 19.500 10c0 5.400-7.500 10-7.500 10Z",
  home: "M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1Z",
  inbox: "M4 13l2.500-8h11L20 13v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1ZM4 13h4.500a3.500 3.500 0 0 0 7 0H20",
  mask: "M3 9c3-1.500 6-1.500 9 0 3-1.500 6-1.500 9 0 0 5-2 8-4.500 8-2 0-3-2-4.500-2s-2.500 2-4.500 2C5 17 3 14 3 9ZM7 11.500h2M15 11.500h2",
  next: "M6 5l9 7-9 7ZM18 5v14",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.500l12 7.500-12 7.500Z",
  playlists: "M4 6h12M4 11h12M4 16h7M17 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM19 17V9l2.500 1",
  read: "M5 12.500l4.500 4.500L19 7.500",
  release: "M12 3l2.500 5.500 6 .7-4.500 4.100 1.200 6L12 16.400 6.800 19.300l1.200-6L3.500 9.200l6-.7Z",
  remove: "M6 6l12 12M18 6L6 18",
  settings: "M4 7h9M17 7h3M15 5v4M4 12h3M11 12h9M9 10v4M4 17h9M17 17h3M15 15v4",
  unread: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z",
} as const;

export type IconName = keyof typeof SHAPES;

/** Returns a drawing that says nothing to a reader: what holds it has words. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon icon-${name}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

/** Returns a button that shows an icon, and says `label` to a reader and on hover. */
export function iconButton(name: IconName, label: string, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", className: "icon-button", "aria-label": label, title: label, ...props }, icon(name));
}

/** Returns a disc with the last two letters of `user`, always of the same colour. */
export function avatar(user: string, className = ""): HTMLSpanElement {
  return coloured(h("span", { className: `avatar ${className}`, "aria-hidden": "true" }, user.slice(-2)), user);
}

/** Returns a cover, as there are none in the data: colours that `name` always has. */
export function cover(name: string): HTMLSpanElement {
  return coloured(h("span", { className: "cover", "aria-hidden": "true" }, [...name.replace(/^the /i, "")][0] ?? ""), name);
}

function coloured<Shown extends HTMLElement>(shown: Shown, name: string): Shown {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 3_600;
  shown.style.setProperty("--hue", String(hash / 10));
  return shown;
}

/** Shows `items` as children of `list`. A row whose key was there before stays, so that focus stays in it; `update` fills it. */
export function keyed<Item>(
  list: HTMLElement,
  items: readonly Item[],
  { key, make, update }: { readonly key: (item: Item) => string; readonly make: (item: Item) => HTMLElement; readonly update?: (row: HTMLElement, item: Item, at: number) => void },
): void {
  const held = new Map([...list.children].map((row) => [(row as HTMLElement).dataset["key"] ?? "", row as HTMLElement]));
  const rows = items.map((item, at) => {
    const row = held.get(key(item)) ?? make(item);
    row.dataset["key"] = key(item);
    update?.(row, item, at);
    return row;
  });
  for (const row of held.values()) if (!rows.includes(row)) row.remove();
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
}

/** Returns how long ago something was, in the words of the page's language. */
export function ago(tsMs: number, nowMs: number = Date.now()): string {
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { style: "narrow", numeric: "auto" });
  const minutes = Math.max(0, Math.floor((nowMs - tsMs) / 60_000));
  if (minutes < 1) return format.format(-0, "second");
  return minutes < 60 ? format.format(-minutes, "minute") : format.format(-Math.floor(minutes / 60), "hour");
}
