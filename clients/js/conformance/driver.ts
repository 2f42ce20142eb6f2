/**
 * The driver of this client for the conformance scenarios (clients/conformance/README.md): calls come as lines of JSON on standard input, and
 * what they return and what the client tells goes out as lines of JSON on standard output.
 */
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { Api } from "../src/http.js";
import { NotificationInbox } from "../src/inbox.js";
import { Client, type ClientEvents, type ClientOptions } from "../src/index.js";
import { PlaylistReplica } from "../src/playlist_replica.js";
import { ReplicaCore, type Request } from "../src/replica_core.js";

interface Call {
  readonly call: number;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

const TOLD: readonly (keyof ClientEvents)[] = ["state", "event", "gap", "ended", "friends", "offloaded", "announcement"];
const kept = new Map<string, string>();
let client: Client;
let inbox: NotificationInbox;
let playlist: PlaylistReplica;

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(inWords(line))}\n`);
}

/** Returns `value` with the names of the scenarios: `missing_sites` for `missingSites`. Payloads stay as they are. */
function inWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inWords);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Set) return [...value];
  const named = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [named(name), name === "payload" || name === "data" ? each : inWords(each)]));
}

function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function camel(options: Record<string, unknown>): ClientOptions {
  return Object.fromEntries(Object.entries(options).map(([name, each]) => [camelName(name), typeof each === "object" ? camel(each as Record<string, unknown>) : each]));
}

/** Returns `value` with the names of this client in the place of those of the scenarios. */
function camelValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [camelName(name), camelValue(each)]));
}

function made({ urls, tokens, positions, subscription_tokens, ...options }: Record<string, any>): Client {
  const each = [...(tokens as string[])];
  const token = each.length === 1 ? each[0]! : () => (each.length > 1 ? each.shift()! : each[0]!);
  const made = new Client(urls, token, {
    ...camel(options),
    // That of node 20 is an experiment, and loses a message that comes right before a close.
    webSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    ...(positions && { positions: { load: () => kept.get(positions) ?? null, save: (text: string) => void kept.set(positions, text) } }),
    ...(subscription_tokens && { subscriptionTokens: () => subscription_tokens }),
  });
  for (const name of TOLD) made.on(name, (value) => say({ told: name, value }));
  return made;
}

const CALLS: Record<string, (args: Record<string, any>) => unknown> = {
  connect: (args) => (client = made(args)).connect(),
  close: () => client.close(),
  subscribe: ({ topics, wait }) => client.subscribe(topics, { wait }),
  unsubscribe: ({ topics }) => client.unsubscribe(topics),
  follow: ({ whom, wait }) => client.follow(whom, { wait }),
  unfollow: ({ whom }) => client.unfollow(whom),
  topics: () => [...client.topics].sort(),
  act: ({ kind, fields }) => client.act(kind, fields),
  set_private: ({ on, hours }) => client.setPrivate(on, { hours }),
  ping: () => client.ping(),
  history: ({ topic, limit, before }) => client.history(topic, { limit, before }),
  last: ({ topics }) => client.last(topics),
  offloaded: () => client.offloaded,
  notifications: () => void client.on("notification", (value) => say({ told: "notification", value })),
  seen: ({ mark }) => client.seen(mark),
  read: ({ mark }) => client.read(mark),
  unread: () => client.unread,
  list_notifications: (args) => client.listNotifications(args),
  change_notifications: ({ action, marks }) => client.changeNotifications(action, marks),
  inbox: ({ page }) => (inbox = new NotificationInbox(client, { page })).load(),
  more: (args) => inbox.more(args),
  select: (args) => inbox.select(args),
  archive: ({ marks }) => inbox.archive(...marks),
  unarchive: ({ marks }) => inbox.unarchive(...marks),
  delete: ({ marks }) => inbox.delete(...marks),
  mark_read: ({ marks }) => inbox.markRead(...marks),
  mark_unread: ({ marks }) => inbox.markUnread(...marks),
  open_playlist: ({ urls, token, owner, id }) => opened(new PlaylistReplica(client, new Api(urls, token).playlists, owner, id)),
  edit_playlist: ({ method, args }) => (playlist as unknown as Record<string, (...given: unknown[]) => void>)[camelName(method)]!(...args),
  settled: () => playlist.settled(),
  close_playlist: () => playlist.close(),
  replica: ({ steps, prefix = "e" }) => replayed(steps, prefix),
  api: ({ urls, token, part, method, args, named }) =>
    answered((new Api(urls, token) as unknown as Record<string, any>)[part][camelName(method)](...args.map(camelValue), ...(named ? [camelValue(named)] : []))),
};

/** Opens a playlist of a real site, and says its tracks whenever they change. */
async function opened(replica: PlaylistReplica): Promise<readonly string[]> {
  playlist = replica;
  playlist.on("change", ({ tracks }) => say({ told: "tracks", value: tracks }));
  await playlist.open();
  return playlist.tracks;
}

/** Returns what a replica asks for, and shows, at each of the steps of clients/conformance/replica.json. */
function replayed(steps: { do: string; with?: unknown[] }[], prefix: string): unknown[] {
  let edits = 0;
  const core = new ReplicaCore(() => `${prefix}${++edits}`);
  const calls = core as unknown as Record<string, (...given: unknown[]) => Request[]>;
  return steps.map((step) => {
    const asks = calls[camelName(step.do)]!.apply(core, step.with ?? []).map((each) => Object.fromEntries(Object.entries(each).filter(([field]) => field !== "reason")));
    return { asks, shows: core.tracks };
  });
}

async function answered(found: AsyncIterable<unknown> | Promise<unknown>): Promise<unknown> {
  if (!(Symbol.asyncIterator in found)) return await found;
  const each: unknown[] = [];
  for await (const one of found) each.push(one);
  return each;
}

function errorOf(error: unknown): object {
  const { name, code, message } = error as { name: string; code?: { name: string }; message: string };
  return { kind: name, code: code?.name ?? null, message };
}

async function answer({ call, name, args }: Call): Promise<void> {
  try {
    say({ call, value: (await CALLS[name]!(args)) ?? null });
  } catch (error) {
    say({ call, error: errorOf(error) });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line) as Call)).on("close", () => process.exit(0));
