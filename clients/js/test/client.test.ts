import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionLost, Misuse, Refused } from "../src/errors.js";
import type { Message } from "../src/messages.js";
import { ALBUMS, BOB, event, EVE, problem, ScriptedServer, subscribed, TIME_MS, welcome } from "./support/scripted_server.js";
import { clientOf, collected, next } from "./support/listening.js";

test("hello says the token and the device, and an event arrives with all its fields", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server, { client: "phone-1", device: "mobile", user: "alice", private: true });
  await client.connect();
  const peer = await server.nextPeer();
  assert.deepEqual(peer.hello, { op: "hello", token: "secret", client: "phone-1", device: "mobile", user: "alice", private: true });
  await client.subscribe(BOB);
  const heard = next(client, "event");
  peer.send(event(BOB, 1));
  assert.equal((await heard).tsMs, TIME_MS);
  client.close();
});

test("subscribe says how far it got, in messages that the server takes", async () => {
  const server = new ScriptedServer();
  server.answers["subscribe"] = (message) => subscribed(message, { installed: "partial", missing_sites: ["lon", "ash"] });
  const client = clientOf(server);
  await client.connect();
  const topics = [1, 2, 3, 4].map((number) => `hm://presence/user/u${number}/`);
  const installed = await client.subscribe(topics, { wait: "all" });
  const peer = await server.nextPeer();
  assert.deepEqual([(await peer.heard("subscribe"))["topics"], (await peer.heard("subscribe"))["topics"]], [topics.slice(0, 3), topics.slice(3)]);
  assert.deepEqual([installed.installed, installed.missingSites], ["partial", ["ash", "lon"]]);
  client.close();
});

test("a topic that is rejected or refused is not followed", async () => {
  const server = new ScriptedServer();
  server.answers["subscribe"] = (message) => subscribed(message, { rejected: [{ topic: EVE, code: "forbidden", reason: "" }] });
  const client = clientOf(server);
  await client.connect();
  await client.subscribe([BOB, EVE]);
  assert.deepEqual([...client.topics], [BOB]);
  server.answers["subscribe"] = ({ id }) => problem("too-many-topics", { id });
  await assert.rejects(client.subscribe([BOB, EVE]), Refused);
  assert.deepEqual([...client.topics], [BOB]);
  client.close();
});

test("a cut connection comes back with its topics, and what was missed meanwhile is told as unknown", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  await client.subscribe([BOB, EVE]);
  const first = await server.nextPeer();
  const before = next(client, "event");
  first.send(event(BOB, 5));
  assert.equal((await before).gap, 0);
  first.drop();
  const peer = await server.nextPeer();
  assert.deepEqual((await peer.heard("subscribe"))["topics"], [BOB, EVE]);
  const after = next(client, "event");
  peer.send(event(BOB, 900));
  assert.equal((await after).gap, null);
  client.close();
});

test("at a server that keeps events, who was away gets them once", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => welcome({ window: { user: { keep: "latest", seconds: 120 } } });
  server.answers["subscribe"] = (message) => ("point" in message ? null : subscribed(message, { recovered: false, lost: [], replayed: 0, point: "p1" }));
  const client = clientOf(server);
  const events = collected(client, "event");
  const gaps = collected(client, "gap");
  await client.connect();
  await client.subscribe(BOB);
  const first = await server.nextPeer();
  const heard = next(client, "event");
  first.send(event(BOB, 5));
  await heard;
  const back = next(client, "state", ({ phase }) => phase === "connected");
  first.drop();
  const peer = await server.nextPeer();
  const asked = await peer.heard("subscribe");
  assert.deepEqual([asked["recover"], asked["point"], asked["since"]], [true, "p1", { [BOB]: { sto: [7, 5] } }]);
  for (const message of [event(BOB, 5), event(BOB, 7, { skipped: 1 })]) peer.send(message);
  peer.send(subscribed(asked, { recovered: true, lost: [], replayed: 1, point: "p2" }));
  const state = await back;
  assert.ok(state.phase === "connected");
  assert.deepEqual([state.installed.recovered, state.installed.replayed, gaps], [true, 1, []]);
  assert.deepEqual(events.map(({ seq, gap, replayed }) => [seq, gap, replayed]), [[5, 0, false], [7, 0, true]]);
  client.close();
});

test("a code that forbids coming back ends the client, and every call says why", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => problem("bad-token");
  const client = clientOf(server);
  const states = collected(client, "state");
  await assert.rejects(client.connect(), (error) => error instanceof Refused && error.code.name === "bad-token");
  await assert.rejects(client.act("play"), Refused);
  await assert.rejects(client.subscribe(BOB), Refused);
  assert.deepEqual(states.map(({ phase }) => phase), ["connecting", "closed"]);
});

test("a node that drains says when to come back, and where the next one is", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server, {}, "secret", ["ws://one", "ws://two"]);
  await client.connect();
  const waiting = next(client, "state", ({ phase }) => phase === "waiting");
  (await server.nextPeer()).fail("going-away", { reconnect_in_ms: 3 });
  assert.deepEqual(await waiting, { phase: "waiting", url: "ws://two/v1/connect", reason: "going-away: because of going-away", retryInMs: 3 });
  assert.equal((await server.nextPeer()).url, "ws://two/v1/connect");
  client.close();
});

