/** `<segue-preferences url="http://…" token="…">`: which notifications the user wants, on which ways, and when. */
import { SettingsClient, type NotificationPreferences, type Weekday } from "../preferences.js";
import { element, say, STYLE, styled, wordsFor } from "./parts.js";

const DEFAULT_URL = "http://127.0.0.1:7720";
const CLASSES = ["new-album", "new-track", "artist-playlist", "friend-joined", "new-follower", "playlist"] as const;
const CHANNELS = ["in-client", "push", "email"] as const;
/** The channel of those who have an endpoint for it. */
const WEBHOOK = "webhook";
const DIGESTS = ["off", "daily", "weekly"] as const;
const DAYS: readonly Weekday[] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** A night, for who has none yet. */
const NIGHT = { from: "22:00", to: "07:00" };

const PREFERENCES_STYLE = `${STYLE}
  :host { display: block; container-type: inline-size; border: 1px solid var(--_line); border-radius: 14px; background: var(--_surface); overflow: hidden; }
  h2 { font-size: 1.05em; margin: 0; padding: 14px 16px; border-block-end: 1px solid var(--_line); }
  form { padding: 8px 12px 4px; }
  form:empty { display: none; }
  fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
  table { width: 100%; border-collapse: collapse; }
  th, td { padding: 8px 4px; border-block-end: 1px solid var(--_line); text-align: center; font-weight: 400; }
  th:first-child { text-align: start; overflow-wrap: anywhere; }
  thead th { color: var(--_faint); font-size: 0.87em; }
  th:first-child { min-width: 6.5em; }
  @container (min-width: 480px) { th:not(:first-child), td:not(:first-child) { width: 4.8em; } }
  tbody tr:last-child > * { border-block-end: 0; }
  .field { border-block-start: 1px solid var(--_line); }
  input, select { font: inherit; color: inherit; background: var(--_surface); border: 1px solid var(--_line); border-radius: 8px; padding: 6px 8px;
    max-width: 100%; }
  input[type="checkbox"] { vertical-align: middle; width: 20px; height: 20px; accent-color: var(--_accent); }
  .field { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; min-height: 56px; padding: 8px 4px; }
  .field > :first-child { flex: 1; min-width: 9em; white-space: nowrap; }
  .details { display: flex; flex-wrap: wrap; gap: 8px 12px; }
  #status { min-height: 1.5em; margin: 4px 16px 12px; color: var(--_faint); }
  form:empty ~ #status { margin-block: 16px; }
  #again { font: inherit; font-weight: 600; color: var(--_accent); background: none; border: 0; border-radius: 8px; margin: -8px 8px 12px; padding: 8px; cursor: pointer; }
  #again:hover { background: var(--_line); }
  #again[hidden] { display: none; }
`;

/**
 * A form that saves what is changed at once. Times are those of the browser's time zone, which is saved with them. Webhooks have a column for those
 * who have any, or have opted out of them.
 */
export class SeguePreferences extends HTMLElement {
  static readonly observedAttributes = ["url", "token"];
  readonly root = this.attachShadow({ mode: "open" });
  #given: SettingsClient | undefined;
  #held: NotificationPreferences | undefined;
  #hasWebhooks = false;
  #loads = 0;
  #saving: Promise<void> = Promise.resolve();
  #title = element("h2");
  #form = element("form");
  #status = element("p");
  #again = element("button");

  constructor() {
    super();
    this.#status.id = "status";
    this.#status.role = "status";
    this.#title.id = "title";
    this.#again.id = "again";
    this.#again.hidden = true;
    this.#again.addEventListener("click", () => void this.#load());
    this.#form.setAttribute("aria-labelledby", "title");
    this.#form.addEventListener("change", () => this.#save());
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    styled(this.root, PREFERENCES_STYLE);
    this.root.append(this.#title, this.#form, this.#status, this.#again);
  }

  /** What asks the service, where a token must be fetched; otherwise `url` and `token` say it. */
  set settings(settings: SettingsClient) {
    this.#given = settings;
    if (this.isConnected) void this.#load();
  }

  connectedCallback(): void {
    void this.#load();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) void this.#load();
  }

  #settings(): SettingsClient | undefined {
    const token = this.getAttribute("token");
    return this.#given ?? (token ? new SettingsClient(this.getAttribute("url") ?? DEFAULT_URL, token) : undefined);
  }

