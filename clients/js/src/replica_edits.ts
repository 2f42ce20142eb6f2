/**
 * The edits of a playlist replica: what an edit of the user means while others change the playlist, too (`replica_core.ts`). Pure; its names are
 * those of `segue/sdk/replica_edits.py`.
 */

/** So many tracks behind it say where an edit belongs. If all of them are gone, it belongs to the end. */
const ANCHORS = 16;
/** A change of a playlist, as the service takes and tells it. */
export interface PlaylistChange {
  readonly op: string;
  readonly name?: string;
  readonly collaborative?: boolean;
  readonly tracks?: readonly string[];
  readonly position?: number;
  readonly to?: number;
  readonly count?: number;
}

export interface Item {
  readonly number: number;
  readonly track: string;
}

/** An edit of the user that is not made yet; see `OwnEdit` of the Python SDK. */
export interface OwnEdit {
  readonly id: string;
  readonly op: string;
  items: readonly Item[];
  readonly before: readonly number[];
  readonly value?: string | boolean;
  part: number;
  tried: number | undefined;
}

export function requestId({ id, part }: OwnEdit): string {
  return `${id}.${part}`;
}

export function anchors(items: readonly Item[]): number[] {
  return items.slice(0, ANCHORS).map(({ number }) => number);
}

export function isOfItems({ op }: OwnEdit): boolean {
  return op === "remove" || op === "reorder";
}

/** Returns `items` as they are shown when all of `edit` is made. */
export function edited(items: readonly Item[], edit: OwnEdit): readonly Item[] {
  if (edit.op !== "add" && !isOfItems(edit)) return items;
  const theirs = new Set(edit.items.map(({ number }) => number));
  const rest = items.filter(({ number }) => !theirs.has(number));
  if (edit.op === "remove") return rest;
  const held = new Set(items.map(({ number }) => number));
  const at = placeOf(edit, rest);
  return [...rest.slice(0, at), ...edit.items.filter(({ number }) => edit.op === "add" || held.has(number)), ...rest.slice(at)];
}

function placesOf(items: readonly Item[]): Map<number, number> {
  return new Map(items.map(({ number }, place) => [number, place]));
}

/** Returns before which place of `items` an edit puts something: the first of its anchors that is there, or the end. */
function placeOf(edit: OwnEdit, items: readonly Item[]): number {
  const places = placesOf(items);
  const anchor = edit.before.find((number) => places.has(number));
  return anchor === undefined ? items.length : places.get(anchor)!;
}

/** Returns the next change that makes a part of `edit` of `items`, and leaves in `edit` what there is to do; undefined if that is nothing. */
export function changeOf(edit: OwnEdit, items: readonly Item[]): PlaylistChange | undefined {
  if (edit.op === "rename") return { op: "rename", name: edit.value as string };
  if (edit.op === "collaborative") return { op: "collaborative", collaborative: edit.value as boolean };
  const to = placeOf(edit, items);
  if (edit.op === "add") return { op: "add", tracks: edit.items.map(({ track }) => track), position: to };
  const places = placesOf(items);
  edit.items = edit.items.filter(({ number }) => places.has(number));
  while (edit.items.length) {
    const run = firstRun(edit.items.map(({ number }) => places.get(number)!));
    const [position, count] = [run[0]!, run.length];
    if (edit.op === "remove") return { op: "remove", position, count };
    if (position + count !== to) return { op: "reorder", position, to, count };
    edit.items = edit.items.slice(count); // it is where it belongs
  }
  return undefined;
}

/** Returns the first of `places` and those that follow one another behind it. */
function firstRun(places: readonly number[]): number[] {
  const end = places.findIndex((place, at) => at > 0 && place !== places[at - 1]! + 1);
  return places.slice(0, end < 0 ? places.length : end);
}

/** Returns `items` after `change`, as the service applies it; `added` are those that an `add` brings. */
export function applied(items: readonly Item[], { op, position: at = 0, to = 0, count = 1 }: PlaylistChange, added: readonly Item[]): readonly Item[] {
  if (op === "add") return [...items.slice(0, at), ...added, ...items.slice(at)];
  if (op !== "remove" && op !== "reorder") return items;
  const rest = [...items.slice(0, at), ...items.slice(at + count)];
  if (op === "remove") return rest;
  const place = to <= at ? to : to - count;
  return [...rest.slice(0, place), ...items.slice(at, at + count), ...rest.slice(place)];
}