test("acts, private sessions, pings, histories and last events are asked for and answered", async () => {
  const server = new ScriptedServer();
  const past = { topic: ALBUMS, ts: 9, id: "e", kind: "album", class: "new-album", payload: {} };
  server.answers["private"] = ({ id, on }) => ({ op: "private", id, on, until_ms: 77 });
  server.answers["history"] = ({ id }) => ({ op: "history", id, topic: ALBUMS, items: [past], next: "older" });
  server.answers["last"] = ({ id, topics }) => ({ op: "last", id, events: [{ ...past, topic: (topics as string[])[0] }] });
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  await client.act("play", { artist: "Björk" });
  const { id: _, ...act } = await peer.heard("act");
  assert.deepEqual(act, { op: "act", kind: "play", artist: "Björk" });
  await assert.rejects(client.act("play", { id: 7 }), Misuse);
  assert.deepEqual([await client.setPrivate(true, { hours: 2 }), await client.ping()], [77, TIME_MS]);
  const page = await client.history(ALBUMS, { before: "newer" });
  assert.deepEqual([page.items[0]?.tsMs, page.next, (await peer.heard("history"))["before"]], [9, "older", "newer"]);
  assert.deepEqual((await client.last([BOB, EVE, "3", "4"])).map(({ topic }) => topic), [BOB, "4"]);
  client.close();
});

test("topics that leave real time, end, or are spoken of to everybody are told", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  await client.subscribe([BOB, EVE]);
  const peer = await server.nextPeer();
  const told = Promise.all([next(client, "offloaded"), next(client, "ended"), next(client, "announcement")]);
  peer.send({ op: "offloaded", epoch: 7, left: [BOB, "hm://presence/user/nobody/"], back: [], every_ms: 500 });
  peer.send({ op: "ended", topics: [{ topic: EVE, code: "forbidden", reason: "why" }] });
  peer.send({ op: "announcement", text: "Back at noon.", time_ms: 5 });
  const [offloaded, ended, announcement] = await told;
  assert.deepEqual([offloaded.everyMs, [...client.offloaded]], [500, [BOB]]);
  assert.deepEqual([ended.topics[0]?.reason, [...client.topics]], ["why", [BOB]]);
  assert.deepEqual(announcement, { text: "Back at noon.", data: {}, timeMs: 5 });
  const lost = next(client, "state", ({ phase }) => phase === "waiting");
  peer.drop();
  await lost;
  assert.equal(client.offloaded.size, 0);
  client.close();
});

test("subscription tokens go with each subscribe, also after a reconnect", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server, { subscriptionTokens: async (topics) => topics.map((topic) => `for ${topic}`) });
  await client.connect();
  await client.subscribe(BOB);
  const first = await server.nextPeer();
  assert.deepEqual((await first.heard("subscribe"))["tokens"], [`for ${BOB}`]);
  first.drop();
  assert.deepEqual((await (await server.nextPeer()).heard("subscribe"))["tokens"], [`for ${BOB}`]);
  client.close();
});

test("a client that is closed says so, and one that was never connected, too", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await assert.rejects(client.subscribe(BOB), /call connect\(\) first/);
  await client.connect();
  const peer = await server.nextPeer();
  const closed = next(client, "state", ({ phase }) => phase === "closed");
  client.close();
  client.close();
  assert.deepEqual([(await closed as { reason: string }).reason, peer.isGone], ["", true]);
  await assert.rejects(client.act("play"), /the client is closed/);
  await assert.rejects(client.connect(), /a Client connects once/);
});

test("no event of a topic comes after unsubscribe, which is done also without a connection", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server, { backoff: { baseMs: 60_000, capMs: 60_000 }, random: () => 0.9 });
  await client.connect();
  await client.subscribe([BOB, EVE]);
  const peer = await server.nextPeer();
  await client.unsubscribe(EVE);
  assert.deepEqual((await peer.heard("unsubscribe"))["topics"], [EVE]);
  const waiting = next(client, "state", ({ phase }) => phase === "waiting");
  peer.drop();
  await waiting;
  await client.unsubscribe(BOB);
  await assert.rejects(client.act("play"), ConnectionLost);
  assert.equal(client.topics.size, 0);
  client.close();
});

test("what is given up while a call waits for a connection is not asked for then", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  const waiting = next(client, "state", ({ phase }) => phase === "waiting");
  server.isDown = true;
  peer.drop();
  await waiting;
  const calls = [client.subscribe([BOB, EVE]), client.follow("friends")];
  await client.unsubscribe(BOB);
  await client.unfollow("friends");
  server.isDown = false;
  const asked: Message[] = [];
  server.answers["subscribe"] = (message) => (asked.push(message), subscribed(message));
  await Promise.all(calls);
  client.close();
  assert.deepEqual([...new Set(asked.map(({ topics, follow }) => JSON.stringify([topics, follow ?? null])))], [JSON.stringify([[EVE], null])]);
});

test("no part of a subscribe that is refused is asked for behind its unsubscribe: its events would come", async () => {
  const server = new ScriptedServer();
  server.answers["hello"] = () => welcome({ window: { user: {} } });
  server.answers["subscribe"] = () => null;
  const ops: string[] = [];
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  server.answers["unsubscribe"] = ({ op, id }) => (ops.push(op), { op: "unsubscribed", id });
  const subscribing = assert.rejects(client.subscribe(Array.from({ length: 30 }, (_, number) => `hm://presence/user/u${number}/`)), Refused);
  peer.send(problem("too-many-topics", { id: (await peer.heard("subscribe")).id }));
  await client.ping(); // the refusal has come
  for (let answered = 1; answered < 10; answered += 1) {
    const asked = await peer.heard("subscribe");
    ops.push(asked.op);
    peer.send(subscribed(asked));
  }
  await subscribing;
  assert.deepEqual(ops, [...Array<string>(9).fill("subscribe"), ...Array<string>(10).fill("unsubscribe")]);
  assert.equal(client.topics.size, 0);
  client.close();
});

test("a complaint that nobody waits for is told on the console", async (context) => {
  const warn = context.mock.method(console, "warn", () => undefined);
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  peer.send(problem("unavailable") as Message);
  await client.ping();
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /unavailable: because of unavailable/);
  client.close();
});
