/** The words of the elements, as data: English and Swedish. Pure. */
import type { SegueEvent } from "../messages.js";
import type { Action, SegueNotification } from "../notifications.js";

export interface Words {
  /** The language of these words, which is that of times, too. */
  readonly language: string;
  readonly notifications: string;
  readonly unread: (count: number) => string;
  readonly empty: string;
  readonly quiet: string;
  readonly friends: string;
  readonly phases: Readonly<Record<string, string>>;
  readonly allFriends: string;
  readonly notAllowed: (name: string) => string;
  readonly notFollowed: (name: string) => string;
  readonly missed: (count: number | null) => string;
  readonly news: Readonly<Record<string, string>>;
  readonly acts: Readonly<Record<string, string>>;
  readonly isNew: string;
  readonly whichShown: string;
  readonly tabs: Readonly<Record<"all" | "unread" | "archived", string>>;
  readonly search: string;
  readonly allClasses: string;
  readonly whichClass: string;
  readonly actionsFor: (what: string) => string;
  readonly actions: Readonly<Record<Action, string>>;
  readonly readAll: string;
  readonly archiveRead: string;
  readonly loading: string;
  readonly older: string;
  readonly notLoaded: string;
  readonly notDone: string;
  readonly again: string;
  readonly nothingFound: string;
  readonly nothingUnread: string;
  readonly nothingArchived: string;
  readonly classes: Readonly<Record<string, string>>;
  readonly channels: Readonly<Record<string, string>>;
  readonly digests: Readonly<Record<string, string>>;
  readonly settings: string;
  readonly settingsNotLoaded: string;
  readonly mailTo: string;
  readonly quietHours: string;
  readonly from: string;
  readonly to: string;
  readonly digest: string;
  readonly digestAt: string;
  readonly digestDay: string;
  readonly saved: string;
  readonly notSaved: string;
}

const ENGLISH: Words = {
  language: "en",
  notifications: "Notifications",
  unread: (count) => `${count} unread`,
  empty: "Nothing yet. New albums, playlists and friends appear here.",
  quiet: "Nobody has played anything yet.",
  friends: "What friends play",
  phases: { connecting: "Connecting", connected: "Live", waiting: "Reconnecting", closed: "Not connected" },
  allFriends: "friends",
  notAllowed: (name) => `You may not hear what ${name} does.`,
  notFollowed: (name) => `Not followed: ${name}`,
  missed: (count) => (count === null ? "something may be missing here" : `${count} ${count === 1 ? "event is" : "events are"} missing here`),
  news: {
    "new-album": "has a new album",
    "new-track": "has a new track",
    "artist-playlist": "has a new playlist",
    "friend-joined": "has joined",
    "new-follower": "follows you now",
    playlist: "changed a playlist",
  },
  acts: { play: "plays", pause: "paused", favourite: "likes", playlist: "listens to the playlist" },
  isNew: "unread",
  whichShown: "What to show",
  tabs: { all: "All", unread: "Unread", archived: "Archived" },
  search: "Search",
  allClasses: "All kinds",
  whichClass: "Kind",
  actionsFor: (what) => `Actions for: ${what}`,
  actions: { read: "Mark as read", unread: "Mark as unread", archive: "Archive", unarchive: "Move back", delete: "Delete" },
  readAll: "Mark all as read",
  archiveRead: "Archive what is read",
  loading: "Loading",
  older: "Show older",
  notLoaded: "Notifications could not be loaded.",
  notDone: "That could not be done. Try again.",
  again: "Try again",
  nothingFound: "Nothing here fits.",
  nothingUnread: "You have read everything.",
  nothingArchived: "What you archive is kept here.",
  classes: {
    "new-album": "New albums",
    "new-track": "New tracks",
    "artist-playlist": "Playlists of artists",
    "friend-joined": "Friends who join",
    "new-follower": "New followers",
    playlist: "Changed playlists",
  },
  channels: { "in-client": "Here", push: "Push", email: "Mail", webhook: "Webhooks" },
  digests: { off: "At once", daily: "Daily", weekly: "Weekly" },
  settings: "Notification settings",
  settingsNotLoaded: "The settings could not be loaded",
  mailTo: "Mail goes to",
  quietHours: "No push at night",
  from: "From",
  to: "To",
  digest: "Mails come",
  digestAt: "At",
  digestDay: "On",
  saved: "Saved",
  notSaved: "Not saved",
};

