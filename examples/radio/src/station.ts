/** The server of the radio: who there is, tokens, and what an application's own backend would do. Its addresses stand beside the page. */
import type { ApiUrls } from "segue/api";

export interface Listener {
  readonly user: string;
  readonly friends: number;
}

export interface Artist {
  readonly id: string;
  readonly name: string;
  readonly listeners: number;
}

export interface Roster {
  readonly users: readonly Listener[];
  readonly artists: readonly Artist[];
}

/** A login: the token of `user`, and where Segue is. */
export interface Login {
  readonly user: string;
  readonly token: string;
  readonly url: string;
  readonly services: { readonly artist: string; readonly notification: string; readonly playlist: string; readonly social: string };
}

export interface Mail {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly ts_ms: number;
}

/** What a push says, as the service worker gets it, too. */
export interface Push {
  readonly title: string;
  readonly body: string;
  readonly id: string;
}

export interface SubscriptionJson {
  readonly endpoint: string;
  readonly keys: Readonly<Record<string, string>>;
}

export const station = {
  roster: async (): Promise<Roster> => await ask("roster"),
  login: async (user: string): Promise<Login> => await ask("session", { user }),
  /** Has an artist release an album; returns its title. */
  release: async (artist: string): Promise<string> => (await ask<{ title: string }>("release", { artist })).title,
  /** Returns a subscription of the user at the radio's own push service. */
  subscription: async (user: string): Promise<SubscriptionJson> => await ask("subscription", { user }),
  mails: async (user: string): Promise<readonly Mail[]> => (await ask<{ mails: Mail[] }>(`mails?user=${encodeURIComponent(user)}`)).mails,
  /** Tells of mails and pushes as they come, until the returned function is called. */
  news: (user: string, told: { readonly mail: (mail: Mail) => void; readonly push: (push: Push) => void }): (() => void) => {
    const source = new EventSource(`news?user=${encodeURIComponent(user)}`);
    source.addEventListener("mail", (event) => told.mail(JSON.parse(event.data as string) as Mail));
    source.addEventListener("push", (event) => told.push(JSON.parse(event.data as string) as Push));
    return () => source.close();
  },
};

export function urlsOf({ services }: Login): ApiUrls {
  return { artists: services.artist, playlists: services.playlist, settings: services.notification, social: services.social };
}

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const asked = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, asked);
  if (!answer.ok) throw new Error(`the radio answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
