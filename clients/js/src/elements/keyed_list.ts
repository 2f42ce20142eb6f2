/** A list on the page whose rows stay while what they show changes, so focus, readers and animations stay with them. */

/** A row: one element on the page, which it changes in place. */
export interface KeyedRow<Item> {
  readonly root: HTMLElement;
  show(item: Item): void;
}

/**
 * The rows of `list`, by a key of what they show. A row is made once, and goes when what it shows is gone.
 *
 * Rows that stay keep their order among themselves, so none of them is ever moved: one that is moved loses its focus. Where the row that has the
 * focus goes, the next one gets it, or the one before, at the same place within it; `fallback` has it where no row is left.
 */
export class KeyedList<Item, Row extends KeyedRow<Item>> {
  #rows = new Map<string, Row>();

  constructor(
    readonly list: HTMLElement,
    private readonly keyOf: (item: Item) => string,
    private readonly made: (item: Item) => Row,
    private readonly fallback: () => HTMLElement | undefined = () => undefined,
  ) {}

  /** Returns the row that shows what has this key. */
  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Shows `items` in their order. Returns the rows that are new. */
  show(items: readonly Item[]): Row[] {
    const wanted = new Map(items.map((item) => [this.keyOf(item), item]));
    this.#leave(wanted);
    const fresh: Row[] = [];
    let next = this.list.firstElementChild;
    for (const [key, item] of wanted) {
      let row = this.#rows.get(key);
      if (row) row.show(item);
      else {
        row = this.made(item);
        row.show(item);
        this.#rows.set(key, row);
        fresh.push(row);
      }
      if (row.root === next) next = next.nextElementSibling;
      else this.list.insertBefore(row.root, next);
    }
    return fresh;
  }

  /** Takes away the rows of what is not `wanted`, after the focus has gone from them. */
  #leave(wanted: ReadonlyMap<string, Item>): void {
    const gone = [...this.#rows].filter(([key]) => !wanted.has(key));
    const roots = new Set(gone.map(([, { root }]) => root as Element));
    const focused = (this.list.getRootNode() as ShadowRoot).activeElement;
    const left = focused?.closest("li");
    if (left && roots.has(left)) heirOf(left, roots, focused!, this.fallback)?.focus();
    for (const [key, { root }] of gone) {
      root.remove();
      this.#rows.delete(key);
    }
  }
}

/** Returns what gets the focus of `focused`, in the row `left`, which goes together with the others of `gone`. */
function heirOf(left: Element, gone: ReadonlySet<Element>, focused: Element, fallback: () => HTMLElement | undefined): HTMLElement | undefined {
  const place = [...left.children].indexOf(focused);
  const found = stayingFrom(left, gone, "nextElementSibling") ?? stayingFrom(left, gone, "previousElementSibling");
  return (found?.children[Math.max(place, 0)] as HTMLElement | undefined) ?? fallback();
}

function stayingFrom(row: Element, gone: ReadonlySet<Element>, way: "nextElementSibling" | "previousElementSibling"): Element | null {
  let found = row[way];
  while (found && gone.has(found)) found = found[way];
  return found;
}
