import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Client } from "../src/client.js";
import type { Token } from "../src/token.js";
import { problem, ScriptedServer, TIME_MS, welcome, type Peer } from "./support/scripted_server.js";
import { clientOf, next } from "./support/listening.js";

/** Returns a client whose token lives ten seconds, and its server's side. Time stands still. */
async function connected(context: TestContext, server: ScriptedServer, token: Token): Promise<[Client, Peer]> {
  server.answers["hello"] = () => welcome({ expires_ms: TIME_MS + 10_000 });
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const client = clientOf(server, { random: () => 0, heartbeatMs: 1e9 }, token);
  const told = next(client, "state", ({ phase }) => phase === "connected");
  await client.connect();
  await told;
  return [client, await server.nextPeer()];
}

test("another token is brought when most of its life is over, and again", async (context) => {
  const server = new ScriptedServer();
  server.answers["refresh"] = ({ id }) => ({ op: "refreshed", id, expires_ms: TIME_MS + 20_000 });
  let calls = 0;
  const [client, peer] = await connected(context, server, () => `token ${++calls}`);
  context.mock.timers.tick(7_999);
  assert.equal(calls, 1);
  context.mock.timers.tick(1);
  assert.equal((await peer.heard("refresh"))["token"], "token 2");
  await client.ping();
  context.mock.timers.tick(16_000);
  assert.equal((await peer.heard("refresh"))["token"], "token 3");
  client.close();
});

test("a refusal is tried again, and what the function raises ends the client", async (context) => {
  const server = new ScriptedServer();
  server.answers["refresh"] = ({ id }) => problem("unavailable", { id });
  let calls = 0;
  const [client, peer] = await connected(context, server, () => {
    if (++calls === 3) throw new Error("no more tokens");
    return "secret";
  });
  const closed = next(client, "state", ({ phase }) => phase === "closed");
  context.mock.timers.tick(8_000);
  await peer.heard("refresh");
  await client.ping();
  context.mock.timers.tick(1_000);
  assert.equal((await closed as { reason: string }).reason, "no more tokens");
});

test("a token that is a text is not refreshed", async (context) => {
  const server = new ScriptedServer();
  const asked: unknown[] = [];
  server.answers["refresh"] = (message) => void asked.push(message) as unknown as null;
  const [client] = await connected(context, server, "secret");
  context.mock.timers.tick(60_000);
  await client.ping();
  assert.deepEqual(asked, []);
  client.close();
});
