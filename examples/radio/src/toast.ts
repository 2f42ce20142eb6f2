/** Short words at the edge of the page, which are read aloud, and go by themselves. */
import { h } from "./parts.js";

const STAYS_MS = 6_000;

export function say(words: string): void {
  const place = document.querySelector("#toasts") ?? document.body.appendChild(h("div", { id: "toasts", role: "status" }));
  const toast = h("p", { className: "toast" }, words);
  place.append(toast);
  setTimeout(() => toast.remove(), STAYS_MS);
}
