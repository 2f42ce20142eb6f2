/** Settings: who hears what one plays, and the preferences of notifications, which are an element of the package. */
import type { Listeners } from "segue/api";
import type { SeguePreferences } from "segue/preferences";
import type { View } from "./app.js";
import { h } from "./parts.js";
import { inWords, type Session } from "./session.js";
import { say } from "./toast.js";

const LISTENERS: Readonly<Record<Listeners, string>> = {
  everyone: "Everyone",
  followers: "Everyone who follows me",
  friends: "Friends: we follow each other",
  nobody: "Nobody",
};

export function settingsView(session: Session, logOut: () => void): View {
  const choice = h("select", { id: "listeners" }, ...Object.entries(LISTENERS).map(([value, words]) => h("option", { value }, words)));
  choice.addEventListener("change", () => {
    const done = session.api.social.setListening(choice.value as Listeners);
    void done.then(() => say("Saved."), (error: unknown) => say(inWords(error)));
  });
  void session.api.social.privacy().then(({ listening }) => (choice.value = listening), (error: unknown) => say(inWords(error)));
  const preferences = h("segue-preferences" as "div") as unknown as SeguePreferences;
  preferences.settings = session.api.settings;
  const privacy = h("section", { className: "card pad" }, h("h2", {}, "Listening"), h("label", { className: "field", htmlFor: "listeners" }, "Who hears what I play", choice));
  const leave = h("button", { type: "button", className: "pill log-out", onclick: logOut }, `Log out ${session.user}`);
  return { title: "Settings", body: h("div", { className: "stack" }, privacy, h("section", { "aria-label": "Notifications" }, preferences), leave) };
}
