import assert from "node:assert/strict";
import { test } from "node:test";
import { fresh, refreshDelayMs } from "../src/token.js";

test("a token comes as it is, from a function, or from a promise", async () => {
  assert.deepEqual(await Promise.all([fresh("a"), fresh(() => "b"), fresh(async () => "c")]), ["a", "b", "c"]);
});

test("it is replaced after a part of its life, a little earlier by chance, and no timer overflows", () => {
  assert.equal(refreshDelayMs(1000, 0.8, () => 0), 800);
  assert.equal(refreshDelayMs(1000, 0.8, () => 0.5), 760);
  assert.equal(refreshDelayMs(-5, 0.8, () => 0), 0);
  assert.equal(refreshDelayMs(1e12, 0.8, () => 0), 604_800_000);
});
