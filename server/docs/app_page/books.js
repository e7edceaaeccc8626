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
    this.seen = new Set(); // The addresses of what is shown now.
    this.saved = new Map(); // Files by key: "asked", or the {problem} with which it was refused.
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
      this.saved.clear();
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
    if (origin !== location.origin || !pathname.startsWith(this.home)) return { problem: { status: "elsewhere" } };
    const address = pathname + search;
    this.seen.add(address);
    if (!this.answers.has(address)) this.fetch(address);
    return this.answers.get(address);
  }

  // Asks anew for what is shown, which stays until the answer is there, and forgets the rest.
  refresh() {
    for (const address of [...this.answers.keys()]) {
      if (this.seen.has(address)) this.fetch(address);
      else this.answers.delete(address);
    }
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
      if (came.ok) answer.value = await came.json();
      else answer.problem = await problemOf(came);
    } catch {
      answer.problem = { status: 0 };
    }
  }

  // Gives what is at an address below the business now, without keeping it.
  async now(path) {
    return (await this.got(path)).json();
  }

  // Gives the {address, name} of a file that the server makes, in the memory of the browser.
  async file(path, type) {
    const came = await this.got(path, type);
    const name = /filename="?([^";]+)/.exec(came.headers.get("Content-Disposition") ?? "")?.[1] ?? "file";
    return { address: URL.createObjectURL(await came.blob()), name };
  }

  async got(path, type) {
    const came = await this.asked(`${this.home}${path}`, type);
    if (came.status === 401) this.ask("refused");
    if (!came.ok) throw Object.assign(new Error(path), { problem: await problemOf(came) });
    return came;
  }

  // Keeps how far the saving of a file is; nothing once it is done.
  save(key, state) {
    if (state) this.saved.set(key, state);
    else this.saved.delete(key);
    this.changed();
  }

  // A server that is busy says when to come back.
  async asked(address, type = "application/json") {
    for (let tried = 1; ; tried += 1) {
      const sent = this.token;
      const answer = await fetch(address, { headers: { Authorization: `Bearer ${sent}`, Accept: type } });
      if (tried === TRIES || ![429, 503].includes(answer.status)) return Object.assign(answer, { sent });
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 10) * 1000));
    }
  }
}

async function problemOf(came) {
  const { message, request_id: id } = await came.json();
  return { status: came.status, message, id };
}
