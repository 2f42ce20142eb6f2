import assert from "node:assert/strict";
import { test } from "node:test";
import { notificationOf } from "../src/notifications.js";
import { ago, lineOfEvent, lineOfNotification, wordsOf } from "../src/elements/words.js";
import { BOB } from "./support/scripted_server.js";

const ENGLISH = wordsOf("en-GB");

test("a language that is not there is English, and each has all words", () => {
  assert.equal(wordsOf("fr"), ENGLISH);
  const swedish = wordsOf("sv-SE");
  assert.deepEqual(Object.keys(swedish.news), Object.keys(ENGLISH.news));
  assert.deepEqual(Object.keys(swedish.phases), Object.keys(ENGLISH.phases));
  for (const kind of ["classes", "channels", "digests", "tabs", "actions"] as const) assert.deepEqual(Object.keys(swedish[kind]), Object.keys(ENGLISH[kind]));
  assert.deepEqual([swedish.unread(1), swedish.unread(2), swedish.missed(null)], ["1 oläst", "2 olästa", "något kan saknas här"]);
});

test("a notification says who did what", () => {
  const line = (fields: object): object => lineOfNotification(notificationOf({ mark: 1, ts: 1, ...fields }), ENGLISH);
  const album = { kind: "album", class: "new-album", topic: "hm://notifications/feed/bjork%new-album/", payload: { album: "Post" } };
  assert.deepEqual(line(album), { who: "bjork", verb: "has a new album", what: "Post" });
  const fossora = { artist: "a1", name: "Björk", id: "al-7", title: "Fossora" };
  assert.deepEqual(line({ ...album, payload: fossora }), { who: "Björk", verb: "has a new album", what: "Fossora" });
  assert.deepEqual(line({ ...album, payload: { artist_name: "Björk", album: "Post" } }), { who: "Björk", verb: "has a new album", what: "Post" });
  const mix = { kind: "playlist", class: "playlist", topic: "hm://playlist/user/ann/playlist/mix/", payload: { version: 2, by: "bob", name: "Mix", change: {} } };
  assert.deepEqual(line(mix), { who: "bob", verb: "changed a playlist", what: "Mix" });
  assert.deepEqual(line({ ...album, class: "of-tomorrow", payload: { artist: "Björk" } }), { who: "Björk", verb: "album", what: "" });
});

test("an event says what a friend plays", () => {
  const line = (kind: string, payload: object): object => lineOfEvent({ topic: BOB, kind, payload: { ...payload } }, ENGLISH);
  assert.deepEqual(line("play", { track: "Jóga", artist: "Björk" }), { who: "bob", verb: "plays", what: "Jóga · Björk" });
  const mix = "hm://playlist/user/ann/playlist/mix/";
  assert.deepEqual(line("playlist", { topic: mix, event: "e1", change: "add" }), { who: "bob", verb: "changed a playlist", what: "mix" });
  assert.deepEqual(line("playlist", { playlist: "Mix" }), { who: "bob", verb: "listens to the playlist", what: "Mix" });
  const changed = { topic: mix, kind: "playlist", payload: { version: 2, by: "eve", name: "Mix", change: { op: "add", tracks: ["t"] } } };
  assert.deepEqual(lineOfEvent(changed, ENGLISH), { who: "eve", verb: "changed a playlist", what: "Mix" });
  assert.deepEqual(line("of-tomorrow", { track: {} }), { who: "bob", verb: "of tomorrow", what: "" });
  assert.deepEqual(lineOfEvent({ topic: "elsewhere", kind: "play", payload: {} }, ENGLISH).who, "elsewhere");
});

test("how long ago something was is said in the language of the page", () => {
  assert.deepEqual([0, 90_000, 7_200_000, 86_400_000 * 3].map((elapsedMs) => ago(elapsedMs, "en")), ["now", "1m ago", "2h ago", "3d ago"]);
  assert.equal(ago(180_000, "sv"), "för 3 min sen");
});
