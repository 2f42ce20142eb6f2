/**
 * The errors of the client, with the names of the Python SDK.
 *
 * SegueError
 * ├── Refused         the server said no: `code` is a row of the table of codes, `reason` says what was wrong
 * ├── ConnectionLost  no answer came; `code` and `retryAfterMs` are set where the server said why and for how long
 * ├── ProtocolError   the other side does not speak segue.v1
 * └── Misuse          the client was used in a way that cannot work; the message says what to write instead
 */
import { codeOf, type Code } from "./codes.js";

export class SegueError extends Error {
  override name = "SegueError";
}

/** A no of the server: trying again, unchanged, cannot help. */
export class Refused extends SegueError {
  override name = "Refused";
  constructor(readonly code: Code, readonly reason: string) {
    super(`${code.name}: ${reason}`);
  }
}

/** What is known of the end of a connection besides its reason; `isFinal`: an operator does not want the client to come back by itself. */
export interface LossDetails {
  readonly code?: Code | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly isFinal?: boolean;
}

/** The end of a connection before an answer came, or one that never came about. What was asked was done, or not. */
export class ConnectionLost extends SegueError {
  override name = "ConnectionLost";
  readonly code: Code | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isFinal: boolean;
  constructor(readonly reason: string, details: LossDetails = {}) {
    super(details.code ? `${details.code.name}: ${reason}` : reason);
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs;
    this.isFinal = details.isFinal ?? false;
  }
}

export class ProtocolError extends SegueError {
  override name = "ProtocolError";
}

export class Misuse extends SegueError {
  override name = "Misuse";
}

/** Returns the error for a refusal with the code `name`. One that this version does not know becomes `internal-error`, its words in the reason. */
export function refusal(name: string, reason: string): Refused {
  const code = codeOf(name);
  return code ? new Refused(code, reason) : new Refused(codeOf("internal-error")!, `${name}: ${reason}`);
}
