import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionLost } from "../src/errors.js";
import { Connection } from "../src/connection.js";
import { settled } from "../src/options.js";
import { Recoverer } from "../src/recoverer.js";
import { ScriptedServer, URL, type Peer } from "./support/scripted_server.js";

/** Returns how a connection ends to which the server does `what`. */
async function endOf(what: (peer: Peer) => void): Promise<ConnectionLost> {
  const server = new ScriptedServer();
  const connection = new Connection(URL, {}, settled({ webSocket: server.webSocket }), new Recoverer(), () => undefined);
  await connection.welcomed.promise;
  what(await server.nextPeer());
  return await connection.ended.promise;
}

test("frames that segue.v1 does not have end the connection", async () => {
  assert.match((await endOf((peer) => peer.send(new ArrayBuffer(1)))).message, / sent a binary frame$/);
  assert.match((await endOf((peer) => peer.send("{"))).message, /not JSON/);
  assert.match((await endOf((peer) => peer.send({ op: "welcome" }))).message, /second welcome/);
});

test("a close has its code, with the server's words or ours", async () => {
  const slow = await endOf((peer) => peer.close(4001));
  assert.deepEqual([slow.code?.name, slow.reason], ["slow-consumer", "slow-consumer"]);
  assert.equal((await endOf((peer) => peer.close(4001, "read faster"))).reason, "read faster");
  assert.match((await endOf((peer) => peer.close(1011))).reason, /closed the connection \(1011\)/);
  assert.match((await endOf((peer) => peer.drop())).reason, /was lost, or never came about/);
});

test("an error that is fatal says more than the close after it", async () => {
  const lost = await endOf((peer) => peer.fail("going-away", { reconnect_in_ms: 250, reconnect: false }));
  assert.deepEqual([lost.code?.name, lost.retryAfterMs, lost.isFinal], ["going-away", 250, true]);
});

test("an event with an unknown op and one without a payload do no harm", async () => {
  const lost = await endOf((peer) => {
    peer.send({ op: "of-tomorrow", id: 7 });
    peer.close(4000);
  });
  assert.equal(lost.code?.name, "going-away");
});
