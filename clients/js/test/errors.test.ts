import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "../src/codes.js";
import { ConnectionLost, Refused, refusal, SegueError } from "../src/errors.js";

test("a code is found by its name or, failing that, its number", () => {
  assert.deepEqual(codeOf("bad-token"), { number: 4200, name: "bad-token", fatal: true, reconnect: false });
  assert.equal(codeOf("of-tomorrow", 4000)?.name, "going-away");
  assert.equal(codeOf("of-tomorrow", 1006), undefined);
});

test("an error says its code and its reason, and keeps its name in any build", () => {
  const refused = refusal("forbidden", "not for you");
  assert.ok(refused instanceof Refused && refused instanceof SegueError);
  assert.deepEqual([refused.name, refused.message, refused.code.number], ["Refused", "forbidden: not for you", 4204]);
  assert.equal(new ConnectionLost("gone", { code: codeOf("going-away") }).message, "going-away: gone");
});

test("a code of a newer server becomes an internal error with its words", () => {
  assert.equal(refusal("of-tomorrow", "why").message, "internal-error: of-tomorrow: why");
});
