import assert from "node:assert/strict";
import { test } from "node:test";
import { Bell, PAGE, type Place } from "../src/bell.js";
import { notificationOf, pulledOf, type Pulled, type SegueNotification } from "../src/notifications.js";

function item(mark: number, fields: object = {}): SegueNotification {
  return notificationOf({ mark, id: `n${mark}`, ts: 1, types: ["in-client"], ...fields });
}

function pulled(marks: number[], fields: object = {}): Pulled {
  return { ...pulledOf({ op: "notifications", next: marks.at(-1) ?? 0 }), items: marks.map((mark) => item(mark)), ...fields };
}

/** Returns a bell that is connected and has everything up to mark 2 of the epoch 1. */
function synced(place?: Place, options: object = {}): Bell {
  const bell = new Bell({ seenByHand: false, seenEveryMs: 1000, helloPullMs: 5000, ...options }, place);
  bell.connected(0);
  bell.pulled(pulled([1, 2], { epoch: 1, unread: 2 }));
  return bell;
}

function marks(items: SegueNotification[]): number[] {
  return items.map(({ mark }) => mark);
}

test("what comes right after is given out once, and counted", () => {
  const bell = synced();
  assert.deepEqual(marks(bell.take()), [1, 2]);
  bell.live(item(3), 1);
  bell.live(item(3), 1);
  bell.live(item(4, { types: ["push"] }), 1);
  assert.deepEqual([marks(bell.take()), bell.unread, bell.held, bell.pullDue(0)], [[3, 4], 3, 4, undefined]);
});

test("a gap is pulled from where it begins", () => {
  const bell = synced();
  bell.live(item(9), 1);
  assert.deepEqual(bell.pullDue(0), { since: 2, epoch: 1, limit: PAGE });
  bell.pulled(pulled([3, 4], { epoch: 1, more: true, next: 4 }), { since: 2, limit: PAGE });
  assert.deepEqual(bell.pullDue(0)?.since, 4);
  bell.pulled(pulled([9], { epoch: 1 }), { since: 4, limit: PAGE });
  assert.deepEqual([marks(bell.take()), bell.pullDue(0)], [[1, 2, 3, 4, 9], undefined]);
});

test("an access point that pulls nothing at hello is asked after a while", () => {
  const bell = new Bell({ seenByHand: false, seenEveryMs: 1000, helloPullMs: 5000 });
  bell.connected(100);
  assert.deepEqual([bell.nextDueMs(), bell.pullDue(5099), bell.pullDue(5100)], [5100, undefined, { limit: PAGE }]);
});

test("the seen mark is told at most once in a while, and again after a reconnect", () => {
  const bell = synced();
  assert.equal(bell.seenDue(0), 2);
  bell.live(item(3), 1);
  assert.deepEqual([bell.seenDue(999), bell.nextDueMs(), bell.seenDue(1000)], [undefined, 1000, 3]);
  bell.lost();
  bell.connected(2000);
  bell.pulled(pulled([], { epoch: 1, seen: 0, next: 3 }));
  assert.equal(bell.seenDue(2000), 3);
});

test("by hand, nothing is seen that the application has not dealt with", () => {
  const bell = synced(undefined, { seenByHand: true });
  assert.deepEqual([bell.seen, bell.seenDue(0)], [0, undefined]);
  bell.see(1);
  bell.see(9);
  assert.equal(bell.seenDue(0), 2);
});

test("the read mark only rises, and what was read elsewhere counts here", () => {
  const bell = synced();
  bell.readElsewhere({ read: 2, unread: 0, epoch: 1 });
  bell.readElsewhere({ read: 1, unread: 1, epoch: 1 });
  assert.deepEqual([bell.read, bell.unread], [2, 0]);
});

test("a count that may be old is asked for again", () => {
  const bell = synced();
  bell.live(item(3), 1);
  bell.marked({ seen: 2, read: 2, unread: 0, epoch: 1 }, 2);
  assert.equal(bell.pullDue(2000)?.since, 3);
});

test("marks of another epoch lead to a pull, and its reset begins anew without repeating what was shown", () => {
  const bell = synced();
  bell.take();
  bell.live(item(3), 7);
  const pull = bell.pullDue(0);
  assert.deepEqual(pull, { since: 2, epoch: 1, limit: PAGE });
  bell.pulled(pulled([1, 2, 3], { epoch: 7, reset: true }), pull);
  assert.deepEqual([marks(bell.take()), bell.epoch, bell.held], [[3], 7, 3]);
});

test("a device goes on where it stood, and what the server began elsewhere is pulled", () => {
  const bell = new Bell({ seenByHand: false, seenEveryMs: 1000, helloPullMs: 5000 }, { mark: 5, epoch: 1 });
  bell.connected(0);
  bell.pulled(pulled([8], { epoch: 1, seen: 7 }));
  assert.deepEqual([marks(bell.take()), bell.pullDue(0)?.since], [[], 5]);
});

test("what the server could not answer is asked again later", () => {
  const bell = synced();
  bell.failed(700);
  assert.deepEqual([bell.pullDue(699), bell.pullDue(700)?.since], [undefined, 2]);
});
