/** Artists: follow them for good, and ask the record label of the demo for an album. */
import type { View } from "./app.js";
import { cover, h, icon, keyed } from "./parts.js";
import { inWords, type Session } from "./session.js";
import { station, type Artist } from "./station.js";
import { say } from "./toast.js";

const MOST = 40;

export function artistsView(session: Session): View {
  const field = h("input", { type: "search", id: "find-artist", placeholder: "Find an artist", autocomplete: "off", "aria-label": "Find an artist" });
  const list = h("ul", { className: "rows", role: "list" });
  const draw = (): void => {
    const wanted = field.value.trim().toLowerCase();
    const found = session.roster.artists.filter(({ name }) => name.toLowerCase().includes(wanted));
    const mine = found.filter(({ id }) => session.artists.has(id));
    keyed(list, [...mine, ...found.filter((each) => !mine.includes(each))].slice(0, MOST), {
      key: ({ id }) => id,
      make: (artist) => row(session, artist),
      update: (shown, artist) => fill(session, shown, artist),
    });
  };
  field.addEventListener("input", draw);
  session.show(list, ["artists"], draw);
  const note = "You hear of every album of an artist whom you follow, wherever you are. The label of the demo releases one when you ask.";
  return { title: "Artists", body: h("section", { className: "card" }, h("div", { className: "pad" }, field), h("p", { className: "faint pad" }, note), list) };
}

function row(session: Session, artist: Artist): HTMLElement {
  const follow = h("button", { type: "button", className: "pill follow" });
  follow.addEventListener("click", () => void session.followArtist(artist, !session.artists.has(artist.id)).catch((error: unknown) => say(inWords(error))));
  const release = h("button", { type: "button", className: "pill quiet release" }, icon("release"), "Release an album");
  release.addEventListener("click", () => {
    release.disabled = true;
    void station
      .release(artist.id)
      .then((title) => say(`${artist.name} released “${title}”.`))
      .catch((error: unknown) => say(inWords(error)))
      .finally(() => (release.disabled = false));
  });
  const words = h("span", { className: "words" }, h("strong", { className: "line" }, artist.name), h("span", { className: "faint line" }, `${artist.listeners.toLocaleString()} listeners`));
  return h("li", { className: "row" }, cover(artist.name), words, h("span", { className: "actions" }, release, follow));
}

function fill(session: Session, shown: HTMLElement, artist: Artist): void {
  const follow = shown.querySelector<HTMLElement>(".follow")!;
  const follows = session.artists.has(artist.id);
  shown.classList.toggle("wrap", follows); // two buttons do not fit beside a name on a phone
  follow.textContent = follows ? "Following" : "Follow";
  follow.classList.toggle("on", follows);
  follow.setAttribute("aria-label", `${follows ? "Stop following" : "Follow"} ${artist.name}`);
  shown.querySelector<HTMLElement>(".release")!.hidden = !follows;
}
