// The mailbox: the mails that would have gone out. A mail is a stranger's markup: it is shown in a frame that may do nothing.

import { $, NO_KEY, ask, element, tell, tick, timeOf } from "/page.js";

const REFRESH_MS = 2_000;
const key = localStorage.getItem("segue.key") ?? "";
let drawn, open, form = "HTML";

async function refresh() {
  try {
    const { mails } = await ask(key, "/v1/mails");
    tell("");
    draw(mails);
  } catch (trouble) {
    tell(trouble.code === "bad-token" ? NO_KEY : trouble.message);
  }
}

function draw(mails) {
  const ids = mails.map(({ id }) => id).join();
  if (ids === drawn) return;
  drawn = ids;
  $("count").textContent = mails.length ? `${mails.length} ${mails.length === 1 ? "mail" : "mails"}` : "";
  $("nothing").hidden = mails.length > 0;
  $("list").replaceChildren(...mails.map((mail) => {
    const button = element("button", "", element("strong", "", mail.subject), element("span", "soft", `${mail.to.join(", ")} · `, timeOf(mail.ts)));
    button.dataset.id = mail.id;
    button.addEventListener("click", () => { location.hash = mail.id; });
    return element("li", "", button);
  }));
  mark();
}

function mark() {
  for (const each of document.querySelectorAll("#list button")) each.ariaCurrent = String(each.dataset.id === String(open?.id));
}

async function choose() {
  const id = location.hash.slice(1);
  if (!/^\d+$/.test(id)) return;
  try {
    open = await ask(key, `/v1/mails/${id}`);
  } catch (trouble) {
    tell(trouble.message);
    return;
  }
  $("letter").hidden = false;
  $("subject").textContent = open.subject;
  const link = /^https?:\/\//.test(open.unsubscribe) ? element("a", "", "the link in it") : "";
  if (link) Object.assign(link, { href: open.unsubscribe, target: "_blank", rel: "noopener noreferrer" });
  const fields = [["From", open.sender], ["To", open.to.join(", ")], ["At", new Date(open.ts).toLocaleString()], ...(link ? [["Unsubscribe", link]] : [])];
  $("fields").replaceChildren(...fields.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
  mark();
  show();
}

/** The frame has no scripts, no origin and no forms, and links in it lead nowhere; nothing in it is loaded from anywhere. */
function frame(html) {
  const made = element("iframe");
  made.title = "The mail as HTML";
  made.setAttribute("sandbox", "");
  made.referrerPolicy = "no-referrer";
  made.srcdoc = html;
  return made;
}

const pre = (words) => Object.assign(element("pre", "", words), { tabIndex: 0 });

function show() {
  const forms = { HTML: open.html && (() => frame(open.html)), Text: open.text && (() => pre(open.text)), Source: () => pre(open.source) };
  const names = Object.keys(forms).filter((name) => forms[name]);
  const chosen = names.includes(form) ? form : names[0];
  const tabs = names.map((name) => {
    const tab = element("button", "small", name);
    tab.role = "tab";
    tab.ariaSelected = String(name === chosen);
    tab.tabIndex = name === chosen ? 0 : -1;
    tab.addEventListener("click", () => pick(name));
    return tab;
  });
  const row = document.querySelector(".tabs");
  row.replaceChildren(...tabs);
  row.onkeydown = ({ key: pressed }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[pressed];
    if (step) pick(names[(names.indexOf(chosen) + step + names.length) % names.length]);
  };
  $("shown").replaceChildren(forms[chosen]());
}

function pick(name) {
  form = name;
  show();
  document.querySelector(".tabs [aria-selected=true]").focus();
}

addEventListener("hashchange", choose);
setInterval(() => {
  tick();
  if (!document.hidden) refresh();
}, REFRESH_MS);
if (!key) tell(NO_KEY);
else refresh().then(choose);
