/**
 * The decisions of a playlist replica: what a device holds of a playlist, what it shows, and what it asks for next. Pure; its names and its
 * table are those of `segue/sdk/replica_core.py`, and both play clients/conformance/replica.json.
 *
 * The state is the newest version that is known, and the user's own edits that are not made yet. What is shown is that version with the
 * edits on top. Each track of the list has a number of its own here, so an edit means the same tracks whatever others do meanwhile: it is
 * made anew for each version, and what is left of it is asked for.
 */
import { anchors, applied, changeOf, edited, isOfItems, requestId, type Item, type OwnEdit, type PlaylistChange } from "./replica_edits.js";

/** Versions that wait for those before them. Beyond, the playlist is fetched anyway. */
const MAX_AHEAD = 64;
const MAX_EDITS = 1000;

/** The payload of an event of a playlist. Without a `change` it was too large to be told. `edit` is the id that the request had. */
export interface PlaylistNews {
  readonly version: number;
  readonly name: string;
  readonly change?: PlaylistChange;
  readonly edit?: string;
}

export interface SendEdit {
  readonly ask: "send";
  readonly id: string;
  readonly version: number;
  readonly change: PlaylistChange;
}

/** News of an edit that was taken back. `code` is one of the table of codes, or `unsure`: nobody can say whether it was made. */
export interface RefusedEdit {
  readonly ask: "refused";
  readonly id: string;
  readonly op: string;
  readonly code: string;
  readonly reason: string;
}

/** What is to be done: send an edit, fetch the contents, say `late(version)` in a moment, or tell that an edit was refused. */
export type Request = SendEdit | RefusedEdit | { readonly ask: "fetch" } | { readonly ask: "await"; readonly version: number };

/** The replica of one playlist. Each method that takes news returns what is to be done; `makeId` makes ids for edits. */
export class ReplicaCore {
  version = 0;
  name = "";
  collaborative = false;
  isGone = false;
  #items: readonly Item[] = [];
  #edits: OwnEdit[] = [];
  #sent: { readonly edit: OwnEdit; readonly send: SendEdit } | undefined;
  #ahead = new Map<number, PlaylistNews>();
  #isFetching = false;
  #isMissing = false;
  #lastNumber = 0;

  constructor(readonly makeId: () => string) {}

  /** The tracks with the user's own edits. */
  get tracks(): string[] {
    return this.#shown().map(({ track }) => track);
  }

  /** The name with the user's own edits. */
  get shownName(): string {
    return (this.#edits.filter(({ op }) => op === "rename").at(-1)?.value as string | undefined) ?? this.name;
  }

  /** How many edits are not made yet. */
  get waiting(): number {
    return this.#edits.length;
  }

  #shown(): readonly Item[] {
    return this.#edits.reduce(edited, this.#items);
  }

  /** Puts `tracks` at the end of what is shown, or before the one at `position`. */
  add(tracks: readonly string[], position?: number | null): Request[] {
    const shown = this.#shown();
    const at = position ?? shown.length;
    check(at >= 0 && at <= shown.length, at, shown);
    return this.#edit("add", { items: tracks.map((track) => this.#numbered(track)), before: anchors(shown.slice(at)) });
  }

  /** Takes away `count` tracks of what is shown, from `position` on. */
  remove(position: number, count = 1): Request[] {
    const shown = this.#shown();
    check(position >= 0 && count >= 1 && position + count <= shown.length, position, shown);
    return this.#edit("remove", { items: shown.slice(position, position + count) });
  }

  /** Moves `count` tracks of what is shown, from `position` on, before the one that is at `to` now. */
  reorder(position: number, to: number, count = 1): Request[] {
    const shown = this.#shown();
    check(position >= 0 && count >= 1 && position + count <= shown.length, position, shown);
    check(to >= 0 && to <= shown.length && !(position < to && to < position + count), to, shown);
    const moved = shown.slice(position, position + count);
    return this.#edit("reorder", { items: moved, before: anchors(shown.slice(to).filter((item) => !moved.includes(item))) });
  }

