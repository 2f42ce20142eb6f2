import assert from "node:assert/strict";
import { test } from "node:test";
import { refusal } from "../src/errors.js";
import { eventOf, subscribedOf, welcomeOf, type Message, type Subscribed } from "../src/messages.js";
import { Recoverer } from "../src/recoverer.js";
import { ALBUMS, BOB, event, EVE, MIX, subscribed, welcome } from "./support/scripted_server.js";

const WINDOW = { window: { user: { keep: "latest", seconds: 120 }, playlist: { keep: "all", seconds: 120 } }, limits: { topics_per_message: 10 } };

function connected(recoverer = new Recoverer(), fields: object = WINDOW): Recoverer {
  recoverer.connect(welcomeOf(welcome(fields)));
  return recoverer;
}

function answer(message: Message, id: number, fields: object = {}): Subscribed {
  return subscribedOf(subscribed({ ...message, id }, fields));
}

/** Returns a recoverer that has followed BOB up to the event 5 behind the point "p1", and has come back. */
function returned(fields: object = WINDOW): Recoverer {
  const recoverer = connected();
  recoverer.answered(answer(recoverer.ask(1, [BOB], "local"), 1, { recovered: true, point: "p1" }));
  recoverer.take(eventOf(event(BOB, 5)));
  recoverer.disconnect();
  return connected(recoverer, fields);
}

test("a server without windows is asked for nothing", () => {
  const recoverer = connected(new Recoverer(), {});
  assert.deepEqual(recoverer.ask(1, [BOB], "all"), { op: "subscribe", topics: [BOB], wait: "all" });
  assert.equal(recoverer.answered(answer({ op: "subscribe", wait: "all" }, 1)).installed.recovered, null);
});

test("who was away says the point and the last numbers, and hears that all has come", () => {
  const recoverer = returned();
  const asked = recoverer.ask(1, [BOB], "local");
  assert.deepEqual(asked, { op: "subscribe", topics: [BOB], wait: "local", recover: true, point: "p1", since: { [BOB]: { sto: [7, 5] } } });
  const { installed, gaps } = recoverer.answered(answer(asked, 1, { recovered: true, lost: [], replayed: 1, point: "p2" }));
  assert.deepEqual([installed.recovered, installed.replayed, gaps], [true, 1, []]);
  assert.equal(recoverer.cursors.snapshot().get(BOB)?.point, "p2");
});

test("what is lost is told, and its position is gone", () => {
  const recoverer = returned();
  const lost = [{ topic: BOB, reason: "evicted" }];
  const { installed, gaps } = recoverer.answered(answer(recoverer.ask(1, [BOB], "local"), 1, { recovered: false, lost, point: "p2" }));
  assert.deepEqual([installed.recovered, installed.lost], [false, lost]);
  assert.deepEqual(gaps, [{ topics: [BOB], reason: "evicted", point: "p2" }]);
  assert.equal(recoverer.take(eventOf(event(BOB, 9)))?.gap, null);
});

test("a server that says nothing of recovery has lost what can be missing", () => {
  const recoverer = returned();
  assert.deepEqual(recoverer.answered(answer(recoverer.ask(1, [BOB], "local"), 1)).installed.lost, [{ topic: BOB, reason: "expired" }]);
});

test("of a kind that is not kept nothing comes back, which is told", () => {
  const recoverer = connected();
  recoverer.answered(answer(recoverer.ask(1, [ALBUMS], "local"), 1));
  recoverer.disconnect();
  connected(recoverer);
  const asked = recoverer.ask(1, [ALBUMS], "local");
  assert.equal("recover" in asked, false);
  assert.deepEqual(recoverer.answered(answer(asked, 1)).installed.lost, [{ topic: ALBUMS, reason: "no-window" }]);
});

test("a rejected topic keeps its position for the next try", () => {
  const recoverer = returned();
  const rejected = [{ topic: BOB, code: "unavailable", reason: "later" }];
  assert.equal(recoverer.answered(answer(recoverer.ask(1, [BOB], "local"), 1, { rejected })).installed.recovered, null);
  assert.equal((recoverer.ask(2, [BOB], "local"))["point"], "p1");
});

test("a server that does not take the point is asked once more without it", () => {
  const recoverer = returned();
  recoverer.ask(1, [BOB], "local");
  assert.equal(recoverer.refused(1, refusal("bad-field", "no such point")), true);
  assert.deepEqual(recoverer.ask(2, [BOB], "local"), { op: "subscribe", topics: [BOB], wait: "local", recover: true });
  assert.equal(recoverer.refused(2, refusal("too-many-topics", "")), false);
});

test("topics of one list have one point, and kinds that are kept stand apart", () => {
  const recoverer = returned();
  assert.deepEqual(recoverer.batches([BOB, ALBUMS, EVE, MIX]), [[BOB], [ALBUMS], [EVE, MIX]]);
});

test("a list is cut where its numbers would not fit into a message", () => {
  const recoverer = returned({ ...WINDOW, limits: { message_bytes: 300, topics_per_message: 10 } });
  assert.deepEqual(recoverer.batches([BOB, EVE, MIX]), [[BOB], [EVE, MIX]]);
});

test("a gap empties positions, and later points move the others", () => {
  const recoverer = connected();
  recoverer.answered(answer(recoverer.ask(1, [BOB, EVE], "local"), 1, { recovered: true, point: "p1" }));
  recoverer.take(eventOf(event(BOB, 5)));
  recoverer.miss({ topics: [BOB], reason: "owner-lost", point: null });
  assert.deepEqual([...recoverer.cursors.snapshot().keys()], [EVE]);
  recoverer.reach("p9");
  assert.deepEqual([recoverer.cursors.snapshot().get(EVE)?.point, recoverer.cursors.snapshot().get(BOB)?.point], ["p9", "p9"]);
});
