// The books of one business, read with a token that is kept in memory and nowhere else.

import { claimsOf } from "./token.js";

const V1 = "/v1/platform/businesses/";
const ASKED_BEFORE_END_MILLISECONDS = 120_000;
const TRIES = 3;
// A server gives each business a share of its work; a page that asks for more would only wait longer.
const ASKED_AT_ONCE = 4;

export class Books {
  // `changed` is called whenever there is something else to show.
  constructor(changed) {
    this.changed = changed;
    this.answers = new Map();
    this.queue = [];
    this.asking = 0;
  }

  // Takes a token; false where it opens no business. What is shown of the same business stays.
  open(token) {
    const claims = claimsOf(token);
    if (!claims) {
      this.ask("wrong");
      return false;
    }
    if (claims.business_id !== this.business) {
      this.answers.clear();
      this.queue = [];
    }
    this.business = claims.business_id;
    this.token = token;
    this.asks = undefined;
    clearTimeout(this.timer);
    const left = claims.exp * 1000 - Date.now() - ASKED_BEFORE_END_MILLISECONDS;
    this.timer = setTimeout(() => this.ask("ending"), Math.max(0, left));
    for (const [address, answer] of this.answers) if (answer.refused) this.fetch(address);
    this.changed();
    return true;
  }

  // Asks for another token, because this one is "ending" or was "refused", or what came was a "wrong" one.
  ask(why) {
    this.asks = why;
    this.changed();
  }

  get home() {
    return `${V1}${this.business}/`;
  }

  // Gives what is known of an address below the business, and asks for it the first time:
  // {value} once it is there, {problem} where it was refused, and neither while it is awaited.
  read(path, query = {}) {
    const given = Object.entries(query).filter(([, word]) => word !== undefined);
    const words = new URLSearchParams(given).toString();
    return this.readAt(`${this.home}${path}${words && `?${words}`}`);
  }

  // The same for an address that the server gave. None but its own business is ever asked.
  readAt(given) {
    const { origin, pathname, search } = new URL(given, location.href);
    if (origin !== location.origin || !pathname.startsWith(this.home)) return { problem: { status: 403 } };
    const address = pathname + search;
    if (!this.answers.has(address)) this.fetch(address);
    return this.answers.get(address);
  }

  // Asks for everything anew; what is shown stays until the answer is there.
  refresh() {
    const known = [...this.answers.keys()];
    for (const address of known) this.fetch(address);
  }

  // Lets an address wait for its turn. What the light asks proves all of the books, and comes last.
  fetch(address) {
    const answer = { value: this.answers.get(address)?.value };
    this.answers.set(address, answer);
    this.queue.push([address, answer]);
    this.queue.sort(([one], [other]) => one.endsWith("/integrity/") - other.endsWith("/integrity/"));
    queueMicrotask(() => this.next());
  }

  async next() {
    if (this.asking === ASKED_AT_ONCE || this.queue.length === 0) return;
    this.asking += 1;
    await this.answer(...this.queue.shift());
    this.asking -= 1;
    this.next();
    this.changed();
  }

  async answer(address, answer) {
    if (this.asks === "refused") {
      answer.refused = true; // The next token asks for it.
      return;
    }
    try {
      const came = await this.asked(address);
      if (came.status === 401) {
        answer.refused = true;
        if (this.token === came.sent) this.ask("refused");
        else this.fetch(address); // Another token came meanwhile.
        return;
      }
      const body = await came.json();
      if (came.ok) answer.value = body;
      else answer.problem = { status: came.status, message: body.message, id: body.request_id };
    } catch {
      answer.problem = { status: 0 };
    }
  }

  // A server that is busy says when to come back.
  async asked(address) {
    for (let tried = 1; ; tried += 1) {
      const sent = this.token;
      const answer = await fetch(address, { headers: { Authorization: `Bearer ${sent}`, Accept: "application/json" } });
      if (tried === TRIES || ![429, 503].includes(answer.status)) return Object.assign(answer, { sent });
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 10) * 1000));
    }
  }
}
