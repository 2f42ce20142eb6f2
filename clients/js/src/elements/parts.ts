/** What all elements are made of: their colours, their children, and the words of the page that they stand in. */
import { wordsOf, type Words } from "./words.js";

/** Colours, which a page changes by these variables; without them they follow the light or dark scheme. */
export const STYLE = `
  :host {
    --_text: var(--segue-text, light-dark(#1c1b1f, #ecebf0));
    --_faint: var(--segue-faint, light-dark(#5c5a66, #a9a7b4));
    --_surface: var(--segue-surface, light-dark(#ffffff, #1d1c22));
    --_line: var(--segue-line, light-dark(#e3e1ea, #36343f));
    --_accent: var(--segue-accent, light-dark(#6b3fd4, #b79bff));
    --_on-accent: var(--segue-on-accent, light-dark(#ffffff, #1d1c22));
    color: var(--_text);
    color-scheme: var(--segue-scheme, light dark);
    font: var(--segue-font, 15px/1.45 system-ui, sans-serif);
  }
  :host([hidden]) { display: none; }
  * { box-sizing: border-box; }
  ol { list-style: none; margin: 0; padding: 0; }
  li { display: flex; gap: 12px; align-items: baseline; padding: 10px 16px; border-block-end: 1px solid var(--_line); }
  li:last-child { border: 0; }
  .what { flex: 1; min-width: 0; overflow-wrap: anywhere; }
  .who { font-weight: 600; }
  .about { display: block; color: var(--_faint); }
  time, .empty, .note { color: var(--_faint); font-size: 0.87em; white-space: nowrap; }
  .empty, .note { white-space: normal; padding: 16px; margin: 0; }
  .avatar { flex: none; align-self: center; display: grid; place-items: center; width: 34px; height: 34px; border-radius: 50%; font-weight: 700; text-transform: uppercase;
    background: color-mix(in srgb, var(--_accent) 18%, var(--_surface)); color: var(--_text); }
  .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  :focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
`;

/** Gives a shadow its looks in a way that the strictest Content-Security-Policy of a page lets through. */
export function styled(root: ShadowRoot, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== ""));
  return made;
}

/** Has a node say `text`. What says so already is left alone, so nothing is read aloud again. */
export function say(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Returns the words for an element: those of the page's language, or of the browser's where the page names none. */
export function wordsFor(shown: Element): Words {
  return wordsOf(shown.closest("[lang]")?.getAttribute("lang") || navigator.language);
}
