/** Friends: whom one follows and what they play now, at the side and as a page, and the page of one listener. */
import type { View } from "./app.js";
import { aboutOf } from "./feed.js";
import { ago, avatar, h, icon, keyed } from "./parts.js";
import { playlistRow } from "./playlists.js";
import { inWords, type Session } from "./session.js";
import { say } from "./toast.js";

const MOST = 30;
/** A play is "now" for so long: tracks have no length in the data. */
const NOW_MS = 240_000;

export function friendsPanel(session: Session): HTMLElement {
  const list = h("ul", { className: "rows", role: "list" });
  const panel = h("aside", { className: "panel", "aria-label": "Friends" }, h("h2", {}, "Friends"), list);
  session.show(list, ["friends"], () => {
    const recent = [...session.friends].sort((one, other) => (session.last.get(other.user)?.tsMs ?? 0) - (session.last.get(one.user)?.tsMs ?? 0));
    keyed(list, recent.slice(0, MOST), {
      key: ({ user }) => user,
      make: ({ user }) => h("li", {}, h("a", { href: `#user/${user}`, className: "row" }, avatar(user), h("span", { className: "words" }))),
      update: (row, { user }) => row.querySelector(".words")!.replaceChildren(...doing(session, user)),
    });
  });
  return panel;
}

/** Returns the name of a listener, and what they did last. */
function doing(session: Session, user: string): HTMLElement[] {
  const event = session.last.get(user);
  const { artist, track } = event ? aboutOf(event) : { artist: "", track: "" };
  const isNow = event?.kind === "play" && Date.now() - event.tsMs < NOW_MS;
  const name = h("span", { className: "line name" }, h("strong", {}, user), isNow && h("span", { className: "equalizer", "aria-hidden": "true" }), event && h("span", { className: "faint" }, ago(event.tsMs)));
  return [name, h("span", { className: "faint line" }, artist ? `${track} · ${artist}` : "nothing heard yet")];
}

export function friendsView(session: Session): View {
  const field = h("input", { type: "search", id: "find", placeholder: "Find a listener: lastfm-…", autocomplete: "off", "aria-label": "Find a listener" });
  const list = h("ul", { className: "rows", role: "list" });
  const count = h("p", { className: "faint pad", role: "status" });
  const followers = h("ul", { className: "rows followers", role: "list" });
  const back = h("section", { className: "card", hidden: true }, h("h2", {}, "They follow you"), followers);
  const draw = (): void => {
    const wanted = field.value.trim().toLowerCase();
    const mine = session.friends.map(({ user }) => user);
    const found = wanted ? session.roster.users.map(({ user }) => user).filter((user) => user.includes(wanted) && user !== session.user) : mine;
    count.textContent = wanted ? `${found.length.toLocaleString()} listeners` : `You follow ${mine.length}`;
    people(session, list, found);
    const others = session.followers.filter(({ mutual }) => !mutual).map(({ user }) => user);
    back.hidden = others.length === 0;
    people(session, followers, others);
  };
  field.addEventListener("input", draw);
  session.show(list, ["friends"], draw);
  return { title: "Friends", body: h("div", { className: "stack" }, back, h("section", { className: "card" }, h("div", { className: "pad" }, field), count, list)) };
}

function people(session: Session, list: HTMLElement, users: readonly string[]): void {
  keyed(list, users.slice(0, MOST), {
    key: (user) => user,
    make: (user) => h("li", { className: "row" }, avatar(user), h("a", { href: `#user/${user}`, className: "words" }), followButton(session, user)),
    update: (row, user) => row.querySelector(".words")!.replaceChildren(...doing(session, user)),
  });
}

/** Returns a button that follows `user`, or unfollows them. */
function followButton(session: Session, user: string): HTMLButtonElement {
  const button = h("button", { type: "button", className: "pill" });
  const follows = (): boolean => session.friends.some((each) => each.user === user);
  button.addEventListener("click", () => {
    button.disabled = true;
    const done = follows() ? session.unfollow(user) : session.follow(user);
    void done.catch((error: unknown) => say(inWords(error))).finally(() => (button.disabled = false));
  });
  session.show(button, ["friends"], () => {
    button.textContent = follows() ? "Following" : "Follow";
    button.classList.toggle("on", follows());
    button.setAttribute("aria-label", `${follows() ? "Stop following" : "Follow"} ${user}`);
  });
  return button;
}

/** Returns who of the two follows whom, in words. */
function standing({ friends, followers }: Session, user: string): string {
  const [follows, isFollowed] = [friends, followers].map((people) => people.some((each) => each.user === user));
  if (follows && isFollowed) return "You are friends: each hears the other.";
  if (follows) return "You follow them; you hear them when they follow you back.";
  return isFollowed ? "They follow you. Follow them back, and each hears the other." : "You do not follow them.";
}

export function userView(session: Session, user: string): View {
  const now = h("span", { className: "words" });
  const mutual = h("p", { className: "faint" });
  const list = h("ul", { className: "rows", role: "list" });
  const empty = h("p", { className: "empty", hidden: true }, "No playlists that you may see.");
  const head = h("div", { className: "profile" }, avatar(user, "large"), h("div", { className: "words" }, now, mutual), followButton(session, user));
  session.show(now, ["friends"], () => {
    now.replaceChildren(...doing(session, user));
    mutual.replaceChildren(icon("friends"), standing(session, user));
  });
  void (async () => {
    try {
      for await (const playlist of session.api.playlists.ownedBy(user)) list.append(playlistRow(playlist));
    } catch (error) {
      say(inWords(error));
    }
    empty.hidden = list.children.length > 0;
  })();
  return { title: user, body: h("div", { className: "stack" }, h("section", { className: "card" }, head), h("section", { className: "card" }, h("h2", {}, "Playlists"), list, empty)) };
}
