/** Segue Radio: a page for one user. It begins here: log in, draw the frame, show the view that the address names. */
import "segue/bell";
import "segue/preferences";
import type { SegueBell } from "segue/bell";
import { artistsView } from "./artists.js";
import { friendsPanel, friendsView, userView } from "./friends.js";
import { feedView } from "./feed.js";
import { inboxView } from "./inbox.js";
import { loginView } from "./login.js";
import { avatar, h, icon, iconButton, type IconName } from "./parts.js";
import { playerBar } from "./player.js";
import { playlistView } from "./playlist.js";
import { playlistLinks, playlistsView } from "./playlists.js";
import { Session, inWords } from "./session.js";
import { settingsView } from "./settings.js";
import { say } from "./toast.js";

const KEPT = "radio-user"; // of this tab: two tabs may be two users

export interface View {
  readonly title: string;
  readonly body: HTMLElement;
  /** Is called when another view is shown in its place. */
  readonly close?: () => void;
}

const NAVIGATION: readonly (readonly [path: string, label: string, icon: IconName])[] = [
  ["", "Home", "home"],
  ["friends", "Friends", "friends"],
  ["playlists", "Playlists", "playlists"],
  ["artists", "Artists", "artists"],
  ["inbox", "Inbox", "inbox"],
];

/** Ends what the frame of the last login listens to. */
let left = new AbortController();

async function begin(user: string): Promise<void> {
  try {
    const session = await Session.begin(user);
    sessionStorage.setItem(KEPT, user);
    show(session);
  } catch (error) {
    sessionStorage.removeItem(KEPT);
    await login();
    say(`Could not log in: ${inWords(error)}`);
  }
}

async function login(): Promise<void> {
  document.body.replaceChildren(await loginView((user) => void begin(user)));
}

function logOut(session: Session): void {
  session.end();
  left.abort();
  sessionStorage.removeItem(KEPT);
  location.hash = "";
  void login();
}

function show(session: Session): void {
  const title = h("h1", { id: "title", tabIndex: -1 });
  const main = h("main", { id: "main", "aria-labelledby": "title" });
  const links = NAVIGATION.map(([path, label, name]) => h("a", { href: `#${path}`, className: "nav-link" }, icon(name), h("span", {}, label)));
  const bell = h("segue-bell" as "div") as unknown as SegueBell;
  bell.addEventListener("segue-open", () => (location.hash = "inbox"));
  const phase = h("span", { id: "phase", role: "status" });
  const header = h(
    "header",
    { className: "top" },
    title,
    phase,
    bell,
    h("a", { href: "#settings", className: "me", "aria-label": `Settings of ${session.user}`, title: "Settings" }, avatar(session.user, "small")),
  );
  const away = h("div", { className: "away", role: "status" });
  document.body.replaceChildren(
    h("a", { href: "#main", className: "skip", onclick: (event: Event) => (event.preventDefault(), title.focus()) }, "Skip to what is shown"),
    h(
      "div",
      { className: "frame" },
      h(
        "nav",
        { className: "side", "aria-label": "Radio" },
        h("a", { href: "#", className: "brand" }, h("img", { src: "icon.svg", alt: "", width: 32, height: 32 }), "Segue Radio"),
        h("div", { className: "nav-links" }, ...links),
        playlistLinks(session),
        h("div", { className: "who" }, avatar(session.user, "small"), h("span", {}, session.user), iconButton("away", "Log out", { onclick: () => logOut(session) })),
      ),
      h("div", { className: "middle" }, header, away, main),
      friendsPanel(session),
      playerBar(session),
    ),
  );
  session.show(phase, ["phase"], () => {
    const now = session.client.state?.phase ?? "connecting";
    const words = { connected: "Live", connecting: "Connecting", waiting: "Reconnecting", closed: "Away" }[now];
    phase.className = `phase ${now}`;
    if (phase.textContent !== words) phase.textContent = words;
  });
  const comeBack = (): void => {
    void session.comeBack().catch((error: unknown) => say(inWords(error)));
    route(); // what is shown may stand on the client that was left
  };
  session.show(away, ["away"], () => {
    bell.client = session.client;
    const back = h("button", { type: "button", onclick: comeBack }, "Come back");
    const told = h("p", {}, h("strong", {}, "You are away."), " What you follow is mailed and pushed now, and waits in the bell.");
    away.replaceChildren(...(session.isAway ? [told, back] : []));
  });

  let shown: View | undefined;
  function route(): void {
    shown?.close?.();
    const [path = "", ...rest] = location.hash.slice(1).split("/").map(decoded);
    shown = viewOf(session, path, rest);
    title.textContent = shown.title;
    document.title = `${shown.title} · Segue Radio`;
    main.replaceChildren(shown.body);
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".side a[href]")) {
      if (link.getAttribute("href") === (location.hash || "#")) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  left = new AbortController();
  addEventListener("hashchange", route, { signal: left.signal });
  route();
}

/** Returns a part of an address as it is meant; one that was mistyped as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function viewOf(session: Session, path: string, rest: readonly string[]): View {
  switch (path) {
    case "friends":
      return friendsView(session);
    case "user":
      return userView(session, rest[0] ?? "");
    case "playlists":
      return playlistsView(session);
    case "playlist":
      return playlistView(session, rest[0] ?? "", rest[1] ?? "");
    case "artists":
      return artistsView(session);
    case "inbox":
      return inboxView(session);
    case "settings":
      return settingsView(session, () => logOut(session));
    default:
      return feedView(session);
  }
}

const kept = sessionStorage.getItem(KEPT);
void (kept ? begin(kept) : login());
