// The first page: log in as somebody, follow, play, and see what others get of it. Everything that comes from the network is text.

import { $, NO_KEY, ask, avatarOf, element, pageKey, paint, tell, tick, timeOf } from "/page.js";
import { Wire } from "/wire.js";

const FEED_LENGTH = 50;
const INBOX_LENGTH = 50;
const SHOWN_MAILS = 4;
const REFRESH_MS = 4_000;
const PAGE = 500;
const USER = "segue.user";
const SITE = "segue.site";
const TITLE = document.title;
const INBOXES = "hm://notifications/inbox/";

const topicOf = (user) => `hm://presence/user/${user}/`;
const userOf = (topic) => /^hm:\/\/presence\/user\/([^/]+)\//.exec(topic)?.[1] ?? topic;
const VERBS = { play: "plays", favourite: "loves", pause: "paused", playlist: "changed the playlist" };
const NEWS = { "new-album": "has a new album", "new-track": "has a new track", "artist-playlist": "has a new playlist", "friend-joined": "has joined", "new-follower": "follows you now", playlist: "changed a playlist" };

// Of these `name` is the artist's, and `artist` their id.
const OF_ARTISTS = new Set(["new-album", "new-track", "artist-playlist"]);
const text = (payload, ...names) => names.map((name) => payload?.[name]).find((value) => ["string", "number"].includes(typeof value));

const key = pageKey();
let site, wire, user = "", followed = new Map(), followers = [], heard = new Set(), inbox, readShown = 0, isAsking = false;

const atServer = (path, method, body) => ask(key, path, method, body);
let bearer = "";
const atService = async (service, path, method, body) => ask(bearer, `${site[service]}${path}`, method, body);

/** Does what a person has asked for; if that fails, says why. */
const act = (work) => async (event) => {
  event.preventDefault();
  tell("");
  try {
    await work(event);
  } catch (trouble) {
    tell(trouble.message);
  }
};

// ---- Logging in and out. ----

async function start() {
  for (const each of document.querySelectorAll(".avatar[data-name]")) paint(each, each.dataset.name);
  if (!key) return fail(NO_KEY);
  try {
    site = await atServer("/v1/site");
  } catch (trouble) {
    return fail(trouble.code === "bad-token" ? NO_KEY : trouble.message, trouble.code ? undefined : () => location.reload());
  }
  const choice = $("site-choice");
  choice.hidden = site.clients.length < 2;
  choice.querySelector("select").replaceChildren(...site.clients.map((each) => new Option(each.site, each.site)));
  const kept = sessionStorage.getItem(USER);
  if (kept) return login(kept, sessionStorage.getItem(SITE));
  $("login").hidden = false;
  return undefined;
}

function fail(reason, again = undefined) {
  $("page").dataset.phase = "failed";
  $("state").textContent = "Not connected";
  tell(reason, again);
}

function login(name, where) {
  user = name;
  sessionStorage.setItem(USER, user);
  const place = site.clients.find((each) => each.site === where) ?? site.clients[0];
  sessionStorage.setItem(SITE, place.site);
  $("login").hidden = true;
  $("board").hidden = $("leave").hidden = false;
  $("bell").hidden = !site.notification;
  $("release-card").hidden = $("mail-card").hidden = !site.notification;
  $("address").textContent = addressOf(user);
  $("no-mail").hidden = site.mail;
  $("has-mail").hidden = $("mailbox-link").hidden = $("pages").hidden = !site.mail;
  $("follow").elements.user.value = user === "bob" ? "alice" : "bob";
  wire = new Wire(place.url, fetchToken, { state: show, welcome, event: take, ended, pulled: () => pull() });
  wire.open();
}

async function fetchToken() {
  bearer = (await atServer("/v1/token", "POST", { user })).token;
  return bearer;
}

function logout() {
  sessionStorage.removeItem(USER);
  wire.close();
  location.reload();
}

function show(phase, reason) {
  $("page").dataset.phase = phase;
  const words = { idle: "Not connected", connecting: "Connecting", waiting: "Reconnecting", failed: "Cannot connect", connected: `${user}, live` };
  $("state").textContent = words[phase];
  if (phase === "connected") tell("");
  if (phase === "waiting" || phase === "failed") tell(reason, () => wire.open());
}

// ---- Live: who plays what. ----

async function welcome() {
  heard = new Set();
  quiet();
  try {
    await follow([topicOf(user)]);
    await refresh();
    if (site.notification) await Promise.all([pull(), preferences()]);
  } catch (trouble) {
    tell(trouble.message);
  }
}

/** Subscribes to what is not heard yet, and asks what these users did last, so that nobody looks at an empty page. */
async function follow(topics) {
  const wanted = topics.filter((topic) => !heard.has(topic));
  if (wanted.length === 0) return;
  const { rejected } = await wire.ask("subscribe", { topics: wanted });
  const refused = new Set(rejected.map(({ topic }) => topic));
  const taken = wanted.filter((topic) => !refused.has(topic));
  for (const topic of taken) heard.add(topic);
  for (let at = 0; at < taken.length; at += PAGE) {
    const { events } = await wire.ask("last", { topics: taken.slice(at, at + PAGE) });
    for (const event of events.sort((one, other) => one.ts - other.ts)) add(event);
  }
}

