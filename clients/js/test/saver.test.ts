import assert from "node:assert/strict";
import { test } from "node:test";
import { Misuse } from "../src/errors.js";
import { Cursors } from "../src/cursors.js";
import { eventOf } from "../src/messages.js";
import { PositionSaver } from "../src/saver.js";
import { BOB, event, ScriptedServer, subscribed, TIME_MS, welcome } from "./support/scripted_server.js";
import { clientOf, next, storeOf } from "./support/listening.js";

const DEADLINE = { timeout: 10_000 };

function keeping(server: ScriptedServer): ScriptedServer {
  server.answers["hello"] = () => welcome({ window: { user: {} } });
  server.answers["subscribe"] = (message) => subscribed(message, { recovered: true, point: "p1" });
  return server;
}

/** Returns when `store` has a text that matches. */
async function saved(store: ReturnType<typeof storeOf>, pattern: RegExp): Promise<void> {
  if (pattern.test(store.text ?? "")) return;
  await new Promise<void>((resolve) => {
    const save = store.save;
    store.save = (text) => {
      save.call(store, text);
      if (pattern.test(text)) resolve();
    };
  });
}

test("the next client goes on where this one was", async () => {
  const server = keeping(new ScriptedServer());
  const store = storeOf();
  const client = clientOf(server, { positions: store });
  await client.connect();
  await client.subscribe(BOB);
  const heard = next(client, "event");
  (await server.nextPeer()).send(event(BOB, 5));
  await heard;
  client.close();
  const again = clientOf(server, { positions: store });
  await again.connect();
  assert.equal((await again.subscribe(BOB)).recovered, true);
  const asked = await (await server.nextPeer()).heard("subscribe");
  assert.deepEqual([asked["point"], asked["since"]], ["p1", { [BOB]: { sto: [7, 5] } }]);
  again.close();
});

test("a point that a ping brings is saved: of a quiet topic nothing else says how far it has come", DEADLINE, async () => {
  const server = keeping(new ScriptedServer());
  const store = storeOf();
  const client = clientOf(server, { positions: store, positionsEveryMs: 1 });
  await client.connect();
  await client.subscribe(BOB);
  await saved(store, /"p1"/);
  server.answers["ping"] = () => ({ op: "pong", time_ms: TIME_MS, point: "p2" });
  await client.ping();
  await saved(store, /"p2"/);
  client.close();
});

test("what the user may not see any more is taken out of the store", DEADLINE, async () => {
  const server = keeping(new ScriptedServer());
  const store = storeOf();
  const client = clientOf(server, { positions: store, positionsEveryMs: 1 });
  await client.connect();
  await client.subscribe(BOB);
  await saved(store, /user\/bob/);
  (await server.nextPeer()).send({ op: "ended", topics: [{ topic: BOB, code: "forbidden", reason: "" }] });
  await saved(store, /"topics":\[\]/);
  client.close();
});

test("positions of another user end the client", async () => {
  const store = storeOf(JSON.stringify({ version: 1, user: "bob", topics: [] }));
  await assert.rejects(clientOf(keeping(new ScriptedServer()), { positions: store }).connect(), /holds those of bob, and this client is alice/);
  assert.throws(() => clientOf(new ScriptedServer(), { positions: storeOf("{") }), Misuse);
});

test("they are saved at most once in a while, and only when they have changed", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const store = storeOf();
  const save = context.mock.method(store, "save");
  const cursors = new Cursors();
  const saver = new PositionSaver(store, cursors, 1000);
  saver.belong("alice");
  for (let seq = 1; seq < 4; seq += 1) {
    cursors.take(eventOf(event(BOB, seq)));
    saver.touch();
  }
  context.mock.timers.tick(1000);
  saver.touch();
  context.mock.timers.tick(1000);
  assert.equal(save.mock.callCount(), 1);
});

test("a store that fails is told, and tried again", (context) => {
  const warn = context.mock.method(console, "warn", () => undefined);
  const store = storeOf();
  const save = context.mock.method(store, "save", () => {
    throw new Error("full");
  });
  const cursors = new Cursors();
  const saver = new PositionSaver(store, cursors, 1000);
  saver.belong("alice");
  cursors.take(eventOf(event(BOB, 1)));
  saver.save();
  saver.save();
  assert.deepEqual([save.mock.callCount(), warn.mock.callCount()], [2, 2]);
});
