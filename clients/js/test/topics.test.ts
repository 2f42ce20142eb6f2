import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf } from "../src/topics.js";

test("each form has its kind", () => {
  const kinds = {
    "hm://presence/user/bob/": "user",
    "hm://playlist/user/bob/playlist/p.1-x_/": "playlist",
    "hm://notifications/feed/a1%new-album/": "artist",
    "hm://notifications/feed/a1%artist-playlist/": "artist",
    "hm://notifications/feed/bob%friend-joined/": "social",
    "hm://notifications/feed/bob%new-follower/": "social",
  };
  for (const [topic, kind] of Object.entries(kinds)) assert.equal(kindOf(topic), kind);
});

test("anything else has none", () => {
  const none = ["", "hm://presence/user/bob", "hm://presence/user/b b/", "hm://notifications/feed/a1%gossip/", `hm://presence/user/${"x".repeat(129)}/`];
  for (const topic of [...none, "hm://presence/user/bob/\n"]) assert.equal(kindOf(topic), undefined, topic);
});