function take(event) {
  if (event.topic.startsWith(INBOXES)) return pull();
  return add(event, true);
}

function ended(topics) {
  for (const { topic } of topics) heard.delete(topic);
  refresh().catch(() => {});
}

function add(event, isFresh = false) {
  const id = `${event.ts} ${event.id}`, shown = [...$("feed").children];
  if (shown.some((each) => each.dataset.id === id)) return;
  const who = userOf(event.topic), { kind, payload } = event;
  const changed = /\/([^/]+)\/$/.exec(text(payload, "change") === undefined ? "" : text(payload, "topic"))?.[1]; // a playlist
  const subject = text(payload, "artist", "playlist", "name") ?? changed ?? "", track = text(payload, "track", "song") ?? "";
  const what = element("div", "what", element("span", "who", who === user ? "You" : who), ` ${who === user && kind === "play" ? "play" : who === user && kind === "favourite" ? "love" : VERBS[kind] ?? kind} `, element("strong", "", String(subject)), track && element("span", "track", String(track)));
  const row = element("li", isFresh ? "fresh" : "", avatarOf(who), what, timeOf(event.ts));
  Object.assign(row.dataset, { id, ts: event.ts });
  const older = shown.find((each) => Number(each.dataset.ts) <= event.ts);
  $("feed").insertBefore(row, older ?? null);
  while ($("feed").childElementCount > FEED_LENGTH) $("feed").lastElementChild.remove();
  quiet();
}

/** Says why the feed is empty, if it is: because nobody is followed, because nobody follows back, or because nobody has played. */
function quiet() {
  const names = [...followed.keys()], mutual = names.filter((name) => followed.get(name));
  $("quiet").hidden = $("feed").childElementCount > 0;
  $("quiet").textContent = names.length === 0
    ? "You follow nobody yet. Play something: you hear yourself. Or follow somebody on this page."
    : mutual.length === 0 && site.policy === "social"
      ? `${names.join(", ")} ${names.length === 1 ? "does" : "do"} not follow you back yet, and only friends hear each other. Log in as them in a second tab, and follow ${user}.`
      : `Neither you nor ${names.join(", ")} have played anything since \`segue up\` was started. What they play appears here at once.`;
}

// ---- Friends. ----

async function pages(path, field) {
  const found = [];
  let after = "";
  do {
    const page = await atService("social", `${path}?limit=1000${after && `&after=${encodeURIComponent(after)}`}`);
    found.push(...page[field]);
    after = page.next ?? "";
  } while (after);
  return found;
}

/** Looks who follows whom. Without a social service that is known to this page only, and lasts as long as it. */
async function refresh() {
  if (isAsking || $("page").dataset.phase !== "connected") return;
  isAsking = true;
  try {
    if (site.social) {
      const [friends, who] = await Promise.all([
        pages("/v1/social/friends", "friends"),
        pages(`/v1/social/users/${encodeURIComponent(user)}/friends`, "friends"),
      ]);
      followed = new Map(friends.map((friend) => [friend.user, friend.mutual]));
      followers = who.map((each) => each.user ?? each);
    }
    await follow([...followed].filter(([, isMutual]) => isMutual || site.policy !== "social").map(([name]) => topicOf(name)));
  } finally {
    isAsking = false;
  }
  drawFriends();
  quiet();
}

function drawFriends() {
  const others = followers.filter((name) => !followed.has(name));
  const rows = [...followed].map(([name, isMutual]) => friend(name, !site.social ? "" : isMutual ? "You follow each other" : "Does not follow you back", "Unfollow", () => unfollow(name)));
  rows.push(...others.map((name) => friend(name, "Follows you", "Follow", () => befriend(name))));
  const drawn = JSON.stringify([[...followed], others]);
  if ($("friends").dataset.drawn === drawn) return; // whoever stands on a button keeps it
  $("friends").dataset.drawn = drawn;
  $("friends").replaceChildren(...rows);
  $("no-friends").hidden = rows.length > 0;
}

function friend(name, state, word, work) {
  const button = element("button", "small", word);
  button.ariaLabel = `${word} ${name}`;
  button.addEventListener("click", act(work));
  return element("li", "", avatarOf(name), element("div", "what", element("span", "who", name), state && element("span", "soft", state)), button);
}

async function befriend(name) {
  if (site.social) await atService("social", `/v1/social/friends/${encodeURIComponent(name)}`, "PUT");
  else followed.set(name, true);
  await refresh();
}

async function unfollow(name) {
  if (site.social) await atService("social", `/v1/social/friends/${encodeURIComponent(name)}`, "DELETE");
  else followed.delete(name);
  if (heard.delete(topicOf(name))) await wire.ask("unsubscribe", { topics: [topicOf(name)] });
  await refresh();
}

