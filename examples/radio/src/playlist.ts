/** One playlist: its tracks, which are moved by dragging or with the arrow keys, and those who change it together. */
import { PlaylistReplica } from "segue/replica";
import type { View } from "./app.js";
import { dragging } from "./drag.js";
import { cover, h, icon, iconButton } from "./parts.js";
import { inWords, type Session } from "./session.js";
import { say } from "./toast.js";

const TRACKS = 12;

export function playlistView(session: Session, owner: string, id: string): View {
  const list = h("ol", { className: "rows tracks", role: "list", "aria-label": "Tracks" });
  const name = h("h2", { className: "name" });
  const about = h("p", { className: "faint" });
  const status = h("p", { className: "hidden", role: "status" });
  const tools = h("div", { className: "actions" });
  const empty = h("p", { className: "empty", hidden: true }, "No tracks yet. Add one below.");
  const adding = addForm(session, (track) => playlist.add([track]));
  adding.hidden = true;
  let art = cover(id);
  const head = h("div", { className: "profile" }, art, h("div", { className: "words" }, name, about), tools);
  const playlist = new PlaylistReplica(session.client, session.api.playlists, owner, id);
  playlist.on("change", () => draw());
  playlist.on("refused", ({ reason }) => say(`It was taken back: ${reason}`));

  const focus = (at: number): void => list.children[at]?.querySelector<HTMLElement>(".grip")?.focus();
  const move = (from: number, to: number): void => {
    if (to < 0 || to >= playlist.tracks.length || from === to) return;
    const track = playlist.tracks[from]!;
    playlist.reorder(from, to > from ? to + 1 : to);
    focus(to);
    status.textContent = `${track}: now ${to + 1} of ${playlist.tracks.length}`;
  };
  let drawn: readonly string[] = [];
  const drag = dragging(list, (from, to) => {
    const at = nearest(playlist.tracks, drawn[from]!, from);
    if (at < 0 || to === from) draw(); // somebody else took it away, or it is where it was
    else move(at, to);
  });
  const draw = (): void => {
    const { tracks } = playlist;
    if (list.classList.contains("dragging")) return; // what changed meanwhile is drawn at the end
    if (name.textContent !== playlist.name) {
      name.textContent = playlist.name;
      const next = cover(playlist.name);
      art.replaceWith(next);
      art = next;
    }
    about.textContent = `${owner === session.user ? "Yours" : `By ${owner}`} · ${tracks.length} ${tracks.length === 1 ? "track" : "tracks"}${playlist.collaborative ? " · made together" : ""}`;
    empty.hidden = tracks.length > 0;
    const focused = [...list.children].findIndex((row) => row.contains(document.activeElement));
    list.replaceChildren(...tracks.map(row));
    if (focused >= 0) focus(Math.max(0, nearest(tracks, drawn[focused]!, focused)));
    drawn = tracks;
  };
  const row = (track: string, at: number): HTMLElement => {
    const grip = h("button", { type: "button", className: "grip", "aria-label": `Move ${track}, ${at + 1} of ${playlist.tracks.length}; arrow keys move it`, title: "Drag, or use the arrow keys" }, icon("grip"));
    grip.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      move(at, at + by);
    });
    grip.addEventListener("pointerdown", (event) => drag(event, at));
    const [title = track, artist = ""] = track.split(" · ");
    const words = h("span", { className: "words" }, h("strong", { className: "line" }, title), h("span", { className: "faint line" }, artist));
    const play = iconButton("play", `Play ${track}`, { onclick: () => void session.play({ artist: artist || title, track: title }).catch((error: unknown) => say(inWords(error))) });
    const remove = iconButton("remove", `Remove ${track}`, { onclick: () => playlist.remove(at) });
    return h("li", { className: "row" }, grip, cover(artist || title), words, h("span", { className: "actions" }, play, remove));
  };

  void (async () => {
    try {
      await playlist.open();
      adding.hidden = false;
      tools.append(...(owner === session.user ? [inviteForm(session, id)] : [await followButton(session, owner, id)]));
    } catch (error) {
      empty.hidden = false;
      empty.textContent = inWords(error);
    }
  })();
  return { title: "Playlist", body: h("section", { className: "card" }, head, list, empty, adding, status), close: () => void playlist.close().catch(() => undefined) };
}

/** Returns where `track` is, nearest to `at`; -1 where it is no more. */
function nearest(tracks: readonly string[], track: string, at: number): number {
  const found = tracks.map((each, index) => [each, index] as const).filter(([each]) => each === track);
  return found.sort(([, one], [, other]) => Math.abs(one - at) - Math.abs(other - at))[0]?.[1] ?? -1;
}

function addForm(session: Session, add: (track: string) => void): HTMLFormElement {
  const field = h("input", { placeholder: "Add something by …", autocomplete: "off", required: true, "aria-label": "Artist of the track to add" });
  field.setAttribute("list", "known-artists");
  const known = h("datalist", { id: "known-artists" }, ...session.roster.artists.map(({ name }) => h("option", { value: name })));
  const form = h("form", { className: "pad bar" }, field, known, h("button", { type: "submit", className: "pill on" }, icon("add"), "Add"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add(`Track ${1 + Math.floor(Math.random() * TRACKS)} · ${field.value.trim()}`.slice(0, 128));
    field.value = "";
  });
  return form;
}

/** Returns the owner's list of friends who may change the playlist, too. */
function inviteForm(session: Session, id: string): HTMLElement {
  const choice = h("select", { "aria-label": "Invite a friend to change it" });
  let editors: readonly string[] = [];
  const fill = (): void => {
    const others = session.friends.filter(({ user }) => !editors.includes(user));
    choice.replaceChildren(h("option", { value: "" }, editors.length ? `With ${editors.join(", ")}` : "Invite a friend"), ...others.map(({ user }) => h("option", { value: user }, user)));
  };
  choice.addEventListener("change", () => {
    if (!choice.value) return;
    const done = session.api.social.setEditor(id, choice.value).then((now) => ((editors = now.editors), fill(), say(`${editors.at(-1)} may change it now.`)));
    void done.catch((error: unknown) => say(inWords(error)));
  });
  session.show(choice, ["friends"], fill);
  void session.api.social.playlist(id).then((now) => ((editors = now.editors), fill()), () => undefined); // nobody was invited yet
  return choice;
}

async function followButton(session: Session, owner: string, id: string): Promise<HTMLElement> {
  const button = h("button", { type: "button", className: "pill" });
  let follows = false;
  for await (const each of session.api.playlists.followedBy(session.user)) follows ||= each.owner === owner && each.id === id;
  const draw = (): void => {
    button.textContent = follows ? "Following" : "Follow";
    button.classList.toggle("on", follows);
  };
  button.addEventListener("click", () => {
    const { playlists } = session.api;
    const done = follows ? playlists.unfollow(owner, id) : playlists.follow(owner, id);
    void done.then(() => ((follows = !follows), draw(), session.changed("playlists")), (error: unknown) => say(inWords(error)));
  });
  draw();
  return button;
}
