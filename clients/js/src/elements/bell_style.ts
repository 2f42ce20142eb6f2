/** The looks of `<segue-bell>`. */
import { STYLE } from "./parts.js";

export const BELL_STYLE = `${STYLE}
  :host { display: inline-block; position: relative; }
  button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; }
  #bell { position: relative; display: grid; place-items: center; width: 44px; height: 44px; border-radius: 50%; }
  #bell:hover, #bell[aria-expanded=true] { background: var(--_line); }
  svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
  #bell svg { width: 24px; height: 24px; fill: currentColor; stroke: none; }
  #badge { position: absolute; inset-block-start: 2px; inset-inline-end: 0; min-width: 20px; padding: 0 5px; border-radius: 10px; text-align: center;
    background: var(--_accent); color: var(--_on-accent); font-size: 12px; font-weight: 700; line-height: 20px; }
  #badge:empty { display: none; }
  #panel { position: fixed; inset: auto; margin: 0; padding: 0; overflow: hidden; border-radius: 14px; max-height: min(600px, 80vh);
    border: 1px solid var(--_line); background: var(--_surface); color: var(--_text); box-shadow: 0 12px 36px rgb(0 0 0 / 25%); }
  #panel:popover-open { display: flex; flex-direction: column; }
  .head { display: flex; align-items: center; gap: 4px; padding-block-start: 10px; padding-inline: 16px 8px; }
  h2 { flex: 1; font-size: 1.05em; margin: 0; }
  .tool { display: grid; place-items: center; width: 36px; height: 36px; border-radius: 8px; color: var(--_faint); }
  .tool:not([aria-disabled=true]):hover { background: var(--_line); color: var(--_text); }
  .tool[aria-disabled=true] { opacity: 0.45; cursor: default; }
  #tabs { display: flex; gap: 4px; padding: 6px 12px 0; border-block-end: 1px solid var(--_line); }
  #tabs button { padding: 8px 8px 9px; border-block-end: 2px solid transparent; margin-block-end: -1px; color: var(--_faint); font-weight: 600; font-size: 0.93em; }
  #tabs button:hover { color: var(--_text); }
  #tabs button[aria-selected=true] { color: var(--_text); border-color: var(--_accent); }
  #tabs :focus-visible { outline-offset: -2px; border-radius: 6px; }
  #find { display: flex; gap: 8px; padding: 10px 12px 2px; }
  #find[hidden] { display: none; }
  input, select { font: inherit; font-size: 0.93em; color: inherit; background: var(--_surface); border: 1px solid var(--_line); border-radius: 8px; height: 36px; }
  input { flex: 1 1 110px; min-width: 0; padding: 0 10px; }
  input::placeholder { color: var(--_faint); opacity: 1; }
  select { flex: 0 1 auto; max-width: 45%; padding: 0 6px; text-overflow: ellipsis; }
  select[hidden] { display: none; }
  #scroll { flex: 1 1 auto; min-height: 0; overflow: auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--_line) transparent; padding-block: 6px; }
  li { position: relative; padding: 0; margin: 0 6px; border: 0; border-radius: 10px; align-items: stretch; gap: 0; }
  li:hover { background: color-mix(in srgb, var(--_line) 55%, transparent); }
  li.unread { background: color-mix(in srgb, var(--_accent) 9%, transparent); }
  li.unread:hover { background: color-mix(in srgb, var(--_accent) 15%, transparent); }
  li + li { margin-block-start: 2px; }
  li.arrived { animation: arrive 0.35s ease-out; }
  .row { display: flex; gap: 12px; align-items: center; flex: 1; min-width: 0; padding: 10px; padding-inline-end: 4px; text-align: start; border-radius: 10px; }
  .row time { flex: none; align-self: start; padding-block-start: 2px; }
  .avatar { position: relative; }
  .unread .avatar::after { content: ""; position: absolute; inset-block-start: -2px; inset-inline-end: -2px; width: 12px; height: 12px; border-radius: 50%;
    background: var(--_accent); border: 2px solid var(--_surface); }
  .more { flex: none; display: grid; place-items: center; width: 32px; color: var(--_faint); border-radius: 10px; }
  .more svg { fill: currentColor; stroke: none; }
  .more:hover, .more[aria-expanded=true] { color: var(--_text); background: var(--_line); }
  .row:focus-visible, .more:focus-visible { outline-offset: -2px; }
  @media (hover: hover) {
    .more svg { opacity: 0; }
    li:hover .more svg, li:focus-within .more svg, .more[aria-expanded=true] svg { opacity: 1; }
  }
  #older, #again { display: block; margin: 6px auto 4px; padding: 8px 16px; border-radius: 8px; color: var(--_accent); font-weight: 600; }
  #older:hover, #again:hover { background: var(--_line); }
  #older[hidden], #again[hidden] { display: none; }
  #older:focus-visible, #again:focus-visible { outline-offset: -2px; }
  #state { display: grid; justify-items: center; gap: 10px; padding: 28px 24px 20px; text-align: center; color: var(--_faint); }
  #state[hidden] { display: none; }
  #state svg { width: 40px; height: 40px; stroke-width: 1.5; opacity: 0.6; }
  #state p { margin: 0; max-width: 30ch; text-wrap: balance; }
  #bones { padding: 4px 16px; }
  #bones[hidden] { display: none; }
  .bone { display: flex; gap: 12px; align-items: center; padding-block: 10px; animation: breathe 1.4s ease-in-out infinite alternate; }
  .bone::before { content: ""; width: 34px; height: 34px; border-radius: 50%; background: var(--_line); }
  .bone::after { content: ""; flex: 1; height: 14px; border-radius: 7px; background: var(--_line); }
  #refused { margin: 0; padding: 10px 16px; border-block-start: 1px solid var(--_line); color: var(--_text); font-size: 0.93em; }
  #refused:empty { display: none; }
  #menu { position: fixed; inset: auto; margin: 0; padding: 4px; min-width: 180px; border: 1px solid var(--_line); border-radius: 10px; background: var(--_surface); color: var(--_text);
    box-shadow: 0 8px 24px rgb(0 0 0 / 25%); }
  #menu button { display: flex; gap: 10px; align-items: center; width: 100%; padding: 8px 10px; border-radius: 6px; text-align: start; white-space: nowrap; }
  #menu button:hover, #menu button:focus { background: var(--_line); outline: 0; }
  #menu button:focus-visible { outline: 2px solid var(--_accent); outline-offset: -2px; }
  #menu svg { width: 18px; height: 18px; color: var(--_faint); }
  @keyframes arrive { from { opacity: 0; transform: translateY(-8px); } }
  @keyframes breathe { from { opacity: 1; } to { opacity: 0.45; } }
  @media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
`;
