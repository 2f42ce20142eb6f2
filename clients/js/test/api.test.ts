import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { Api } from "../src/api.js";
import { ConnectionLost, Misuse, ProtocolError, Refused } from "../src/errors.js";
import type { NotificationPreferences } from "../src/preferences.js";

interface Heard {
  readonly asked: string;
  readonly token: string | undefined;
  readonly body: unknown;
}

/** A service on the loopback that answers what a test says, one answer a request. */
let server: Server;
let url = "";
let heard: Heard[] = [];
let answers: { status?: number; body?: unknown; text?: string; after?: string }[] = [];

before(async () => {
  server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    heard.push({ asked: `${request.method} ${request.url}`, token: request.headers.authorization, body: body ? JSON.parse(body) : null });
    const { status = 200, body: said, text, after } = answers.shift() ?? {};
    response.writeHead(status, after ? { "Retry-After": after } : {}).end(text ?? (said === undefined ? "" : JSON.stringify(said)));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());
beforeEach(() => {
  heard = [];
  answers = [];
});

function api(urls: string | string[] = url): Api {
  return new Api(urls, () => "secret");
}

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const each: T[] = [];
  for await (const one of found) each.push(one);
  return each;
}

test("lists are fetched page by page, with the user's token", async () => {
  answers = [{ body: { friends: [{ user: "bob", mutual: true }], next: "bob" } }, { body: { friends: [{ user: "eve", mutual: false }], next: null } }];
  assert.deepEqual(await all(api().social.friends()), [{ user: "bob", mutual: true }, { user: "eve", mutual: false }]);
  answers = [{ body: { followers: [{ user: "cyd", mutual: false }], next: null } }];
  assert.deepEqual(await all(api().social.followers()), [{ user: "cyd", mutual: false }]);
  assert.equal(heard.pop()?.asked, "GET /v1/social/followers?after=");
  assert.deepEqual(heard.map(({ asked, token }) => [asked, token]), [["GET /v1/social/friends?after=", "Bearer secret"], ["GET /v1/social/friends?after=bob", "Bearer secret"]]);
});

test("a list without an end is no list of ours", async () => {
  answers = [{ body: { blocked: ["a"], next: "a" } }, { body: { blocked: ["a"], next: "a" } }];
  await assert.rejects(all(api().social.blocks()), ProtocolError);
});

test("a playlist is made, changed, followed and deleted", async () => {
  const mix = { topic: "t", owner: "ann", id: "mix", version: 1, name: "Mix", collaborative: false, tracks: [], changed_ms: 5 };
  answers = [{ status: 201, body: mix }, { body: { version: 2 } }, { body: { version: 3 } }, { status: 204 }, { status: 204 }];
  const { playlists } = api();
  assert.equal((await playlists.create("Mix", { id: "mix" })).changedMs, 5);
  assert.equal(await playlists.add("ann", "mix", ["t1"]), 2);
  assert.equal(await playlists.reorder("ann", "mix", 2, 0, { version: 2 }), 3);
  await playlists.follow("ann", "a/b");
  await playlists.delete("ann", "mix", { version: 3 });
  assert.deepEqual(heard.map(({ asked, body }) => [asked, body]), [
    ["POST /v1/playlists", { name: "Mix", id: "mix", tracks: [], collaborative: false }],
    ["POST /v1/playlists/ann/mix/changes", { change: { op: "add", tracks: ["t1"] } }],
    ["POST /v1/playlists/ann/mix/changes", { change: { op: "reorder", position: 2, to: 0, count: 1 }, version: 2 }],
    ["PUT /v1/playlists/ann/a%2Fb/follow", null],
    ["DELETE /v1/playlists/ann/mix?version=3", null],
  ]);
});

test("preferences go as they came, under the names of the service", async () => {
  const held = { email: null, channels: { "new-track": { email: false } }, muted: [], tz: "UTC", quiet: { from: "22:00", to: "07:00" }, digest: "off", digest_at: "08:00", digest_day: "monday" };
  answers = [{ body: held }, { body: held }, { body: { devices: [{ endpoint: "e" }] } }, { body: { key: "k" } }, { status: 204 }];
  const { settings } = api();
  const found: NotificationPreferences = await settings.preferences();
  assert.deepEqual([found.digestAt, found.quiet?.from, found.channels["new-track"]], ["08:00", "22:00", { email: false }]);
  await settings.setPreferences(found);
  assert.deepEqual(heard[1]?.body, held);
  assert.deepEqual([await settings.devices(), await settings.pushKey()], [[{ endpoint: "e" }], "k"]);
  await settings.removeDevice("https://push?a=b");
  assert.equal(heard.at(-1)?.asked, "DELETE /v1/me/devices?endpoint=https%3A%2F%2Fpush%3Fa%3Db");
});

test("artists, links, privacy and why are asked for where the services have them", async () => {
  answers = [{ body: { types: ["new-album"] } }, { body: { provider: "book", contacts: 2, verified: false } }, { body: { client: "c", until_ms: 9 } }, { body: { event: "e" } }];
  const all = api();
  assert.deepEqual(await all.artists.follow("bjork"), ["new-album"]);
  assert.equal(await all.social.link("book", ["x", "y"]), 2);
  assert.equal((await all.social.beginPrivate("c", 2)).untilMs, 9);
  assert.equal((await all.settings.why("e")).event, "e");
  assert.deepEqual(heard.map(({ asked }) => asked), ["PUT /v1/artists/bjork/follow", "PUT /v1/social/links/book", "PUT /v1/social/private/c", "GET /v1/me/why/e"]);
});

test("a no is Refused with its code, also from a proxy that has none", async () => {
  answers = [{ status: 409, body: { code: "conflict", reason: "version 3" } }, { status: 404, text: "<html>" }, { status: 418, text: "" }];
  for (const code of ["conflict", "not-found", "bad-request"]) {
    await assert.rejects(api().playlists.get("a", "b"), (error) => error instanceof Refused && error.code.name === code);
  }
});

test("who is busy says for how long, and the next address is asked", async () => {
  answers = [{ status: 503, body: { code: "draining", reason: "later" }, after: "7" }];
  await assert.rejects(api().social.privacy(), (error) => error instanceof ConnectionLost && error.retryAfterMs === 7000);
  answers = [{ status: 503 }, { body: { listening: "friends", private: [] } }];
  assert.equal((await api([url, url]).social.privacy()).listening, "friends");
});

test("a change that may have been made is sent once", async () => {
  answers = [{ status: 503 }, { body: { version: 2 } }];
  await assert.rejects(api([url, url]).playlists.add("a", "b", ["t"]), ConnectionLost);
  assert.equal(heard.length, 1);
});

test("what is no answer of ours, and what is no address, is told", async () => {
  answers = [{ text: "hello" }];
  await assert.rejects(api().social.wall(), ProtocolError);
  await assert.rejects(api("http://127.0.0.1:1").social.wall(), /did not answer/);
  assert.throws(() => api("ws://here"), Misuse);
});
