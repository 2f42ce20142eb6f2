/** The steps of a client's life, as it tells them. */
import type { Installed } from "./messages.js";

/**
 * - "connecting" to `url`.
 * - "connected" to `site` as `user`; its topics are subscribed as far as `installed` says.
 * - "waiting" `retryInMs` before the next try, at `url`, because of `reason`.
 * - "closed" because of `reason`; empty where the application has closed the client.
 */
export type State =
  | { readonly phase: "connecting"; readonly url: string }
  | { readonly phase: "connected"; readonly url: string; readonly site: string; readonly user: string; readonly timeMs: number; readonly installed: Installed }
  | { readonly phase: "waiting"; readonly url: string; readonly reason: string; readonly retryInMs: number }
  | { readonly phase: "closed"; readonly url: string; readonly reason: string };
