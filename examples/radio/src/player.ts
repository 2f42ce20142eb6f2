/** The bar of what one plays oneself. */
import { cover, h, icon, iconButton } from "./parts.js";
import { inWords, type Session } from "./session.js";
import { say } from "./toast.js";

const TRACKS = 12;

export function playerBar(session: Session): HTMLElement {
  const shown = h("span", { className: "now" });
  const toggle = iconButton("play", "Play", { className: "icon-button big" });
  const next = iconButton("next", "Play something else");
  const hide = h("button", { type: "button", className: "pill private" }, icon("mask"), h("span", {}, "Private session"));
  const told = (doing: Promise<void>): void => void doing.catch((error: unknown) => say(inWords(error)));
  toggle.addEventListener("click", () => {
    if (!session.playing) return void told(session.play(another(session)));
    told(session.play(session.playing, { isPaused: !session.playing.isPaused }));
  });
  next.addEventListener("click", () => told(session.play(another(session))));
  hide.addEventListener("click", () => told(session.setPrivate(!session.isPrivate)));
  session.show(shown, ["playing"], () => {
    const { playing } = session;
    const isOn = playing !== undefined && !playing.isPaused;
    toggle.replaceChildren(icon(isOn ? "pause" : "play"));
    toggle.setAttribute("aria-label", isOn ? "Pause" : "Play");
    toggle.title = isOn ? "Pause" : "Play";
    const words = playing
      ? [cover(playing.artist), h("span", { className: "words" }, h("strong", { className: "line" }, playing.track), h("span", { className: "faint line" }, playing.artist))]
      : [h("span", { className: "words" }, h("strong", { className: "line" }, "Nothing plays"), h("span", { className: "faint line" }, "Your friends hear of it when you play"))];
    shown.replaceChildren(...words);
  });
  session.show(hide, ["private"], () => {
    hide.setAttribute("aria-pressed", String(session.isPrivate));
    hide.classList.toggle("on", session.isPrivate);
    hide.title = session.isPrivate ? "Nobody sees what you play" : "Hide what you play from everybody";
  });
  return h("footer", { className: "player", "aria-label": "What you play" }, shown, h("span", { className: "controls" }, toggle, next), hide);
}

function another({ roster }: Session): { readonly artist: string; readonly track: string } {
  const artist = roster.artists[Math.floor(Math.random() * roster.artists.length)]?.name ?? "Nobody";
  return { artist, track: `Track ${1 + Math.floor(Math.random() * TRACKS)}` };
}
