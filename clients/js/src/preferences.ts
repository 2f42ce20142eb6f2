/** Which notifications the user wants, where pushes go, and why something came (docs/preferences.md, docs/web-push.md, docs/rules.md). */
import { part, ServiceClient } from "./service.js";

export type Weekday = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";

/** The preferences of a user. */
export interface NotificationPreferences {
  /** Where mails go; null: there are none. */
  readonly email: string | null;
  /** Class, then channel, then whether it is wanted; what is absent is wanted. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  /** "artist:<id>", "user:<name>" and "playlist:<owner>/<id>". */
  readonly muted: readonly string[];
  /** The time zone of all times here, by its IANA name. */
  readonly tz: string;
  /** When no push comes, as local times "HH:MM"; null: a push may always come. */
  readonly quiet: { readonly from: string; readonly to: string } | null;
  readonly digest: "off" | "daily" | "weekly";
  readonly digestAt: string;
  readonly digestDay: Weekday;
}

/** A browser that takes pushes, by the address to which they go. */
export interface PushDevice {
  readonly endpoint: string;
}

/** An endpoint to which notifications are posted. `previousUntilMs`: until when the secret before signs, too; 0: there is none. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly madeMs: number;
  readonly previousUntilMs: number;
}

/** A webhook with its secret ("whsec_…"), which is told this once. */
export interface MadeWebhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** What came of a test message, and why. */
export interface WebhookTrial {
  readonly state: "delivered" | "retry" | "failed" | "gone";
  readonly reason: string;
}

/** The end of a mail, a push or a live copy, or how it stands, since `ts` in ms since 1970. */
export interface SentCopy {
  readonly channel: string;
  readonly state: string;
  readonly reason: string;
  readonly ts: number;
}

/** Why a user got an event, or did not: its `mark` in the inbox, the ways on which it went, the rules that decided, what became of copies. */
export interface EventExplanation {
  readonly event: string;
  readonly topic: string;
  readonly kind: string;
  readonly decided: number;
  readonly mark: number;
  readonly types: readonly string[];
  readonly reasons: readonly string[];
  readonly sent: readonly SentCopy[];
}

export class SettingsClient extends ServiceClient {
  /** Returns what the user has set; the defaults where they have not. */
  async preferences(): Promise<NotificationPreferences> {
    return await this.ask("GET", "me/preferences");
  }

  /** Replaces all that the user has set, from the next event on; returns what holds now. */
  async setPreferences(preferences: NotificationPreferences): Promise<NotificationPreferences> {
    return await this.ask("PUT", "me/preferences", { body: { ...preferences } });
  }

  /** Returns the browsers to which pushes go: at most 20. */
  async devices(): Promise<readonly PushDevice[]> {
    return (await this.ask<{ devices: PushDevice[] }>("GET", "me/devices")).devices;
  }

  /** Has pushes sent to a browser: `endpoint` and `keys` are what its `PushSubscription.toJSON()` gives. */
  async addDevice(endpoint: string, keys: Readonly<Record<string, string>>): Promise<PushDevice> {
    return await this.ask("POST", "me/devices", { body: { endpoint, keys } });
  }

  async removeDevice(endpoint: string): Promise<void> {
    await this.ask("DELETE", "me/devices", { query: { endpoint } });
  }

  /** Returns the endpoints to which notifications are posted. */
  async webhooks(): Promise<readonly WebhookEndpoint[]> {
    return (await this.ask<{ webhooks: WebhookEndpoint[] }>("GET", "me/webhooks")).webhooks;
  }

  /** Has notifications posted to `url`, signed by the secret in the answer. A request that is repeated may make two. */
  async addWebhook(url: string): Promise<MadeWebhook> {
    return await this.ask("POST", "me/webhooks", { body: { url } });
  }

  async removeWebhook(webhook: string): Promise<void> {
    await this.ask("DELETE", `me/webhooks/${part(webhook)}`);
  }

  /** Gives a webhook a new secret. For a day the secret before signs, too. */
  async rotateWebhook(webhook: string): Promise<MadeWebhook> {
    return await this.ask("POST", `me/webhooks/${part(webhook)}/rotate`);
  }

  /** Has a test message posted now, and returns what came of it. */
  async testWebhook(webhook: string): Promise<WebhookTrial> {
    return await this.ask("POST", `me/webhooks/${part(webhook)}/test`);
  }

  /** Returns the key that a browser wants as `applicationServerKey`. Raises Refused (`not-found`) where no pushes are sent. */
  async pushKey(): Promise<string> {
    return (await this.ask<{ key: string }>("GET", "push-key")).key;
  }

  /** Returns what was decided about `event`, by its id, for the user. Raises Refused (`not-found`) where nothing was. */
  async why(event: string): Promise<EventExplanation> {
    return await this.ask("GET", `me/why/${part(event)}`);
  }
}
