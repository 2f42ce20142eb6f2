/** Addresses to connect to: those that a caller gives, checked once and completed with a path. Pure. */
import { Misuse } from "./errors.js";

/** Returns `urls`, each with `path` added where it has none. Raises Misuse for an address that cannot be one; `schemes` are those allowed. */
export function doors(urls: string | readonly string[], schemes: readonly string[], path: string): readonly string[] {
  const found = (typeof urls === "string" ? [urls] : urls).map((url) => door(url, schemes, path));
  if (!found.length) throw new Misuse(`no address was given; write one like ${schemes[0]}://127.0.0.1:7700`);
  return found;
}

function door(url: string, schemes: readonly string[], path: string): string {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    // told below, with the others
  }
  if (!parsed?.hostname || !schemes.includes(parsed.protocol.slice(0, -1))) {
    throw new Misuse(`'${url}' is not an address of Segue; write ${schemes.join(" or ")}, for example ${schemes[0]}://127.0.0.1:7700${path}`);
  }
  if (/^\/*$/.test(parsed.pathname)) parsed.pathname = path;
  return parsed.href.replace(/\/$/, "");
}
