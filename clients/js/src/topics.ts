/** Topics, the `hm://` forms: as far as a client must know them. The server says what is wrong with one. Pure. */

const ID = "[A-Za-z0-9._-]{1,128}";
const FORMS: readonly (readonly [kind: string, form: RegExp])[] = [
  ["user", new RegExp(`^hm://presence/user/${ID}/$`)],
  ["playlist", new RegExp(`^hm://playlist/user/${ID}/playlist/${ID}/$`)],
  ["artist", new RegExp(`^hm://notifications/feed/${ID}%(new-album|new-track|artist-playlist)/$`)],
  ["social", new RegExp(`^hm://notifications/feed/${ID}%(friend-joined|new-follower)/$`)],
];

export const INBOXES = "hm://notifications/inbox/";

/** Returns the kind of `topic`, as `window` in the welcome names it; undefined where it is none. */
export function kindOf(topic: string): string | undefined {
  return FORMS.find(([, form]) => form.test(topic))?.[0];
}
