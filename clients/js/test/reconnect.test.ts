import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/backoff.js";
import { codeOf } from "../src/codes.js";
import { ConnectionLost, Refused } from "../src/errors.js";
import { Reconnect } from "../src/reconnect.js";

function reconnect(renewsToken = false): Reconnect {
  return new Reconnect(["one", "two"], new Backoff({ baseMs: 100, capMs: 1000 }), () => 0.5, { stableMs: 5000, renewsToken });
}

function lost(name?: string, details: object = {}): ConnectionLost {
  return new ConnectionLost("why", { code: name ? codeOf(name) : undefined, ...details });
}

test("each end moves on to the next address, after a delay that grows", () => {
  const found = reconnect();
  const delays = [0, 1, 2].map(() => [found.ended(lost(), 0), found.url]);
  assert.deepEqual(delays, [[50, "two"], [100, "one"], [200, "two"]]);
});

test("a session that lasted resets the delay, and one that was thrown out does not", () => {
  const found = reconnect();
  found.ended(lost(), 0);
  found.welcomed(1000);
  assert.equal(found.ended(lost("slow-consumer"), 2000), 100);
  found.welcomed(3000);
  assert.equal(found.ended(lost("slow-consumer"), 8000), 50);
});

test("a code that forbids coming back is final, and so is an operator's word", () => {
  for (const end of [lost("bad-token"), lost("disconnected", { isFinal: true })]) assert.throws(() => reconnect().ended(end, 0), Refused);
  assert.equal(reconnect().ended(lost("disconnected"), 0), 50);
});

test("an expired token is fetched anew, where it can be and a session had begun", () => {
  assert.throws(() => reconnect().ended(lost("token-expired"), 0), /give the client a function that fetches tokens/);
  assert.throws(() => reconnect(true).ended(lost("token-expired"), 0), Refused);
  const renewing = reconnect(true);
  renewing.welcomed(0);
  assert.equal(renewing.ended(lost("token-expired"), 1), 50);
});

test("a delay that the server asked for is kept, and one for all is spread", () => {
  assert.equal(reconnect().ended(lost("going-away", { retryAfterMs: 700 }), 0), 700);
  assert.equal(reconnect().ended(lost(undefined, { retryAfterMs: 700 }), 0), 750);
});