const SWEDISH: Words = {
  language: "sv",
  notifications: "Aviseringar",
  unread: (count) => `${count} ${count === 1 ? "oläst" : "olästa"}`,
  empty: "Inget ännu. Nya album, spellistor och vänner visas här.",
  quiet: "Ingen har spelat något ännu.",
  friends: "Vad vänner spelar",
  phases: { connecting: "Ansluter", connected: "Direkt", waiting: "Ansluter igen", closed: "Inte ansluten" },
  allFriends: "vänner",
  notAllowed: (name) => `Du får inte höra vad ${name} gör.`,
  notFollowed: (name) => `Följs inte: ${name}`,
  missed: (count) => (count === null ? "något kan saknas här" : `${count} ${count === 1 ? "händelse" : "händelser"} saknas här`),
  news: {
    "new-album": "har ett nytt album",
    "new-track": "har en ny låt",
    "artist-playlist": "har en ny spellista",
    "friend-joined": "har gått med",
    "new-follower": "följer dig nu",
    playlist: "ändrade en spellista",
  },
  acts: { play: "spelar", pause: "pausade", favourite: "gillar", playlist: "lyssnar på spellistan" },
  isNew: "oläst",
  whichShown: "Vad som visas",
  tabs: { all: "Alla", unread: "Olästa", archived: "Arkiverade" },
  search: "Sök",
  allClasses: "Alla slag",
  whichClass: "Slag",
  actionsFor: (what) => `Åtgärder för: ${what}`,
  actions: { read: "Markera som läst", unread: "Markera som oläst", archive: "Arkivera", unarchive: "Flytta tillbaka", delete: "Ta bort" },
  readAll: "Markera alla som lästa",
  archiveRead: "Arkivera det som är läst",
  loading: "Laddar",
  older: "Visa äldre",
  notLoaded: "Aviseringar kunde inte hämtas.",
  notDone: "Det gick inte. Försök igen.",
  again: "Försök igen",
  nothingFound: "Inget här passar.",
  nothingUnread: "Du har läst allt.",
  nothingArchived: "Det du arkiverar finns kvar här.",
  classes: {
    "new-album": "Nya album",
    "new-track": "Nya låtar",
    "artist-playlist": "Artisters spellistor",
    "friend-joined": "Vänner som går med",
    "new-follower": "Nya följare",
    playlist: "Ändrade spellistor",
  },
  channels: { "in-client": "Här", push: "Push", email: "Mejl", webhook: "Webhooks" },
  digests: { off: "Direkt", daily: "Varje dag", weekly: "Varje vecka" },
  settings: "Inställningar för aviseringar",
  settingsNotLoaded: "Inställningarna kunde inte hämtas",
  mailTo: "Mejl går till",
  quietHours: "Ingen push på natten",
  from: "Från",
  to: "Till",
  digest: "Mejl kommer",
  digestAt: "Klockan",
  digestDay: "På",
  saved: "Sparat",
  notSaved: "Inte sparat",
};

/** Returns the words of a language such as "sv-SE"; English for one that is not here. */
export function wordsOf(language: string): Words {
  return language.toLowerCase().startsWith("sv") ? SWEDISH : ENGLISH;
}

const OF_ARTISTS = new Set(["new-album", "new-track", "artist-playlist"]);

/** What a line says: who does what, and what it is about. All of it is text. */
export interface Line {
  readonly who: string;
  readonly verb: string;
  readonly what: string;
}

export function lineOfNotification({ topic, kind, class: about, payload }: SegueNotification, words: Words): Line {
  // Artist monitoring says the id of the artist as `artist`, and the name as `name`; of a playlist `name` is its own.
  const names = OF_ARTISTS.has(about) ? ["artist_name", "name", "artist"] : ["artist", "friend", "by", "owner", "user"];
  const who = text(payload, ...names) || idOf(topic);
  return { who, verb: words.news[about] ?? spoken(kind), what: text(payload, "album", "track", "title", "playlist", ...(names.includes("name") ? [] : ["name"])) };
}

export function lineOfEvent({ topic, kind, payload }: Pick<SegueEvent, "topic" | "kind" | "payload">, words: Words): Line {
  if ("change" in payload) {
    // A line in somebody's feed names the topic of the playlist that they changed; an event of a playlist says who did.
    const what = text(payload, "name") || (/\/([^/]+)\/$/.exec(text(payload, "topic"))?.[1] ?? "");
    return { who: text(payload, "by") || idOf(topic), verb: words.news["playlist"]!, what };
  }
  const what = [text(payload, "track", "title", "album", "playlist", "name"), text(payload, "artist")].filter(Boolean).join(" · ");
  return { who: idOf(topic), verb: words.acts[kind] ?? spoken(kind), what };
}

/** Returns how long ago something was, in the words of `language`. */
export function ago(elapsedMs: number, language: string): string {
  const style = language === "en" ? "narrow" : "short"; // the narrow ones of other languages are signs: "−3 d"
  const format = new Intl.RelativeTimeFormat(language, { style, numeric: "auto" });
  const seconds = Math.max(0, Math.round(elapsedMs / 1000));
  if (seconds < 60) return format.format(-0, "second");
  if (seconds < 3_600) return format.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return format.format(-Math.floor(seconds / 3_600), "hour");
  return format.format(-Math.floor(seconds / 86_400), "day");
}

function text(payload: Readonly<Record<string, unknown>>, ...names: readonly string[]): string {
  const found = names.map((name) => payload[name]).find((value) => typeof value === "string" || typeof value === "number");
  return found === undefined ? "" : String(found);
}

/** Returns whom or what a topic is about: its first id. */
function idOf(topic: string): string {
  return /^hm:\/\/\w+\/\w+\/([^/%]+)/.exec(topic)?.[1] ?? topic;
}

function spoken(kind: string): string {
  return kind.replaceAll("-", " ");
}
