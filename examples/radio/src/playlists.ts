/** The playlists of the user, at the side and as a page: their own, and those of others that they follow. */
import type { PlaylistSummary } from "segue/api";
import type { View } from "./app.js";
import { cover, h, icon, keyed } from "./parts.js";
import { inWords, type Session } from "./session.js";
import { say } from "./toast.js";

export function playlistHref({ owner, id }: Pick<PlaylistSummary, "owner" | "id">): string {
  return `#playlist/${encodeURIComponent(owner)}/${encodeURIComponent(id)}`;
}

export function playlistRow(playlist: PlaylistSummary): HTMLElement {
  const { name, owner, tracks, collaborative } = playlist;
  const about = `${owner} · ${tracks} ${tracks === 1 ? "track" : "tracks"}${collaborative ? " · together" : ""}`;
  const words = h("span", { className: "words" }, h("strong", { className: "line" }, name), h("span", { className: "faint line" }, about));
  return h("li", {}, h("a", { href: playlistHref(playlist), className: "row" }, cover(name), words));
}

/** Returns all playlists that one owns or follows. */
async function mine({ api, user }: Session): Promise<readonly PlaylistSummary[]> {
  const found: PlaylistSummary[] = [];
  for await (const playlist of api.playlists.ownedBy(user)) found.push(playlist);
  for await (const playlist of api.playlists.followedBy(user)) if (playlist.owner !== user) found.push(playlist);
  return found;
}

/** Shows one's playlists in `list` now, and when they change. */
function listed(session: Session, list: HTMLElement, make: (playlist: PlaylistSummary) => HTMLElement, told: (count: number) => void = () => undefined): void {
  let asked = 0;
  session.show(list, ["playlists", "notifications"], () => {
    const now = (asked += 1);
    const done = mine(session).then((found) => {
      if (now !== asked) return; // an answer that was overtaken says less than the newer one
      keyed(list, found, { key: ({ topic, name, tracks }) => `${topic} ${name} ${tracks}`, make });
      told(found.length);
    });
    void done.catch((error: unknown) => say(inWords(error)));
  });
}

export function playlistLinks(session: Session): HTMLElement {
  const list = h("ul", { role: "list" });
  listed(session, list, (playlist) => h("li", {}, h("a", { href: playlistHref(playlist), className: "side-link" }, icon("playlists"), h("span", { className: "line" }, playlist.name))));
  return h("section", { className: "side-playlists", "aria-label": "Playlists" }, list);
}

export function playlistsView(session: Session): View {
  const list = h("ul", { className: "rows", role: "list" });
  const empty = h("p", { className: "empty", hidden: true }, "None yet. Make one, and ask a friend to change it with you.");
  listed(session, list, playlistRow, (count) => (empty.hidden = count > 0));
  const name = h("input", { id: "name", maxLength: 200, required: true, placeholder: "A new playlist", autocomplete: "off", "aria-label": "Name of a new playlist" });
  const form = h("form", { className: "pad bar" }, name, h("button", { type: "submit", className: "pill on" }, icon("add"), "Create"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const made = session.api.playlists.create(name.value.trim(), { collaborative: true });
    void made.then((playlist) => {
      session.changed("playlists");
      location.hash = playlistHref(playlist);
    }, (error: unknown) => say(inWords(error)));
  });
  return { title: "Playlists", body: h("section", { className: "card" }, form, list, empty) };
}
