import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/backoff.js";
import { Misuse } from "../src/errors.js";

test("delays are drawn from an interval that doubles up to a cap", () => {
  const backoff = new Backoff({ baseMs: 100, capMs: 350 });
  assert.deepEqual([0, 1, 2, 2000].map((attempt) => backoff.delayMs(attempt, () => 0.5)), [50, 100, 175, 175]);
  assert.equal(backoff.delayMs(9, () => 0), 0);
});

test("a base of nothing and a cap below the base are refused", () => {
  assert.throws(() => new Backoff({ baseMs: 0 }), Misuse);
  assert.throws(() => new Backoff({ baseMs: 10, capMs: 5 }), /0 < baseMs <= capMs, got 10 and 5/);
});
