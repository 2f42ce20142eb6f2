/** The table of codes. It is made from `infra/kernel/codes.py` by `tests/architecture/codes_script.py`; a test compares the two. */

/** One row: `fatal` codes end the connection, and `reconnect` says whether trying again, unchanged, can help. */
export interface Code {
  readonly number: number;
  readonly name: string;
  readonly fatal: boolean;
  readonly reconnect: boolean;
}

const FATAL = 1;
const RECONNECT = 2;

const ROWS: readonly (readonly [number: number, name: string, flags: number])[] = [
  [4000, "going-away", FATAL | RECONNECT],
  [4001, "slow-consumer", FATAL | RECONNECT],
  [4002, "hello-timeout", FATAL | RECONNECT],
  [4003, "heartbeat-timeout", FATAL | RECONNECT],
  [4004, "overloaded", FATAL | RECONNECT],
  [4005, "disconnected", FATAL | RECONNECT],
  [4006, "flooding", FATAL | RECONNECT],
  [4100, "bad-frame", FATAL],
  [4101, "bad-utf8", FATAL],
  [4102, "too-large", FATAL],
  [4103, "bad-json", 0],
  [4104, "unknown-op", 0],
  [4105, "bad-field", 0],
  [4106, "hello-first", FATAL],
  [4107, "hello-again", 0],
  [4108, "too-many-topics", 0],
  [4109, "bad-topic", 0],
  [4110, "rate-limited", RECONNECT],
  [4111, "bad-handshake", FATAL],
  [4112, "bad-request", FATAL],
  [4113, "not-found", 0],
  [4114, "bad-method", 0],
  [4115, "bad-content-type", 0],
  [4116, "conflict", 0],
  [4117, "unknown-mark", 0],
  [4118, "too-many-items", 0],
  [4200, "bad-token", FATAL],
  [4201, "token-expired", FATAL],
  [4202, "token-not-yet-valid", FATAL],
  [4203, "wrong-user", FATAL],
  [4204, "forbidden", 0],
  [4205, "token-revoked", FATAL],
  [4206, "banned", FATAL],
  [4207, "origin-refused", FATAL],
  [4300, "unavailable", RECONNECT],
  [4301, "draining", RECONNECT],
  [4302, "internal-error", RECONNECT],
  [4400, "bad-link-frame", FATAL | RECONNECT],
  [4401, "version-mismatch", FATAL],
  [4402, "duplicate-node", FATAL | RECONNECT],
  [4403, "wrong-peer", FATAL],
  [4404, "silent-peer", FATAL | RECONNECT],
  [4405, "slow-link", FATAL | RECONNECT],
  [4406, "link-not-proved", FATAL],
];

const ALL: readonly Code[] = ROWS.map(([number, name, flags]) => {
  return { number, name, fatal: (flags & FATAL) > 0, reconnect: (flags & RECONNECT) > 0 };
});

/** Returns the row with this name or, failing that, this number; undefined where the table has neither: the server is newer. */
export function codeOf(name?: string, number?: number): Code | undefined {
  return ALL.find((row) => row.name === name) ?? ALL.find((row) => row.number === number);
}
