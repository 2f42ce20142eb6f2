/** Home: what friends play, newest first, beginning with the last thing that each of them did. */
import type { PastEvent, SegueEvent } from "segue";
import type { View } from "./app.js";
import { ago, avatar, cover, h, iconButton, keyed } from "./parts.js";
import { inWords, userOf, type Session } from "./session.js";
import { say } from "./toast.js";

type FeedEvent = PastEvent | SegueEvent;

const VERBS: Readonly<Record<string, string>> = { play: "plays", pause: "paused", playlist: "changed a playlist" };

/** Returns what an event is about: the fields of its payload that are text. */
export function aboutOf({ payload }: FeedEvent): { readonly artist: string; readonly track: string } {
  const text = (name: string): string => (typeof payload[name] === "string" ? payload[name] : "");
  return { artist: text("artist"), track: text("track") };
}

export function feedView(session: Session): View {
  const list = h("ol", { className: "rows feed", role: "list" });
  const empty = h("p", { className: "empty" }, "It is quiet. What your friends play appears here; find more of them under Friends.");
  const log = h("div", { role: "log", "aria-label": "What friends play" }, list);
  const body = h("section", { className: "card" }, log, empty);
  session.show(list, ["feed", "artists"], () => {
    empty.hidden = session.feed.length > 0;
    keyed(list, session.feed, { key: ({ id }) => id, make: (event) => row(session, event), update: (shown, event) => fill(session, shown, event) });
  });
  return { title: "What friends play", body };
}

function row(session: Session, event: FeedEvent): HTMLElement {
  const user = userOf(event.topic) ?? "";
  const { artist, track } = aboutOf(event);
  const known = session.roster.artists.find(({ name }) => name === artist);
  const listen = track && iconButton("play", `Play ${track} by ${artist}, too`, { onclick: () => void session.play({ artist, track }).catch((error: unknown) => say(inWords(error))) });
  const like = known && iconButton("heart", "", { className: "icon-button like" });
  like?.addEventListener("click", () => void session.followArtist(known!, !session.artists.has(known!.id)).catch((error: unknown) => say(inWords(error))));
  return h(
    "li",
    { className: "row" },
    artist ? cover(artist) : avatar(user),
    h(
      "span",
      { className: "words" },
      h("span", { className: "line" }, track ? `${track} · ${artist}` : (VERBS[event.kind] ?? event.kind)),
      h("span", { className: "faint line" }, h("a", { href: `#user/${user}` }, user), ` ${VERBS[event.kind] ?? event.kind}`),
    ),
    h("time", { className: "faint", dateTime: new Date(event.tsMs).toISOString() }),
    h("span", { className: "actions" }, like, listen),
  );
}

function fill(session: Session, shown: HTMLElement, event: FeedEvent): void {
  shown.querySelector("time")!.textContent = ago(event.tsMs);
  const like = shown.querySelector(".like");
  if (!like) return;
  const { artist } = aboutOf(event);
  const follows = session.artists.has(session.roster.artists.find(({ name }) => name === artist)?.id ?? "");
  const label = follows ? `Stop following ${artist}` : `Follow ${artist}`;
  if (like.getAttribute("aria-label") === label) return;
  like.setAttribute("aria-label", label);
  like.setAttribute("title", label);
  like.classList.toggle("on", follows);
}
