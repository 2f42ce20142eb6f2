import assert from "node:assert/strict";
import { test } from "node:test";
import type { Position } from "../src/cursors.js";
import { Misuse } from "../src/errors.js";
import { read, written } from "../src/positions.js";
import { BOB, EVE } from "./support/scripted_server.js";

const POSITIONS = new Map<string, Position>([
  [BOB, { point: "p1", sites: new Map([["sto", [[7, 5], [6, 9]] as const]]) }],
  [EVE, { point: null, sites: new Map([["lon", [[1, 2]] as const]]) }],
]);

test("what is written is read again", () => {
  const kept = { user: "alice", positions: POSITIONS };
  assert.deepEqual(read(written(kept)), kept);
});

test("a point that topics have in common is written once", () => {
  const sites = new Map([["sto", [[7, 5]] as const]]);
  const points = ["p1", "p1", null, "p1", "p2", "p2", "p1"];
  const kept = { user: "alice", positions: new Map<string, Position>(points.map((point, number) => [`t${number}`, { point, sites }])) };
  const text = written(kept);
  assert.deepEqual(text.match(/"p\d"/g), ['"p1"', '"p2"', '"p1"']);
  assert.deepEqual(read(text), kept);
});

test("a text of a client that wrote each point is read", () => {
  const text = JSON.stringify({ version: 1, user: "alice", topics: ["t0", "t1"].map((topic) => [topic, "p1", []]) });
  assert.deepEqual([...read(text).positions.values()].map(({ point }) => point), ["p1", "p1"]);
});

test("anything else says what to do", () => {
  const whole = JSON.parse(written({ user: "alice", positions: POSITIONS })) as { topics: unknown[][] };
  const broken = [
    "{",
    "null",
    JSON.stringify({ ...whole, user: 7 }),
    JSON.stringify({ ...whole, topics: [[BOB, 7, []]] }),
    JSON.stringify({ ...whole, topics: [[BOB, null, [["sto", []]]]] }),
    JSON.stringify({ ...whole, topics: [[BOB, null, [["sto", [[7, -1]]]]]] }),
  ];
  for (const text of broken) assert.throws(() => read(text), Misuse, text);
  assert.throws(() => read(JSON.stringify({ ...whole, version: 2 })), /its version is 2, ours 1\); empty it/);
});
