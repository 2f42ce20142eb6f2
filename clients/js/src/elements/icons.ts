/** The drawings of the elements: paths in a square of 24 by 24. */

export const ICONS = {
  bell: "M12 2a6 6 0 0 0-6 6v4.6L4.3 16a1 1 0 0 0 .9 1.5h13.6a1 1 0 0 0 .9-1.5L18 12.6V8a6 6 0 0 0-6-6Zm-2.4 17a2.5 2.5 0 0 0 4.8 0Z",
  more: "M5 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4Zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4Zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  read: "m4 12.5 5 5L20 6.5",
  allRead: "m2 13 4.5 4.5L16 7M11 16l1.5 1.5L22 7",
  unread: "M4 6h16v12H4ZM4 7l8 6 8-6",
  archive: "M3 4h18v5H3ZM5 9v11h14V9M10 13h4",
  unarchive: "M3 13h5l2 3h4l2-3h5M3 13v6h18v-6M12 3v8M9 6l3-3 3 3",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  quiet: "M6 16V10a6 6 0 0 1 12 0v6l1.5 2h-15ZM10 21h4",
  broken: "M12 3 2 20h20ZM12 10v4M12 17v.2",
} as const;

/** Returns a drawing that nobody hears of. */
export function icon(name: keyof typeof ICONS): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}
