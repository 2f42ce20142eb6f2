/** The inbox: every notification and why it came, the mails, and the pushes of this browser. */
import type { SegueNotification } from "segue";
import type { EventExplanation } from "segue/api";
import type { View } from "./app.js";
import { ago, avatar, cover, h, icon, iconButton, keyed, type IconName } from "./parts.js";
import type { PushSetup } from "./pushes.js";
import { inWords, type Session } from "./session.js";
import type { Mail } from "./station.js";
import { say } from "./toast.js";

const NEWS: Readonly<Record<string, string>> = {
  "new-album": "New album",
  "new-track": "New track",
  "artist-playlist": "New playlist",
  "friend-joined": "Has joined",
  "new-follower": "Follows you now",
  playlist: "A playlist changed",
};

const FOLDERS = [
  { label: "Inbox", selection: { archived: false }, empty: "Nothing here. Follow an artist, and have them release an album." },
  { label: "Unread", selection: { archived: false, unread: true }, empty: "All is read." },
  { label: "Archive", selection: { archived: true }, empty: "Nothing is archived." },
] as const;

export function inboxView(session: Session): View {
  const away = h("button", { type: "button", className: "pill" }, icon("away"), "Step away");
  away.addEventListener("click", () => session.leave());
  session.show(away, ["away"], () => (away.disabled = session.isAway));
  const note = h("p", { className: "faint" }, "While you are here the bell tells you. Mails and pushes come when you are away: step away, and have an artist release an album.");
  const top = h("section", { className: "card pad bar" }, note, away);
  return { title: "Inbox", body: h("div", { className: "stack" }, top, notificationsCard(session), mailCard(session), pushCard(session)) };
}

function notificationsCard(session: Session): HTMLElement {
  const list = h("ol", { className: "rows notifications", role: "list" });
  const empty = h("p", { className: "empty" });
  const older = h("button", { type: "button", className: "pill" }, "Older ones");
  const more = h("div", { className: "more" }, older);
  let chosen: (typeof FOLDERS)[number] = FOLDERS[0];
  const draw = (): void => {
    const items = session.inbox.select(chosen.selection);
    empty.hidden = items.length > 0;
    empty.textContent = chosen.empty;
    more.hidden = !session.inbox.hasMore(chosen.selection);
    keyed(list, items, { key: ({ mark, id }) => `${mark} ${id}`, make: (item) => notificationRow(session, item), update: (row, item) => stand(session, row, item) });
    for (const [at, folder] of folders.entries()) folder.setAttribute("aria-pressed", String(FOLDERS[at] === chosen));
  };
  const folders = FOLDERS.map((folder) => {
    const button = h("button", { type: "button", className: "pill" }, folder.label);
    button.addEventListener("click", () => {
      chosen = folder;
      draw();
      if (folder.selection.archived && !list.children.length && session.inbox.hasMore(folder.selection)) told(session.inbox.more(folder.selection));
    });
    return button;
  });
  older.addEventListener("click", () => told(session.inbox.more(chosen.selection)));
  session.show(list, ["notifications", "away"], draw);
  const head = h("div", { className: "pad bar" }, h("span", { className: "folders", role: "group", "aria-label": "Which notifications" }, ...folders));
  return h("section", { className: "card" }, h("h2", {}, "Notifications"), head, list, empty, more);
}

function told(doing: Promise<unknown>): void {
  void doing.catch((error: unknown) => say(inWords(error)));
}

/** Shows how an item stands now, and offers what can be done with it. */
function stand(session: Session, row: HTMLElement, item: SegueNotification): void {
  const now = `${item.read} ${item.archived}`;
  if (row.dataset["stand"] === now) return;
  row.dataset["stand"] = now;
  row.classList.toggle("unread", !item.read && !item.archived);
  const { inbox } = session;
  const tool = (name: IconName, label: string, act: () => Promise<unknown>): HTMLElement => iconButton(name, label, { onclick: () => told(act()) });
  const tools = [
    !item.archived && (item.read ? tool("unread", "Mark as unread", () => inbox.markUnread(item.mark)) : tool("read", "Mark as read", () => inbox.markRead(item.mark))),
    item.archived ? tool("inbox", "Take out of the archive", () => inbox.unarchive(item.mark)) : tool("archive", "Archive", () => inbox.archive(item.mark)),
    tool("remove", "Delete", () => inbox.delete(item.mark)),
  ];
  row.querySelector(".actions")!.replaceChildren(...tools.filter((each) => each !== false));
}

