import assert from "node:assert/strict";
import { test } from "node:test";
import { Misuse, Refused } from "../src/errors.js";
import type { Message } from "../src/messages.js";
import { event, problem, ScriptedServer, welcome, type Peer } from "./support/scripted_server.js";
import { clientOf, collected, next, storeOf } from "./support/listening.js";

const INBOX = "hm://notifications/inbox/alice/";

function stored(mark: number, fields: object = {}): object {
  return { mark, id: `n${mark}`, ts: 5, topic: "t", kind: "album", class: "new-album", payload: {}, types: ["in-client"], ...fields };
}

function live(mark: number, fields: object = {}): Message {
  return event(INBOX, mark, { kind: "notification", id: `n${mark}`, payload: stored(mark, { epoch: 1, ...fields }) });
}

/** A server with `count` notifications, which pulls at hello. */
function keeping(count: number, { user = "alice" } = {}): ScriptedServer & { peer: () => Promise<Peer> } {
  const server = new ScriptedServer();
  const state = { read: 0 };
  const answer = ({ id, since = 0, limit = 50 }: Message): Message => {
    const items = [...Array(count).keys()].map((index) => index + 1).filter((mark) => mark > (since as number)).slice(0, limit as number);
    const last = items.at(-1) ?? count;
    return { op: "notifications", id, items: items.map((mark) => stored(mark)), next: last, more: last < count, epoch: 1, seen: 0, read: state.read, unread: count - state.read };
  };
  server.answers["hello"] = () => welcome({ user });
  server.answers["pull"] = answer;
  server.answers["seen"] = ({ id, mark }) => ({ op: "marks", id, epoch: 1, seen: mark, read: state.read, unread: count - state.read });
  server.answers["read"] = ({ id, mark }) => {
    state.read = (mark as number | undefined) ?? count;
    return { op: "marks", id, epoch: 1, seen: 0, read: state.read, unread: count - state.read };
  };
  const peer = async (): Promise<Peer> => {
    const found = await server.nextPeer();
    found.send(answer({ op: "pull", id: null }));
    return found;
  };
  return Object.assign(server, { peer });
}

test("stored and live notifications are told once, gaps are pulled, and what was told is seen", async () => {
  const server = keeping(2);
  const client = clientOf(server);
  const told = collected(client, "notification");
  await client.connect();
  const peer = await server.peer();
  const third = next(client, "notification", ({ mark }) => mark === 3);
  peer.send(live(3));
  peer.send(live(3));
  await third;
  assert.deepEqual(told.map(({ mark, tsMs, rings }) => [mark, tsMs, rings]), [[1, 5, true], [2, 5, true], [3, 5, true]]);
  assert.equal(client.unread, 3);
  assert.equal((await peer.heard("seen"))["mark"], 3);
  peer.send(live(6));
  assert.equal((await peer.heard("pull"))["since"], 3);
  client.close();
});

test("read tells the server, and what was read elsewhere arrives", async () => {
  const server = keeping(4);
  const client = clientOf(server);
  const marks = collected(client, "marks");
  const first = next(client, "marks");
  await client.connect();
  const peer = await server.peer();
  await first;
  assert.deepEqual(await client.read(3), { epoch: 1, seen: 0, read: 3, unread: 1 });
  const { mark, epoch } = await peer.heard("read");
  assert.deepEqual([mark, epoch], [3, 1]);
  const elsewhere = next(client, "marks", ({ unread }) => unread === 0);
  peer.send(event(INBOX, 9, { kind: "marks", payload: { epoch: 1, read: 4, unread: 0 } }));
  await elsewhere;
  assert.deepEqual([client.readMark, client.unread, marks.map(({ unread }) => unread)], [4, 0, [4, 1, 0]]);
  client.close();
});

test("what is read in one tab is read in the others", async () => {
  const [one, other] = [keeping(2, { user: "tabs" }), keeping(2, { user: "tabs" })];
  const [here, there] = [clientOf(one), clientOf(other)];
  for (const [client, server] of [[here, one], [there, other]] as const) {
    const synced = next(client, "marks");
    await client.connect();
    await server.peer();
    await synced;
  }
  const heard = next(there, "marks", ({ unread }) => unread === 0);
  await here.read();
  assert.deepEqual(await heard, { read: 2, unread: 0 });
  here.close();
  there.close();
});

test("the newest ones are there at once, whether they were seen or not", async () => {
  const server = keeping(70);
  const client = clientOf(server);
  await client.connect();
  assert.deepEqual((await client.recent(3)).map(({ mark }) => mark), [68, 69, 70].slice(-3));
  client.close();
});

test("a site without a notification module says so, and is asked again later", async () => {
  const server = new ScriptedServer();
  server.answers["pull"] = ({ id }) => problem("unavailable", { id });
  const client = clientOf(server, { helloPullMs: 1, backoff: { baseMs: 0.01, capMs: 0.01 } });
  client.on("notification", () => undefined);
  await client.connect();
  const peer = await server.nextPeer();
  await peer.heard("pull");
  await peer.heard("pull");
  await assert.rejects(client.recent(), Refused);
  client.close();
});

test("the next page goes on where this one was", async () => {
  const marks = storeOf();
  const client = clientOf(keeping(0), { marks });
  client.on("notification", () => undefined);
  await client.connect();
  await client.recent();
  client.close();
  marks.text = JSON.stringify({ mark: 5, epoch: 1 });
  const server = keeping(7);
  const again = clientOf(server, { marks });
  const told = collected(again, "notification");
  const last = next(again, "notification", ({ mark }) => mark === 7);
  await again.connect();
  await server.peer();
  await last;
  assert.deepEqual([told.map(({ mark }) => mark), marks.text], [[6, 7], JSON.stringify({ mark: 7, epoch: 1 })]);
  again.close();
  assert.throws(() => clientOf(server, { marks: storeOf("{}") }), Misuse);
});

test("seen by hand must be asked for", async () => {
  const client = clientOf(keeping(1));
  assert.throws(() => client.seen(1), /give the option seenByHand/);
  const server = keeping(3);
  const byHand = clientOf(server, { seenByHand: true });
  const all = next(byHand, "notification", ({ mark }) => mark === 3);
  await byHand.connect();
  const peer = await server.peer();
  await all;
  byHand.seen(2);
  assert.equal((await peer.heard("seen"))["mark"], 2);
  byHand.close();
});
