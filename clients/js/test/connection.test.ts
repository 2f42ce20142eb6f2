import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../src/connection.js";
import { ConnectionLost, ProtocolError, Refused } from "../src/errors.js";
import type { Message } from "../src/messages.js";
import { settled } from "../src/options.js";
import { Recoverer } from "../src/recoverer.js";
import { BOB, problem, ScriptedServer, subscribed, URL, welcome } from "./support/scripted_server.js";

function opened(server: ScriptedServer, deliver: (message: Message) => void = () => undefined, recoverer = new Recoverer()): Connection {
  return new Connection(URL, { token: "secret" }, settled({ webSocket: server.webSocket, answerTimeoutMs: 1000, heartbeatMs: 500 }), recoverer, deliver);
}

async function ended(connection: Connection): Promise<string> {
  return (await connection.ended.promise).message;
}

test("a server that does not welcome us in time is lost", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const server = new ScriptedServer();
  server.answers["hello"] = () => null;
  const connection = opened(server);
  await server.nextPeer();
  context.mock.timers.tick(1000);
  await assert.rejects(connection.welcomed.promise, /did not welcome us within 1000 ms/);
});

test("one that is silent is lost, and one that answers pings is not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const server = new ScriptedServer();
  const connection = opened(server);
  await connection.welcomed.promise;
  const peer = await server.nextPeer();
  for (let beat = 0; beat < 3; beat += 1) {
    context.mock.timers.tick(500);
    await peer.heard("ping");
    await connection.ping();
  }
  server.answers["ping"] = () => null;
  context.mock.timers.tick(500);
  context.mock.timers.tick(500);
  assert.match(await ended(connection), /nothing was heard from ws:.* for 500 ms/);
});

test("what is no welcome ends it", async () => {
  for (const answer of [{ op: "pong" }, problem("bad-token")]) {
    const server = new ScriptedServer();
    server.answers["hello"] = () => answer;
    await assert.rejects(opened(server).welcomed.promise, ConnectionLost);
  }
});

test("calls find their answers by id, and hear of refusals, other ops and the end", async () => {
  const server = new ScriptedServer();
  server.answers["history"] = () => null;
  server.answers["act"] = ({ id }) => problem("bad-field", { id });
  server.answers["private"] = ({ id }) => ({ op: "ok", id });
  const connection = opened(server);
  await connection.welcomed.promise;
  const waiting = connection.call("history", { op: "history" });
  await assert.rejects(connection.call("ok", { op: "act" }), Refused);
  await assert.rejects(connection.call("private", { op: "private" }), ProtocolError);
  (await server.nextPeer()).drop();
  await assert.rejects(waiting, ConnectionLost);
  await assert.rejects(connection.call("ok", { op: "act" }), ConnectionLost);
  await assert.rejects(connection.ping(), ConnectionLost);
});

test("a recovering server gets eight subscribes at once, and the next when one is answered", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => welcome({ window: { user: {} }, limits: { topics_per_message: 1 } });
  const held: Message[] = [];
  server.answers["subscribe"] = (message) => void held.push(message) as unknown as null;
  const connection = opened(server);
  await connection.welcomed.promise;
  const peer = await server.nextPeer();
  const installed = connection.subscribe([...Array(10).keys()].map((number) => `hm://presence/user/u${number}/`), "local");
  await connection.ping();
  assert.equal(held.length, 8);
  for (let answered = 0; answered < 10; answered += 1) {
    peer.send(subscribed(held[answered]!, { recovered: true, lost: [], point: "p" }));
    await connection.ping();
  }
  assert.deepEqual([(await installed).installed, held.length], ["local", 10]);
  connection.end(new ConnectionLost("done"));
});

test("positions that a server does not take are left out, and the subscribe is asked once more", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => welcome({ window: { user: {} } });
  server.answers["subscribe"] = (message) => ("since" in message ? problem("bad-field", { id: message.id }) : subscribed(message));
  const recoverer = new Recoverer();
  recoverer.cursors.restore(new Map([[BOB, { point: null, sites: new Map([["sto", [[7, 5]] as const]]) }]]));
  const told: string[] = [];
  const connection = opened(server, ({ op }) => told.push(op), recoverer);
  await connection.welcomed.promise;
  assert.deepEqual((await connection.subscribe([BOB], "local")).lost, [{ topic: BOB, reason: "expired" }]);
  assert.deepEqual(told, ["gap"]);
  connection.end(new ConnectionLost("done"));
});

test("pings ask for a point where there are any, and it moves positions", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => welcome({ window: { user: {} } });
  server.answers["ping"] = (message) => ({ op: "pong", time_ms: 1, point: message["point"] ? "p5" : null });
  const recoverer = new Recoverer();
  const connection = opened(server, undefined, recoverer);
  await connection.welcomed.promise;
  await connection.subscribe([BOB], "local");
  await connection.ping();
  assert.equal(recoverer.cursors.snapshot().get(BOB)?.point, "p5");
  connection.end(new ConnectionLost("done"));
});
