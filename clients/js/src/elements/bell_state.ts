/** What `<segue-bell>` says below its rows: that it loads, that nothing is there, that something failed, that there is more. */
import type { BellFinder } from "./bell_finder.js";
import type { BellInbox, Loading } from "./bell_inbox.js";
import { icon } from "./icons.js";
import { element, say } from "./parts.js";
import type { Words } from "./words.js";

const BONES = 4;

/** What the user asks for here: the newest page again, and the next one. */
export interface BellStateEars {
  readonly again: () => void;
  readonly more: () => void;
}

/** The parts below the rows. The next page is asked for when its button comes into view, but not while words are looked for. */
export class BellState {
  #words = element("p");
  #drawing = element("span");
  #state = element("div", "", this.#drawing, this.#words);
  #again = element("button");
  #bones = element("div", "", ...Array.from({ length: BONES }, () => element("div", "bone")));
  #loading = element("p", "hidden");
  #older = element("button");
  #seen: IntersectionObserver;
  #isWanted = false;

  constructor(ears: BellStateEars, scroll: HTMLElement) {
    this.#state.id = "state";
    this.#bones.id = "bones";
    this.#bones.ariaHidden = "true";
    this.#loading.role = "status";
    this.#again.id = "again";
    this.#older.id = "older";
    this.#again.addEventListener("click", ears.again);
    this.#older.addEventListener("click", ears.more);
    this.#seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && this.#isWanted && ears.more(), { root: scroll, rootMargin: "0px 0px 120px" });
  }

  /** Its elements, in order. */
  get parts(): readonly HTMLElement[] {
    return [this.#bones, this.#loading, this.#state, this.#again, this.#older];
  }

  /** Shows how it stands with `count` rows on the page, in `phase` of the client. */
  draw(words: Words, phase: string | undefined, inbox: BellInbox | undefined, finder: BellFinder, count: number): void {
    const isLost = phase === "waiting" || phase === "closed" || !inbox;
    const hasFailed = inbox?.newest === "failed";
    const hasMore = inbox?.hasMore(isArchive(finder)) ?? false;
    const older = inbox?.older(isArchive(finder)) ?? "idle";
    const isComing = !isLost && (inbox.newest === "loading" || older === "loading" || (hasMore && mayAsk(older, finder)));
    this.#bones.hidden = count > 0 || !isComing;
    say(this.#loading, isComing ? words.loading : "");
    this.#state.hidden = count > 0 || isComing;
    const isBroken = hasFailed || (isLost && inbox?.newest !== "idle");
    this.#say(isBroken ? "broken" : "quiet", hasFailed && !isLost ? words.notLoaded : isBroken ? words.phases[phase ?? "connecting"]! : said(words, finder));
    say(this.#again, words.again);
    this.#again.hidden = !hasFailed || isLost;
    this.#drawOlder(words, older, hasMore, hasMore && mayAsk(older, finder));
  }

  #drawOlder(words: Words, older: Loading, hasMore: boolean, isWanted: boolean): void {
    say(this.#older, { idle: words.older, loading: words.loading, failed: words.again }[older]);
    this.#older.hidden = !hasMore;
    this.#isWanted = isWanted;
    this.#seen.disconnect(); // one that is in view already is told of again
    if (hasMore && isWanted && older === "idle") this.#seen.observe(this.#older);
  }

  #say(drawing: "broken" | "quiet", text: string): void {
    say(this.#words, text);
    if (this.#drawing.dataset["shown"] === drawing) return;
    this.#drawing.dataset["shown"] = drawing;
    this.#drawing.replaceChildren(icon(drawing));
  }
}

function isArchive({ tab }: BellFinder): boolean {
  return tab === "archived";
}

/** Returns whether the next page is asked for unbidden. */
function mayAsk(older: Loading, { text }: BellFinder): boolean {
  return older !== "failed" && !text.trim();
}

/** Returns why nothing is there. */
function said(words: Words, { tab, isWide }: BellFinder): string {
  if (!isWide) return words.nothingFound;
  return { all: words.empty, unread: words.nothingUnread, archived: words.nothingArchived }[tab];
}