  async #load(): Promise<void> {
    const words = wordsFor(this);
    const settings = this.#settings();
    say(this.#title, words.settings);
    if (!settings) return;
    const mine = ++this.#loads;
    this.#again.hidden = true;
    if (!this.#held) say(this.#status, words.loading);
    try {
      const [held, webhooks] = await Promise.all([settings.preferences(), settings.webhooks().catch(() => [])]); // without, there is no column
      if (mine !== this.#loads) return; // another one was begun later
      this.#hasWebhooks = webhooks.length > 0;
      this.#show(held);
      say(this.#status, "");
    } catch (error) {
      if (mine !== this.#loads) return;
      this.#failed(words.settingsNotLoaded, error);
      say(this.#again, words.again);
      this.#again.hidden = false;
    }
  }

  /** Sends what the form says, one after the other. What the service refuses is shown as it was before. */
  #save(): void {
    const wanted = this.#read();
    this.#saving = this.#saving.then(async () => {
      try {
        this.#show(await this.#settings()!.setPreferences(wanted));
        this.#status.textContent = wordsFor(this).saved;
      } catch (error) {
        if (this.#held) this.#show(this.#held);
        this.#failed(wordsFor(this).notSaved, error);
      }
    });
  }

  #failed(what: string, error: unknown): void {
    this.#status.textContent = `${what} (${error instanceof Error ? error.message : String(error)})`;
    this.dispatchEvent(new CustomEvent("segue-error", { detail: error, bubbles: true, composed: true }));
  }

  #read(): NotificationPreferences {
    const said = new FormData(this.#form);
    const text = (name: string): string => String(said.get(name) ?? "");
    const channels: Record<string, Record<string, boolean>> = { ...this.#held!.channels }; // what is not shown stays
    for (const about of CLASSES) {
      const others = Object.entries(channels[about] ?? {}).filter(([channel]) => !this.#shown().includes(channel));
      const refused = this.#shown().filter((channel) => !said.has(`${about} ${channel}`));
      delete channels[about];
      if (others.length || refused.length) channels[about] = Object.fromEntries([...others, ...refused.map((channel) => [channel, false])]);
    }
    const quiet = said.has("quiet") ? { from: text("from") || NIGHT.from, to: text("to") || NIGHT.to } : null;
    const digest = text("digest") as NotificationPreferences["digest"];
    const rest = { email: text("email") || null, channels, quiet, digest, tz: Intl.DateTimeFormat().resolvedOptions().timeZone };
    return { ...this.#held!, ...rest, digestAt: text("at") || this.#held!.digestAt, digestDay: (text("day") || this.#held!.digestDay) as Weekday };
  }

  #show(held: NotificationPreferences): void {
    this.#held = held;
    const focused = this.root.activeElement?.getAttribute("name");
    this.#form.replaceChildren(element("fieldset", "", this.#table(held), this.#email(held), this.#quiet(held), this.#digest(held)));
    if (focused) this.#form.querySelector<HTMLElement>(`[name="${CSS.escape(focused)}"]`)?.focus();
  }

  /** The channels that have a column. */
  #shown(): readonly string[] {
    const isRefused = Object.values(this.#held?.channels ?? {}).some((each) => each[WEBHOOK] === false);
    return this.#hasWebhooks || isRefused ? [...CHANNELS, WEBHOOK] : CHANNELS;
  }

  #table({ channels }: NotificationPreferences): HTMLTableElement {
    const words = wordsFor(this);
    const head = element("tr", "", element("td"), ...this.#shown().map((channel) => heading(words.channels[channel]!, "col")));
    const rows = CLASSES.map((about) => {
      const boxes = this.#shown().map((channel) => {
        const box = input("checkbox", `${about} ${channel}`);
        box.checked = channels[about]?.[channel] !== false;
        box.ariaLabel = `${words.classes[about]}: ${words.channels[channel]}`;
        return element("td", "", box);
      });
      return element("tr", "", heading(words.classes[about]!, "row"), ...boxes);
    });
    return element("table", "", element("thead", "", head), element("tbody", "", ...rows));
  }

  #email({ email }: NotificationPreferences): HTMLLabelElement {
    const field = input("email", "email", email ?? "");
    field.autocomplete = "email";
    return element("label", "field", element("span", "", wordsFor(this).mailTo), field);
  }

  #quiet({ quiet }: NotificationPreferences): HTMLDivElement {
    const words = wordsFor(this);
    const box = input("checkbox", "quiet");
    box.checked = quiet !== null;
    const times = (["from", "to"] as const).map((name) => labelled(input("time", name, quiet?.[name] ?? NIGHT[name]), words[name]));
    return element("div", "field", element("label", "", `${words.quietHours} `, box), ...(quiet ? [element("span", "details", ...times)] : []));
  }

  #digest({ digest, digestAt, digestDay }: NotificationPreferences): HTMLDivElement {
    const words = wordsFor(this);
    const named = new Intl.DateTimeFormat(words.language, { weekday: "long", timeZone: "UTC" });
    const dayName = (day: Weekday): string => named.format(Date.UTC(2024, 0, 1 + DAYS.indexOf(day))); // a Monday
    const how = select("digest", DIGESTS, digest, (each) => words.digests[each]!);
    const details: HTMLElement[] = [labelled(input("time", "at", digestAt), words.digestAt)];
    if (digest === "weekly") details.push(labelled(select("day", DAYS, digestDay, dayName), words.digestDay));
    return element("div", "field", element("label", "", `${words.digest} `, how), ...(digest === "off" ? [] : [element("span", "details", ...details)]));
  }
}

function heading(text: string, scope: "col" | "row"): HTMLTableCellElement {
  const made = element("th", "", text);
  made.scope = scope;
  return made;
}

function input(type: string, name: string, value = ""): HTMLInputElement {
  const made = element("input");
  Object.assign(made, { type, name });
  if (type !== "checkbox") made.value = value;
  return made;
}

function labelled<Field extends HTMLElement>(field: Field, label: string): Field {
  field.ariaLabel = label;
  return field;
}

function select<Value extends string>(name: string, values: readonly Value[], chosen: Value, say: (value: Value) => string): HTMLSelectElement {
  const options = values.map((value) => Object.assign(element("option", "", say(value)), { value, selected: value === chosen }));
  return Object.assign(element("select", "", ...options), { name });
}

customElements.define("segue-preferences", SeguePreferences);
