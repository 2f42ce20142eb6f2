import assert from "node:assert/strict";
import { test } from "node:test";
import { doors } from "../src/address.js";
import { Misuse } from "../src/errors.js";

const WS = ["ws", "wss"];

test("an address without a path gets one, and others keep theirs", () => {
  assert.deepEqual(doors("ws://host:7700", WS, "/v1/connect"), ["ws://host:7700/v1/connect"]);
  assert.deepEqual(doors(["ws://host/", "wss://other/door"], WS, "/v1/connect"), ["ws://host/v1/connect", "wss://other/door"]);
});

test("what is no address of a server is refused, with an example", () => {
  for (const url of ["", "host:7700", "http://host", "ws://"]) assert.throws(() => doors(url, WS, "/v1/connect"), Misuse);
  assert.throws(() => doors("http://host", WS, "/v1"), /'http:\/\/host' is not an address of Segue; write ws or wss, for example ws:\/\//);
  assert.throws(() => doors([], WS, "/v1/connect"), /no address was given/);
});
