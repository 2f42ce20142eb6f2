/** The package: everything that an application imports. */
export { Backoff } from "./backoff.js";
export { Client, type ClientEvents } from "./client.js";
export { codeOf, type Code } from "./codes.js";
export { ConnectionLost, Misuse, ProtocolError, Refused, SegueError } from "./errors.js";
export type {
  Announcement,
  Device,
  Ended,
  FriendNews,
  Gap,
  History,
  Installed,
  LostTopic,
  Offloaded,
  PastEvent,
  Payload,
  RejectedTopic,
  SegueEvent,
  Wait,
  Whom,
} from "./messages.js";
export type { Action, InboxNews, Marks, NotificationPage, ReadElsewhere, RejectedMark, SegueNotification } from "./notifications.js";
export type { ClientOptions, TextStore } from "./options.js";
export type { State } from "./state.js";
export type { Token, TokensFor } from "./token.js";
