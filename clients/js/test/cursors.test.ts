import assert from "node:assert/strict";
import { test } from "node:test";
import { Cursors, MAX_EPOCHS, MAX_SITES, MAX_TOPICS } from "../src/cursors.js";
import { eventOf, type SegueEvent } from "../src/messages.js";
import { BOB, EVE, event } from "./support/scripted_server.js";

function some(seq: number, fields: object = {}, topic = BOB): SegueEvent {
  return eventOf(event(topic, seq, fields));
}

function gaps(cursors: Cursors, events: SegueEvent[]): (number | null | undefined)[] {
  return events.map((each) => cursors.take(each)?.gap);
}

/** Returns cursors that follow BOB and have taken the event 5 behind the point "p1". */
function followed(): Cursors {
  const cursors = new Cursors();
  cursors.ask([BOB]);
  cursors.settle([BOB], []);
  cursors.reach("p1");
  cursors.take(some(5));
  return cursors;
}

test("missing numbers are a gap, and what was skipped is not", () => {
  assert.deepEqual(gaps(new Cursors(), [some(5), some(8), some(11, { skipped: 2 }), some(12)]), [0, 2, 0, 0]);
});

test("an event that says that it replaced more than has not come is told with as many as have not", () => {
  const cursors = new Cursors();
  const taken = [some(1, { skipped: 9 }), some(4, { skipped: 9 }), some(5, { skipped: 9 }), some(2, { epoch: 9, skipped: 9 })];
  assert.deepEqual(
    taken.map((each) => cursors.take(each)?.skipped),
    [9, 2, 0, 9],
  );
});

test("sites and topics have numbers of their own", () => {
  assert.deepEqual(gaps(new Cursors(), [some(5), some(90, { site: "lon" }), some(1, {}, EVE), some(6)]), [0, 0, 0, 0]);
});

test("another epoch goes on where it says so, and otherwise nobody can count", () => {
  assert.deepEqual(gaps(followed(), [some(1, { epoch: 8, after: [7, 9] }), some(4), some(3, { epoch: 9 })]), [4, 0, null]);
});

test("an epoch that holds again, since its topic has come back to its broker, counts what is missing", () => {
  const away = [some(1, { epoch: 8, after: [7, 5] })];
  assert.deepEqual(gaps(followed(), [...away, some(20, { after: [8, 1] }), some(21), some(24)]), [0, 0, 0, 2]);
  assert.deepEqual(gaps(followed(), [...away, some(20, { after: [8, 4] }), some(2, { epoch: 8 }), some(21)]), [0, 3, 0, 0]);
  assert.deepEqual(gaps(followed(), [...away, some(21), some(22)]), [0, null, 0]);
});

test("a position is replaced as a whole, with point and numbers", () => {
  const cursors = followed();
  const before = cursors.snapshot().get(BOB);
  cursors.take(some(6));
  assert.deepEqual(before, { point: "p1", sites: new Map([["sto", [[7, 5]]]]) });
  assert.deepEqual(cursors.snapshot().get(BOB), { point: "p1", sites: new Map([["sto", [[7, 6]]]]) });
});

test("while a topic is recovered, what came already is left out", () => {
  const cursors = followed();
  cursors.disconnect();
  assert.deepEqual(cursors.position(BOB)?.point, "p1");
  assert.deepEqual([...cursors.ask([BOB])], [BOB]);
  assert.equal(cursors.position(BOB), null);
  assert.equal(cursors.take(some(5)), null);
  assert.deepEqual([cursors.take(some(6))?.replayed, cursors.take(some(7))?.gap], [true, 0]);
  cursors.settle([BOB], []);
  assert.equal(cursors.take(some(7))?.replayed, false);
});

test("a false recovery empties the position but for what came since, and the next event says so once", () => {
  const cursors = followed();
  cursors.disconnect();
  cursors.ask([BOB]);
  cursors.take(some(30, { site: "lon" }));
  cursors.settle([BOB], [BOB]);
  assert.deepEqual(cursors.snapshot().get(BOB), { point: null, sites: new Map([["lon", [[7, 30]]]]) });
  assert.deepEqual(gaps(cursors, [some(40), some(41)]), [null, 0]);
});

test("first numbers are not named where the answer has not come which would have said that something is missing", () => {
  const cursors = new Cursors();
  cursors.restore(new Map([[BOB, { point: "p1", sites: new Map() }]]));
  cursors.ask([BOB]);
  assert.deepEqual(gaps(cursors, [some(7), some(8)]), [0, 0]);
  cursors.disconnect();
  assert.deepEqual(cursors.position(BOB), { point: "p1", sites: new Map() });
  assert.deepEqual(cursors.snapshot().get(BOB), { point: "p1", sites: new Map() });
  cursors.ask([BOB]);
  assert.equal(cursors.take(some(8)), null);
  cursors.settle([BOB], []);
  assert.deepEqual(cursors.snapshot().get(BOB)?.sites.get("sto"), [[7, 8]]);
});

test("what comes after all in front of first numbers is too late, and the next event says so", () => {
  const cursors = new Cursors();
  cursors.restore(new Map([[BOB, { point: "p1", sites: new Map() }]]));
  cursors.ask([BOB]);
  cursors.take(some(7));
  cursors.disconnect();
  cursors.ask([BOB]);
  assert.deepEqual(gaps(cursors, [some(6), some(7), some(8), some(9)]), [undefined, undefined, null, 0]);
});

test("a gap that no number shows empties the position", () => {
  const cursors = followed();
  cursors.empty([BOB]);
  assert.equal(cursors.snapshot().get(BOB), undefined);
  assert.deepEqual(gaps(cursors, [some(6), some(7)]), [null, 0]);
});

test("without recovery an absence is one uncounted gap", () => {
  const cursors = new Cursors();
  cursors.begin([BOB]);
  cursors.settle([BOB], []);
  cursors.take(some(5));
  cursors.disconnect();
  assert.deepEqual([...cursors.begin([BOB])], [BOB]);
  assert.deepEqual(gaps(cursors, [some(900), some(901)]), [null, 0]);
});

test("positions of another process are gone on from", () => {
  const cursors = new Cursors();
  cursors.restore(followed().snapshot());
  assert.deepEqual(cursors.position(BOB)?.sites.get("sto"), [[7, 5]]);
  assert.deepEqual([...cursors.ask([BOB])], [BOB]);
  cursors.forget([BOB]);
  assert.equal(cursors.size, 0);
});

test("sites, epochs and topics are bounded", () => {
  const cursors = new Cursors();
  for (let site = 0; site <= MAX_SITES; site += 1) cursors.take(some(1, { site: `s${site}` }));
  for (let epoch = 1; epoch <= 9; epoch += 1) cursors.take(some(1, { epoch, site: "s9" }));
  const sites = cursors.snapshot().get(BOB)!.sites;
  assert.deepEqual([sites.size, sites.has("s0"), sites.get("s9")?.length], [MAX_SITES, false, MAX_EPOCHS]);
  for (let topic = 1; topic < MAX_TOPICS; topic += 1) cursors.take(some(1, {}, `t${topic}`));
  assert.deepEqual([cursors.take(some(1, {}, "one more"))?.gap, cursors.size], [null, MAX_TOPICS]);
});
