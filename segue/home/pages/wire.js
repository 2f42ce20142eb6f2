// A connection to an access point: segue.v1 over one WebSocket, back again by itself.

const BACKOFF_MS = { base: 500, cap: 15_000 };
const ANSWER_MS = 10_000;
const HEARTBEAT_MS = 15_000;

/** Whether trying again, unchanged, can help; the rule behind the code table: 41xx and 42xx are the client's own fault. */
const mayReconnect = (number) => !(number >= 4100 && number < 4300 && number !== 4110) && ![4401, 4403, 4406].includes(number);

export class Wire {
  #socket; #timer; #beat; #heard; #attempt = 0; #asked = new Map(); #next = 1; #problem; #isWelcome; #hasOpened; #generation = 0;

  /** `token()` fetches a token. `on` has state(phase, reason), welcome(message), event(message), ended(topics), pulled(message). */
  constructor(url, token, on) {
    Object.assign(this, { url, token, on });
  }

  async open() {
    this.#release();
    const generation = ++this.#generation;
    this.on.state("connecting", "");
    let token;
    try {
      token = await this.token();
    } catch (trouble) {
      if (generation === this.#generation) this.#lost(trouble.message, trouble.code !== "");
      return;
    }
    if (generation !== this.#generation) return;
    const socket = this.#socket = new WebSocket(this.url, ["segue.v1"]);
    socket.onopen = () => {
      this.#hasOpened = true;
      socket.send(JSON.stringify({ op: "hello", token, client: "first-page", device: "desktop" }));
    };
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = ({ code, reason }) => this.#closed(this.#problem ?? { number: code, reason });
    this.#timer = setTimeout(() => this.#closed({ number: 1006, reason: "" }), ANSWER_MS);
  }

  close() {
    this.#generation += 1;
    this.#release();
    this.on.state("idle", "");
  }

  /** Sends a message and returns its answer. Throws an Error with the reason of one that says no, or where there is no connection. */
  ask(op, fields = {}) {
    if (!this.#isWelcome) return Promise.reject(new Error("There is no connection now."));
    const id = this.#next++;
    this.#socket.send(JSON.stringify({ op, id, ...fields }));
    return new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
  }

  #take(message) {
    this.#heard = true;
    const asked = message.id == null ? undefined : this.#asked.get(message.id);
    this.#asked.delete(message.id);
    switch (message.op) {
      case "welcome": return this.#welcomed(message);
      case "event": return this.on.event(message);
      case "ended": return this.on.ended(message.topics);
      case "error":
        if (asked) return asked.reject(new Error(message.reason));
        if (message.id == null && !mayReconnect(message.number)) return this.#closed(message); // the close behind it may be cut short
        if (message.code !== "unavailable") this.#problem = message;
        return undefined;
    }
    if (asked) return asked.resolve(message);
    if (message.op === "notifications") this.on.pulled(message);
    return undefined;
  }

  #welcomed(message) {
    clearTimeout(this.#timer);
    this.#isWelcome = true;
    this.#attempt = 0;
    this.#beat = setInterval(() => {
      if (!this.#heard) return this.#closed({ number: 1006, reason: "" });
      this.#heard = false;
      this.#socket.send('{"op":"ping"}');
    }, HEARTBEAT_MS);
    this.on.state("connected", "");
    this.on.welcome(message);
  }

  /** Nobody has answered at all, or a connection has broken: people do different things about the one and the other. */
  #closed({ number = 1006, code, reason }) {
    const words = [code, reason].filter(Boolean).join(": ");
    const why = words || (this.#hasOpened ? `The connection to ${this.url} broke.` : `Nobody answers at ${this.url}: is segue up still running?`);
    this.#lost(why, !mayReconnect(number));
  }

  #lost(why, isFinal) {
    this.#release();
    if (isFinal) return this.on.state("failed", why);
    const delayMs = 200 + Math.random() * Math.min(BACKOFF_MS.cap, BACKOFF_MS.base * 2 ** this.#attempt++);
    this.#timer = setTimeout(() => this.open(), delayMs);
    return this.on.state("waiting", why);
  }

  #release() {
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
    this.#isWelcome = this.#hasOpened = false;
    this.#problem = undefined;
    this.#heard = true;
    for (const { reject } of this.#asked.values()) reject(new Error("The connection broke before the answer came."));
    this.#asked.clear();
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = undefined;
  }
}
