import assert from "node:assert/strict";
import { test } from "node:test";
import { Misuse } from "../src/errors.js";
import { settled } from "../src/options.js";
import { ScriptedServer } from "./support/scripted_server.js";

const { webSocket } = new ScriptedServer();

test("the WebSocket of the platform is used, and where it has none, one must be given", () => {
  const platforms = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  try {
    Object.defineProperty(globalThis, "WebSocket", { value: webSocket, configurable: true });
    assert.equal(settled({}).webSocket, webSocket);
    Object.defineProperty(globalThis, "WebSocket", { value: undefined, configurable: true });
    assert.throws(() => settled({}), /no WebSocket; give one as the option webSocket, as that of ws/);
  } finally {
    if (platforms) Object.defineProperty(globalThis, "WebSocket", platforms);
  }
});

test("what is left out has its default, and what is given holds", () => {
  const settings = settled({ client: "phone-1", heartbeatMs: 7, webSocket });
  assert.deepEqual([settings.client, settings.device, settings.heartbeatMs, settings.stableMs], ["phone-1", "desktop", 7, 5000]);
  assert.equal(settings.webSocket, webSocket);
});

test("a value that cannot work is refused by its name", () => {
  assert.throws(() => settled({ webSocket, answerTimeoutMs: 0 }), /answerTimeoutMs must be more than 0, got 0/);
  assert.throws(() => settled({ webSocket, refreshAt: 1 }), Misuse);
  assert.throws(() => settled({ webSocket, backoff: { baseMs: -1 } }), Misuse);
});
