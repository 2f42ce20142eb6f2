import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Emitter } from "../src/emitter.js";

test("listeners hear what they listen for, until they stop", () => {
  const emitter = new Emitter<{ said: string; done: number }>();
  const heard: unknown[] = [];
  const stop = emitter.on("said", (word) => heard.push(word));
  emitter.on("done", (number) => heard.push(number));
  emitter.emit("said", "a");
  emitter.emit("done", 1);
  stop();
  emitter.emit("said", "b");
  assert.deepEqual(heard, ["a", 1]);
});

test("one that throws is told, and the others hear all the same", () => {
  const error = mock.method(console, "error", () => undefined);
  const emitter = new Emitter<{ said: string }>();
  const heard: string[] = [];
  emitter.on("said", () => {
    throw new Error("oops");
  });
  emitter.on("said", (word) => heard.push(word));
  emitter.emit("said", "a");
  assert.deepEqual([heard, error.mock.callCount()], [["a"], 1]);
  error.mock.restore();
});