  /** Calls the playlist `name`. */
  rename(name: string): Request[] {
    return this.#edit("rename", { value: name });
  }

  /** Says whether editors may change it. */
  setCollaborative(collaborative: boolean): Request[] {
    return this.#edit("collaborative", { value: collaborative });
  }

  #edit(op: string, how: Partial<OwnEdit>): Request[] {
    const id = this.makeId();
    if (this.isGone) return [{ ask: "refused", id, op, code: "not-found", reason: "the playlist is gone" }];
    if (this.#edits.length >= MAX_EDITS) return [{ ask: "refused", id, op, code: "rate-limited", reason: `${MAX_EDITS} edits are not made yet` }];
    this.#edits.push({ id, op, items: [], before: [], part: 0, tried: undefined, ...how });
    return this.#next();
  }

  #numbered(track: string): Item {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, track };
  }

  /** Asks for the contents: nothing is known, or something may be missing. */
  reload(): Request[] {
    this.#isMissing = true;
    if (this.#isFetching || this.isGone) return [];
    this.#isFetching = true;
    return [{ ask: "fetch" }];
  }

  /** Takes the contents that were fetched. */
  loaded(version: number, name: string, collaborative: boolean, tracks: readonly string[]): Request[] {
    this.#isFetching = this.#isMissing = false;
    if (version > this.version) {
      this.#items = this.#renumbered(tracks);
      Object.assign(this, { version, name, collaborative });
    }
    return this.#catchUp();
  }

  /** Notes that the contents could not be fetched. */
  notLoaded(): Request[] {
    this.#isFetching = false;
    return [{ ask: "await", version: this.version }];
  }

  /** Takes an event of the playlist's topic. */
  changed(news: PlaylistNews): Request[] {
    if (news.version <= this.version || this.isGone) return [];
    this.#ahead.set(news.version, news);
    if (this.#ahead.size > MAX_AHEAD) this.#ahead.delete(Math.min(...this.#ahead.keys())); // the newest stays, and says that something is missing
    return this.#catchUp();
  }

  /** Notes that a moment has passed since the replica was at `version`, and more was on its way. */
  late(version: number): Request[] {
    return this.#isMissing || this.version === version ? this.reload() : [];
  }

  /** Notes that the playlist is deleted, or may not be seen any more. */
  gone(code: string, reason: string): Request[] {
    this.isGone = true;
    const taken = this.#edits;
    this.#edits = [];
    this.#sent = undefined;
    return taken.map(({ id, op }) => ({ ask: "refused", id, op, code, reason }));
  }

  /** Notes that the service has made the edit `id`, which makes `version`. */
  answered(id: string, version: number): Request[] {
    const sent = this.#sentAs(id);
    if (!sent) return []; // the event was first
    if (version === this.version + 1) this.#make(sent.send.change, sent.edit.items, version);
    this.#done(sent.edit, sent.send.change);
    return this.#catchUp();
  }

  /** Notes that the playlist has another version by now, so the edit `id` was not made, or was made before. */
  conflicted(id: string): Request[] {
    const sent = this.#sentAs(id);
    if (!sent) return [];
    this.#sent = undefined;
    return this.version > sent.send.version ? this.#next() : [{ ask: "await", version: sent.send.version }];
  }

  /** Notes that the service refuses the edit `id`. */
  refused(id: string, code: string, reason: string): Request[] {
    const sent = this.#sentAs(id);
    if (!sent) return [];
    this.#sent = undefined;
    this.#forget(sent.edit);
    return [{ ask: "refused", id: sent.edit.id, op: sent.edit.op, code, reason }, ...this.#next()];
  }

  /** Notes that nobody has answered for the edit `id`: it may have been made. `retry` asks again. */
  unanswered(id: string): Request[] {
    const sent = this.#sentAs(id);
    if (!sent) return [];
    sent.edit.tried = sent.send.version;
    this.#sent = undefined;
    return [];
  }

  /** Asks again for what nobody has answered. */
  retry(): Request[] {
    return this.#next();
  }

  #sentAs(id: string): { readonly edit: OwnEdit; readonly send: SendEdit } | undefined {
    return this.#sent?.send.id === id ? this.#sent : undefined;
  }

  #forget(edit: OwnEdit): void {
    this.#edits = this.#edits.filter((each) => each !== edit);
  }

  #catchUp(): Request[] {
    for (const version of [...this.#ahead.keys()]) if (version <= this.version) this.#ahead.delete(version);
    for (let news; (news = this.#ahead.get(this.version + 1)); ) {
      this.#ahead.delete(news.version);
      const change = news.change ?? (news.edit !== undefined ? this.#sentAs(news.edit)?.send.change : undefined);
      if (!change) return this.reload(); // it was too large to be told
      if (change.op === "delete") return this.gone("not-found", "the playlist is deleted");
      this.#take(news, change);
    }
    return [...(this.#ahead.size || !this.version ? this.reload() : []), ...this.#next()];
  }

  #take({ version, name, edit }: PlaylistNews, change: PlaylistChange): void {
    const head = this.#edits[0];
    if (head && edit === requestId(head)) {
      this.#make(change, head.items, version);
      this.#done(head, change);
    } else {
      this.#make(change, [], version);
      if (head?.tried === version - 1) head.tried = undefined; // it was another edit that made this version, so ours was not made
    }
    this.name = name;
  }

  #make(change: PlaylistChange, own: readonly Item[], version: number): void {
    const tracks = change.tracks ?? [];
    const added = own.length === tracks.length ? own : tracks.map((track) => this.#numbered(track));
    this.#items = change.op === "create" ? tracks.map((track) => this.#numbered(track)) : applied(this.#items, change, change.op === "add" ? added : []);
    this.name = change.name ?? this.name;
    this.collaborative = change.collaborative ?? this.collaborative;
    this.version = version;
  }

  /** Takes off what `change` has made of `edit`. */
  #done(edit: OwnEdit, change: PlaylistChange): void {
    this.#sent = edit.tried = undefined;
    edit.part += 1;
    edit.items = isOfItems(edit) ? edit.items.slice(change.count ?? 1) : [];
    if (!edit.items.length) this.#forget(edit);
  }

  /** Returns `tracks` with the numbers that they had, as far as they were there: from both ends, then by name and order. */
  #renumbered(tracks: readonly string[]): Item[] {
    const old = this.#items;
    const most = Math.min(old.length, tracks.length);
    let start = 0;
    while (start < most && old[start]!.track === tracks[start]) start += 1;
    let end = 0;
    while (end < most - start && old.at(-1 - end)!.track === tracks.at(-1 - end)) end += 1;
    const left = new Map<string, Item[]>();
    for (const item of old.slice(start, old.length - end)) left.set(item.track, [...(left.get(item.track) ?? []), item]);
    const middle = tracks.slice(start, tracks.length - end).map((track) => left.get(track)?.shift() ?? this.#numbered(track));
    return [...old.slice(0, start), ...middle, ...old.slice(old.length - end)];
  }

  /** Returns the request for the first edit, if it can be asked for now. Edits of which nothing is left are done. */
  #next(): Request[] {
    const found: Request[] = [];
    for (let edit; this.version && !this.#sent && !this.#isFetching && (edit = this.#edits[0]); ) {
      const change = edit.tried !== undefined && edit.tried < this.version ? undefined : changeOf(edit, this.#items);
      if (change) {
        this.#sent = { edit, send: { ask: "send", id: requestId(edit), version: this.version, change } };
        found.push(this.#sent.send);
        break;
      }
      this.#edits.shift(); // others have done the same, or:
      if (edit.tried === undefined || edit.tried >= this.version) continue;
      found.push({ ask: "refused", id: edit.id, op: edit.op, code: "unsure", reason: "no answer came, and it cannot be told whether it was made" });
    }
    return found;
  }
}

function check(isRight: boolean, position: number, shown: readonly Item[]): void {
  if (!isRight) throw new RangeError(`the playlist shows ${shown.length} tracks; ${position} is no place for this`);
}
