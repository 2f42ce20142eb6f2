// What both pages need: the key of this page, questions over HTTP, and elements whose content is always text.

const KEY = "segue.key";
const LOST = "is segue up still running?";

/** An answer that says no. `code` is that of the table of codes, or "" where nobody answered. */
export class Trouble extends Error {
  constructor(code, reason) {
    super(reason);
    this.code = code;
  }
}

/** Takes the key out of the address bar, and returns it, or the one that was kept; "" where there is none. */
export function pageKey() {
  const given = location.hash.slice(1);
  if (given) {
    localStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem(KEY) ?? "";
}

/** Returns what `url` answers; undefined where that is empty. Throws Trouble. */
export async function ask(bearer, url, method = "GET", body = undefined) {
  const headers = { Authorization: `Bearer ${bearer}`, ...(body && { "Content-Type": "application/json" }) };
  let answer;
  try {
    answer = await fetch(url, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
  } catch {
    throw new Trouble("", `Nobody answers at ${new URL(url, location.href).origin}: ${LOST}`);
  }
  const text = await answer.text();
  if (answer.ok) return text ? JSON.parse(text) : undefined;
  let said;
  try { said = JSON.parse(text); } catch { said = { code: String(answer.status), reason: answer.statusText }; }
  throw new Trouble(said.code, said.reason);
}

export const $ = (id) => document.getElementById(id);

export function element(tag, className = "", ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children.filter((child) => child !== "" && child !== undefined));
  return made;
}

const HUES = [5, 30, 150, 185, 220, 250, 280, 310, 340]; // white letters can be read on them, and none is muddy

export function paint(avatar, name) {
  avatar.style.setProperty("--hue", HUES[[...name].reduce((hash, letter) => (hash * 31 + letter.codePointAt(0)) % 997, 7) % HUES.length]);
  avatar.ariaHidden = "true";
  return avatar;
}

export const avatarOf = (name) => paint(element("span", "avatar", [...name][0] ?? "?"), name);

export function ago(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  return s < 10 ? "now" : s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`;
}

export function timeOf(ts) {
  const made = element("time", "", ago(Date.now() - ts)), date = new Date(ts);
  made.dataset.ts = ts;
  if (!Number.isNaN(date.valueOf())) {
    made.dateTime = date.toISOString();
    made.title = date.toLocaleString();
  }
  return made;
}

/** Lets the times on the page grow older. */
export function tick() {
  for (const time of document.querySelectorAll("time[data-ts]")) time.textContent = ago(Date.now() - time.dataset.ts);
}

/** Shows `text` above the page; "" hides it. `again`: what its button does; without it there is none. */
export function tell(text, again = undefined) {
  const notice = $("notice"), button = notice.querySelector("button");
  notice.querySelector("span").textContent = text;
  notice.hidden = !text;
  if (button) {
    button.hidden = !again;
    button.onclick = again;
  }
}

export const NO_KEY = "This page needs the whole address that `segue up` has printed, with what stands behind the #.";
