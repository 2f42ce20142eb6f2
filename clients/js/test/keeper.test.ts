import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionLost } from "../src/errors.js";
import { BOB, EVE, ScriptedServer, subscribed } from "./support/scripted_server.js";
import { clientOf, collected, next } from "./support/listening.js";

test("connect gives up in the end, and says what happened last", async () => {
  const server = new ScriptedServer();
  server.isDown = true;
  const client = clientOf(server, { openTimeoutMs: 20 });
  await assert.rejects(client.connect(), (error) => error instanceof ConnectionLost && /welcomed us within 20 ms: the connection to ws.* was lost/.test(error.message));
  assert.equal(client.state?.phase, "closed");
});

test("a subscribe that a break interrupts is asked again", async () => {
  const server = new ScriptedServer();
  server.answers["subscribe"] = () => null;
  const client = clientOf(server);
  await client.connect();
  const installed = client.subscribe(BOB);
  const first = await server.nextPeer();
  await first.heard("subscribe");
  server.answers["subscribe"] = (message) => subscribed(message);
  first.drop();
  assert.equal((await installed).installed, "local");
  client.close();
});

test("the token function is called for every connection, and what it raises ends the client", async () => {
  const server = new ScriptedServer();
  let calls = 0;
  const client = clientOf(server, {}, () => {
    if (++calls === 3) throw new Error("no more tokens");
    return `token ${calls}`;
  });
  await client.connect();
  (await server.nextPeer()).drop();
  const second = await server.nextPeer();
  assert.equal(second.hello?.["token"], "token 2");
  const closed = next(client, "state", ({ phase }) => phase === "closed");
  second.drop();
  assert.equal((await closed as { reason: string }).reason, "no more tokens");
  await assert.rejects(client.ping(), /no more tokens/);
});

test("a token that cannot be had at the moment is asked for again", async () => {
  const server = new ScriptedServer();
  let calls = 0;
  const client = clientOf(server, {}, () => {
    if (++calls === 1) throw new ConnectionLost("the token server is away");
    return "secret";
  });
  await client.connect();
  assert.equal(calls, 2);
  client.close();
});

test("what nobody could allow at a reconnect is asked for until somebody can", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  await client.subscribe([BOB, EVE]);
  const codes = ["unavailable", "unavailable", "forbidden"];
  server.answers["subscribe"] = (message) => {
    const code = codes.shift();
    return subscribed(message, { rejected: code ? [{ topic: EVE, code, reason: "" }] : [] });
  };
  (await server.nextPeer()).drop();
  const peer = await server.nextPeer();
  for (const topics of [[BOB, EVE], [EVE], [EVE]]) assert.deepEqual((await peer.heard("subscribe"))["topics"], topics);
  while (client.topics.has(EVE)) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([...client.topics], [BOB]);
  client.close();
});

test("when the network is back, nobody waits for the rest of the delay", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server, { backoff: { baseMs: 60_000, capMs: 60_000 }, random: () => 0.9 });
  const window = new EventTarget();
  Object.assign(globalThis, { addEventListener: window.addEventListener.bind(window), removeEventListener: window.removeEventListener.bind(window) });
  await client.connect();
  const waiting = next(client, "state", ({ phase }) => phase === "waiting");
  (await server.nextPeer()).drop();
  await waiting;
  window.dispatchEvent(new Event("online"));
  await server.nextPeer();
  const states = collected(client, "state");
  client.close();
  window.dispatchEvent(new Event("online"));
  assert.deepEqual(states.map(({ phase }) => phase), ["closed"]);
});

test("an error of the token function ends the client also where a topic is asked for again", { timeout: 10_000 }, async () => {
  const server = new ScriptedServer();
  let calls = 0;
  const client = clientOf(server, {
    subscriptionTokens: () => {
      if (++calls === 3) throw new RangeError("nobody is logged in");
      return [];
    },
  });
  await client.connect();
  await client.subscribe(BOB);
  server.answers["subscribe"] = (message) => subscribed(message, { rejected: [{ topic: BOB, code: "unavailable", reason: "" }] });
  const closed = next(client, "state", ({ phase }) => phase === "closed");
  (await server.nextPeer()).drop();
  await closed;
  await assert.rejects(client.subscribe(EVE), /nobody is logged in/);
});