// ---- The bell. ----

let pulling, again = false;

/** Pulls what is stored for the user. What comes live, whatever it says, is a reason to look again. */
function pull() {
  if (pulling) {
    again = true;
    return pulling;
  }
  pulling = pullAll().finally(() => {
    pulling = undefined;
    if (again) {
      again = false;
      pull().catch(() => {});
    }
  });
  return pulling;
}

async function pullAll() {
  let since = 0, items = [], answer;
  do {
    answer = await wire.ask("pull", { since, epoch: answer?.epoch, limit: 500 });
    items = [...items, ...answer.items].filter((item) => item.types.includes("in-client")).slice(-INBOX_LENGTH);
    since = answer.next;
  } while (answer.more);
  inbox = { items: items.reverse(), read: answer.read, unread: answer.unread, next: answer.next, epoch: answer.epoch };
  drawInbox();
}

function drawInbox() {
  const { items, read, unread } = inbox;
  const label = unread ? `Notifications, ${unread} unread` : "Notifications";
  $("unread").textContent = unread > 99 ? "99+" : unread || "";
  if ($("bell-label").textContent !== label) $("bell-label").textContent = label;
  document.title = unread ? `(${unread}) ${TITLE}` : TITLE;
  const until = $("inbox").matches(":popover-open") ? readShown : read;
  $("notices").replaceChildren(...items.map((item) => notice(item, item.mark > until)));
  $("no-notices").hidden = items.length > 0;
}

function notice(item, isUnread) {
  const names = OF_ARTISTS.has(item.class) ? ["artist_name", "name", "artist"] : ["artist", "friend", "by", "user", "owner"];
  const who = String(text(item.payload, ...names) ?? /([^/%]+)%[^/]*\/$/.exec(item.topic)?.[1] ?? userOf(item.topic));
  const subject = String(text(item.payload, "album", "track", "title", "playlist", ...(names.includes("name") ? [] : ["name"])) ?? "");
  const what = element("div", "what", element("span", "who", who), ` ${NEWS[item.class] ?? item.kind}`, subject && element("strong", "track", subject));
  return element("li", isUnread ? "unread" : "", avatarOf(who), what, timeOf(item.ts), isUnread ? element("span", "hidden", "unread") : "");
}

$("inbox").addEventListener("toggle", ({ newState }) => {
  if (!inbox) return;
  if (newState === "open") readShown = inbox.read; // what was unread stays marked while it is looked at
  if (newState === "open" && inbox.unread) wire.ask("read", { mark: inbox.next, epoch: inbox.epoch }).then(() => pull(), (trouble) => tell(trouble.message));
  drawInbox();
});

// ---- Mails. ----

const addressOf = (name) => `${encodeURIComponent(name)}@example.org`;
let prefers = {};

async function preferences() {
  prefers = await atService("notification", "/v1/me/preferences");
  $("mailed").checked = prefers.email != null;
  await mails();
}

async function mails() {
  if (!site.mail) return;
  const { mails: found } = await atServer("/v1/mails");
  const mine = found.filter((mail) => mail.to.includes(addressOf(user))).slice(0, SHOWN_MAILS);
  const drawn = mine.map(({ id }) => id).join();
  if ($("mails").dataset.drawn === drawn) return;
  $("mails").dataset.drawn = drawn;
  $("mails").replaceChildren(...mine.map((mail) => {
    const link = element("a", "", element("strong", "", mail.subject), " ", timeOf(mail.ts));
    link.href = `/mailbox#${mail.id}`;
    return element("li", "", link);
  }));
}

$("mailed").addEventListener("change", act(async ({ target }) => {
  prefers = await atService("notification", "/v1/me/preferences", "PUT", { ...prefers, email: target.checked ? addressOf(user) : null });
  target.checked = prefers.email != null;
}));

// ---- What people do. ----

$("login").addEventListener("submit", act(({ submitter, target }) => {
  const other = target.elements.other.value.trim();
  login(submitter?.name === "user" ? submitter.value : other, target.elements.site.value);
}));
$("leave").addEventListener("click", logout);
$("play").addEventListener("submit", act(async ({ submitter, target }) => {
  const { artist, track } = Object.fromEntries(new FormData(target));
  await wire.ask("act", { kind: submitter?.value ?? "play", artist, ...(track && { track }) });
}));
$("follow").addEventListener("submit", act(async ({ target }) => {
  await befriend(target.elements.user.value.trim());
}));
$("release").addEventListener("submit", act(async ({ target }) => {
  const { artist, album, followers: named } = Object.fromEntries(new FormData(target));
  await atServer("/v1/release", "POST", { artist, album, followers: named.split(/[\s,]+/).filter(Boolean) });
}));
setInterval(() => {
  tick();
  if (wire && !document.hidden) Promise.all([refresh(), mails()]).catch(() => {}); // a lost connection says so itself
}, REFRESH_MS);
start();
