import assert from "node:assert/strict";
import { test } from "node:test";
import { PlaylistReplica } from "../src/playlist_replica.js";
import type { PlaylistClient } from "../src/playlists.js";
import { clientOf, next } from "./support/listening.js";
import { event, MIX, ScriptedServer } from "./support/scripted_server.js";

const DEADLINE = { timeout: 10_000 };

const SERVICE = {
  get: () => Promise.resolve({ version: 1, name: "Mix", collaborative: false, tracks: ["t1"] }),
} as unknown as PlaylistClient;

test("two replicas of a playlist follow it until both are closed", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  const [one, other] = [new PlaylistReplica(client, SERVICE, "bob", "mix"), new PlaylistReplica(client, SERVICE, "bob", "mix")];
  await one.open();
  await other.open();
  await one.close();
  assert.deepEqual([...client.topics], [MIX]);
  const changed = new Promise((resolve) => other.on("change", resolve));
  peer.send(event(MIX, 1, { kind: "playlist", payload: { version: 2, change: { op: "add", tracks: ["t2"], position: 1 } } }));
  await changed;
  assert.deepEqual([one.tracks, other.tracks], [["t1"], ["t1", "t2"]]);
  await other.close();
  await other.close();
  assert.deepEqual([...client.topics], []);
  client.close();
});

test("a topic that the application follows itself is followed when its replica is closed", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  await client.subscribe(MIX);
  const replica = new PlaylistReplica(client, SERVICE, "bob", "mix");
  await replica.open();
  await replica.close();
  assert.deepEqual([...client.topics], [MIX]);
  client.close();
});

test("replicas go on when their owner is a friend no longer", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  await client.follow("friends");
  const befriended = next(client, "friends");
  peer.send({ op: "followed", topics: [MIX], left: [] });
  await befriended;
  const [one, other] = [new PlaylistReplica(client, SERVICE, "bob", "mix"), new PlaylistReplica(client, SERVICE, "bob", "mix")];
  await one.open();
  await other.open();
  peer.send({ op: "followed", topics: [], left: [MIX] });
  while ((await peer.heard("subscribe"))["lasting"] !== false);
  await client.ping();
  await one.close();
  assert.deepEqual([...client.topics], [MIX]);
  await other.close();
  assert.deepEqual([...client.topics], []);
  client.close();
});

for (const follows of [true, false]) {
  test(`replicas go on when the application unsubscribes their playlist, which it ${follows ? "followed" : "did not follow"}`, DEADLINE, async () => {
    const server = new ScriptedServer();
    const client = clientOf(server);
    await client.connect();
    const peer = await server.nextPeer();
    if (follows) await client.subscribe(MIX);
    const [one, other] = [new PlaylistReplica(client, SERVICE, "bob", "mix"), new PlaylistReplica(client, SERVICE, "bob", "mix")];
    await one.open();
    await other.open();
    await client.unsubscribe(MIX);
    await peer.heard("unsubscribe");
    assert.equal((await peer.heard("subscribe"))["lasting"], false);
    await client.ping();
    await one.close();
    assert.deepEqual([...client.topics], [MIX]);
    const changed = new Promise((resolve) => other.on("change", resolve));
    peer.send(event(MIX, 1, { kind: "playlist", payload: { version: 2, change: { op: "add", tracks: ["t2"], position: 1 } } }));
    await changed;
    assert.deepEqual(other.tracks, ["t1", "t2"]);
    await other.close();
    assert.deepEqual([...client.topics], []);
    client.close();
  });
}

test("a topic that the application follows since is followed when its replica is closed", async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const replica = new PlaylistReplica(client, SERVICE, "bob", "mix");
  await replica.open();
  await client.subscribe(MIX);
  await replica.close();
  assert.deepEqual([...client.topics], [MIX]);
  client.close();
});

test("a replica whose client is closed while it follows its playlist anew raises nothing", DEADLINE, async () => {
  const server = new ScriptedServer();
  const client = clientOf(server);
  await client.connect();
  const peer = await server.nextPeer();
  await client.subscribe(MIX);
  const replica = new PlaylistReplica(client, SERVICE, "bob", "mix");
  await replica.open();
  server.answers["subscribe"] = () => null;
  await client.unsubscribe(MIX);
  while ((await peer.heard("subscribe"))["lasting"] !== false);
  client.close();
  await new Promise((resolve) => setImmediate(resolve)); // what nobody handles fails the test
});
