import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError } from "../src/errors.js";
import { decode, eventOf, gapOf, subscribedOf, topicBatches, weakest, welcomeOf, type Installed } from "../src/messages.js";
import { BOB, event, TIME_MS, welcome } from "./support/scripted_server.js";

const LOCAL: Installed = { installed: "local", missingSites: [], rejected: [], recovered: null, lost: [], replayed: 0 };

test("a text that is no message is an error of the protocol", () => {
  for (const text of ["{", "null", "[]", "7", '{"op":7}']) assert.throws(() => decode(text), ProtocolError, text);
  assert.deepEqual(decode('{"op":"of-tomorrow"}'), { op: "of-tomorrow" });
});

test("an event has a value in every field", () => {
  assert.deepEqual(eventOf(event(BOB, 3)), {
    ...{ topic: BOB, site: "sto", epoch: 7, seq: 3, tsMs: TIME_MS, id: "e3", kind: "play", payload: { artist: "Björk" } },
    ...{ skipped: 0, after: null, gap: 0, replayed: false },
  });
});

test("what an older server leaves out has its default", () => {
  assert.deepEqual(welcomeOf(welcome()).window, {});
  assert.deepEqual(welcomeOf(welcome({ limits: undefined })).limits, { message_bytes: 32_768, topics_per_message: 200 });
  assert.deepEqual(subscribedOf({ op: "subscribed", id: 1, installed: "local" }), { ...LOCAL, id: 1, point: null });
  assert.equal(gapOf({ op: "gap", topics: [BOB], reason: "late" }).point, null);
});

test("topics are cut by their number and by their bytes, with one in each list at least", () => {
  const cut = (bytes: number, most: number): string[][] => topicBatches(["aaaa", "bbbb", "ö"], { message_bytes: bytes, topics_per_message: most });
  assert.deepEqual(cut(1000, 2), [["aaaa", "bbbb"], ["ö"]]);
  assert.deepEqual(cut(24, 9), [["aaaa"], ["bbbb", "ö"]]);
  assert.deepEqual(cut(1, 9), [["aaaa"], ["bbbb"], ["ö"]]);
  assert.deepEqual(topicBatches(["aa", "bb"], { message_bytes: 40, topics_per_message: 9 }, () => 10), [["aa"], ["bb"]]);
});

test("of several answers the weakest promise holds", () => {
  const partial: Installed = { ...LOCAL, installed: "partial", missingSites: ["lon", "ash"], recovered: true, replayed: 2 };
  const found = weakest([LOCAL, partial, { ...LOCAL, installed: "all", recovered: false, lost: [{ topic: BOB, reason: "late" }] }]);
  assert.deepEqual(found, { ...LOCAL, installed: "partial", missingSites: ["ash", "lon"], recovered: false, replayed: 2, lost: [{ topic: BOB, reason: "late" }] });
  assert.deepEqual(weakest([]), { ...LOCAL, installed: "all" });
});