function notificationRow(session: Session, item: SegueNotification): HTMLElement {
  const text = (name: string): string => (typeof item.payload[name] === "string" ? item.payload[name] : "");
  const person = item.class === "new-follower" || item.class === "friend-joined" ? text("user") : "";
  const name = person ? h("a", { href: `#user/${encodeURIComponent(person)}` }, person) : text("title") || text("name") || NEWS[item.class] || item.kind;
  const by = text("title") ? text("name") : text("by");
  const why = h("details", { className: "why" }, h("summary", {}, "Why did I get this?"));
  why.addEventListener("toggle", () => {
    if (!why.open || why.children.length > 1) return;
    void session.api.settings.why(item.id).then(
      (found) => why.append(explained(found)),
      (error: unknown) => why.append(h("p", {}, inWords(error))),
    );
  });
  const words = h("span", { className: "words" }, h("strong", { className: "line" }, name), h("span", { className: "faint line" }, [NEWS[item.class] ?? item.kind, by].filter(Boolean).join(" · ")), why);
  return h("li", { className: "row top wrap" }, person ? avatar(person) : cover(by || String(name)), words, h("time", { className: "faint", dateTime: new Date(item.tsMs).toISOString() }, ago(item.tsMs)), h("span", { className: "actions" }));
}

/** Returns the rules that decided, what they chose, and what became of it. */
function explained({ types, reasons, sent }: EventExplanation): HTMLElement {
  const rows: readonly (readonly [string, string])[] = [
    ["Ways", types.join(", ") || "none"],
    ["Rules", reasons.join(", ")],
    ...sent.map(({ channel, state, reason }) => [channel, [state, reason].filter(Boolean).join(": ")] as const),
  ];
  return h("dl", {}, ...rows.flatMap(([term, said]) => [h("dt", {}, term), h("dd", {}, said)]));
}

function mailCard(session: Session): HTMLElement {
  const list = h("ol", { className: "rows mails", role: "list" });
  const state = h("p", { className: "faint" });
  const take = h("button", { type: "button", className: "pill" });
  const address = `${session.user}@radio.example`;
  const show = (email: string | null): void => {
    state.textContent = email ? `Mails go to ${email}.` : "No mails: Segue does not know your address.";
    take.textContent = `Send mails to ${address}`;
    take.hidden = email !== null;
  };
  take.addEventListener("click", () => {
    const { settings } = session.api;
    const done = settings.preferences().then(async (held) => await settings.setPreferences({ ...held, email: address }));
    void done.then(({ email }) => show(email), (error: unknown) => say(inWords(error)));
  });
  take.hidden = true;
  void session.api.settings.preferences().then(({ email }) => show(email), (error: unknown) => say(inWords(error)));
  session.show(list, ["mails"], () => keyed(list, session.mails, { key: ({ id }) => String(id), make: mailRow }));
  return h("section", { className: "card" }, h("h2", {}, "Mailbox"), h("div", { className: "pad bar" }, state, take), list);
}

function mailRow({ subject, from, to, text, ts_ms }: Mail): HTMLElement {
  const head = h("summary", {}, h("strong", {}, subject), h("span", { className: "faint" }, ago(ts_ms)));
  return h("li", { className: "row" }, h("details", { className: "mail" }, head, h("p", { className: "faint" }, `From ${from} to ${to}`), h("pre", {}, text)));
}

function pushCard(session: Session): HTMLElement {
  const list = h("ol", { className: "rows", role: "list" });
  const state = h("p", { className: "faint", role: "status" });
  const enable = h("button", { type: "button", className: "pill enable" }, "Take pushes here");
  enable.addEventListener("click", () => {
    enable.disabled = true;
    void session.takePushes().catch((error: unknown) => say(inWords(error))).finally(() => (enable.disabled = false));
  });
  session.show(list, ["pushes"], () => {
    state.textContent = saidOf(session.pushSetup);
    enable.hidden = session.pushSetup !== undefined;
    keyed(list, session.pushes, { key: ({ id }) => id, make: pushRow });
  });
  return h("section", { className: "card" }, h("h2", {}, "Pushes"), h("div", { className: "pad bar" }, state, enable), list);
}

function saidOf(setup: PushSetup | undefined): string {
  if (!setup) return "This browser takes no pushes yet.";
  if (setup.way === "vendor") return "Pushes come by the push service of this browser, also while the page is closed.";
  return `The radio's own push service takes pushes for this browser (${setup.reason}). They are encrypted and signed like any others; this page shows them while it is open.`;
}

function pushRow({ title, body, isShown }: Session["pushes"][number]): HTMLElement {
  const where = isShown ? "Shown by the service worker" : "Shown here only: this browser lets the page show no notifications";
  const words = h("span", { className: "words" }, h("strong", { className: "line" }, title), h("span", { className: "line" }, body), h("span", { className: "faint line" }, where));
  return h("li", { className: "row" }, cover(title), words);
}
