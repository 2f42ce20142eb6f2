/** The login: any user of the data. An application of your own asks for a password here. */
import { avatar, h } from "./parts.js";
import { station, type Listener } from "./station.js";

const SHOWN = 24;

export async function loginView(chosen: (user: string) => void): Promise<HTMLElement> {
  const { users } = await station.roster();
  const list = h("ul", { className: "people", id: "people" });
  const field = h("input", { type: "search", id: "who", placeholder: "lastfm-…", autocomplete: "off", spellcheck: false });
  const count = h("p", { className: "faint", role: "status" });
  const draw = (): void => {
    const found = users.filter(({ user }) => user.includes(field.value.trim().toLowerCase()));
    count.textContent = found.length > SHOWN ? `${found.length.toLocaleString()} listeners, those with the most friends first` : `${found.length} listeners`;
    list.replaceChildren(...found.slice(0, SHOWN).map((each) => h("li", {}, card(each, chosen))));
  };
  field.addEventListener("input", draw);
  const form = h(
    "form",
    {
      className: "login-form",
      onsubmit: (event: Event) => {
        event.preventDefault();
        const first = users.find(({ user }) => user === field.value.trim()) ?? users.find(({ user }) => user.includes(field.value.trim()));
        if (first) chosen(first.user);
      },
    },
    h("label", { htmlFor: "who" }, "Who are you today?"),
    field,
    count,
  );
  draw();
  return h(
    "main",
    { className: "login" },
    h("div", { className: "hero" }, h("img", { src: "icon.svg", alt: "", width: 64, height: 64 }), h("h1", {}, "Segue Radio"), h("p", {}, "Hear what your friends play, the moment they play it.")),
    form,
    list,
    h("p", { className: "faint foot" }, "These are users of Last.fm in 2011, as numbers, with their real friends and the artists that they really played."),
  );
}

function card({ user, friends }: Listener, chosen: (user: string) => void): HTMLElement {
  const words = h("span", { className: "words" }, h("strong", {}, user), h("span", { className: "faint" }, `${friends} ${friends === 1 ? "friend" : "friends"}`));
  return h("button", { type: "button", className: "person", onclick: () => chosen(user) }, avatar(user), words);
}
