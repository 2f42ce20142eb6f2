import assert from "node:assert/strict";
import { test } from "node:test";
import { InboxView } from "../src/inbox_view.js";
import type { NotificationPage, SegueNotification } from "../src/notifications.js";

function item(mark: number, fields: Partial<SegueNotification> = {}): SegueNotification {
  const base = { mark, id: `n${mark}`, topic: "t", kind: "album", class: "new-album", tsMs: 5, payload: {}, types: ["in-client"] };
  return { ...base, read: false, archived: false, rings: true, ...fields };
}

function viewed(...marks: readonly number[]): InboxView {
  const view = new InboxView();
  view.loaded(page(marks), false, true);
  return view;
}

function page(marks: readonly number[], fields: Partial<NotificationPage> = {}): NotificationPage {
  return { items: marks.map((mark) => item(mark)), next: null, seen: 0, read: 0, unread: 0, epoch: 1, changed: 10, ...fields };
}

const marksOf = (view: InboxView): number[] => view.select().map(({ mark }) => mark);

test("numbers of another epoch make the view stale, until it is loaded anew", () => {
  const view = viewed(2, 1);
  view.heard({ epoch: 2, items: [item(3)] });
  assert.deepEqual([view.isStale, marksOf(view)], [true, [2, 1]]);
  view.loaded(page([3], { epoch: 2 }), false, false);
  assert.equal(view.isStale, true);
  view.loaded(page([3], { epoch: 2 }), false, true);
  assert.deepEqual([view.isStale, marksOf(view)], [false, [3]]);
});

test("a late copy of what was deleted is not shown, and an old change says nothing", () => {
  const view = viewed(2, 1);
  view.heard({ epoch: 1, changed: 20, after: 10, action: "delete", marks: [3] });
  view.heard({ epoch: 1, items: [item(3)] });
  view.heard({ epoch: 1, changed: 15, after: 10, action: "archive", marks: [1] });
  assert.deepEqual([view.isStale, marksOf(view)], [false, [2, 1]]);
});

test("what is taken out of the archive elsewhere, and is not loaded, is loaded", () => {
  const view = viewed(2);
  view.heard({ epoch: 1, changed: 20, after: 10, action: "unarchive", marks: [1] });
  assert.equal(view.isStale, true);
});

test("a change of this device shows at once, unless others have changed the same since", () => {
  const view = viewed(2, 1);
  view.done("archive", [2], 20);
  assert.deepEqual(marksOf(view), [1]);
  view.heard({ epoch: 1, changed: 20, after: 10, action: "archive", marks: [2] });
  view.heard({ epoch: 1, changed: 30, after: 20, action: "unarchive", marks: [2] });
  view.done("archive", [2], 20);
  assert.deepEqual(marksOf(view), [2, 1]);
});

test("all words are looked for in texts and numbers, in any case", () => {
  const view = viewed();
  view.heard({ epoch: 1, items: [item(1, { payload: { artist: "Björk", year: 1997 } }), item(2, { class: "new-track", read: true })] });
  assert.deepEqual(["BJÖRK 1997", "björk 1998", "artist"].map((text) => view.select({ text }).length), [1, 0, 0]);
  assert.deepEqual([view.select({ class: "new-track" }).length, view.select({ unread: true }).length], [1, 1]);
});
