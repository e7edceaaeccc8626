// Webhooks, feeds and bulk writes of the SDK for TypeScript, held against scripted servers. `make clients`
// runs it beside the package that it has built, and beside messages.json, the contract's examples.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Accounting, AccountingError, InvalidWebhook, verifyWebhook } from "accounting-sdk";
import { verifiedContent } from "./node_modules/accounting-sdk/webhooks.js";

const { WebhookMessage: MESSAGE, WebhookPing: PING } = JSON.parse(
  readFileSync(new URL("messages.json", import.meta.url), "utf8"),
);
const EVENT = MESSAGE.data;
const ID = "00000000-0000-0000-0000-000000000001";
const SOON = { firstWait: 0.01, longestWait: 0.02 };
// The example that Standard Webhooks publishes.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const VECTOR = '{"test": 2432232314}';
const VECTOR_AT = 1614265330;
const VECTOR_HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": String(VECTOR_AT),
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const OTHER = `whsec_${"b3RoZXI".repeat(4)}`;

/** Return the headers of a message that was sent some seconds ago. */
function signed(body, { secrets = [SECRET], age = 0 } = {}) {
  const at = String(Math.floor(Date.now() / 1000) - age);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", key).update(`msg_1.${at}.`).update(body).digest("base64")}`;
  });
  return {
    "Webhook-Id": "msg_1",
    "Webhook-Timestamp": at,
    "Webhook-Signature": signatures.join(" "),
  };
}

const BODY = JSON.stringify(MESSAGE);
const isInvalid = (error) => error instanceof InvalidWebhook;

describe("webhooks", () => {
  test("the published example is genuine, and no message of this API", async () => {
    const now = VECTOR_AT * 1000;
    assert.deepEqual(await verifiedContent(VECTOR, VECTOR_HEADERS, SECRET, now), JSON.parse(VECTOR));
    await assert.rejects(verifyWebhook(VECTOR, VECTOR_HEADERS, SECRET), isInvalid);
    await assert.rejects(verifyWebhook(VECTOR, signed(VECTOR), SECRET), /no message of this API/);
  });

  test("an event, from headers of each kind", async () => {
    const headers = signed(BODY);
    const lower = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v]));
    for (const each of [headers, new Headers(headers), lower]) {
      assert.deepEqual(await verifyWebhook(BODY, each, SECRET), MESSAGE);
    }
    assert.deepEqual(await verifyWebhook(Buffer.from(BODY), headers, SECRET), MESSAGE);
  });

  test("a ping", async () => {
    const body = JSON.stringify(PING);
    assert.equal((await verifyWebhook(body, signed(body), SECRET)).type, "ping");
  });

  for (const secrets of [[SECRET, OTHER], [OTHER, SECRET]]) {
    test(`one of several signatures is enough: ${secrets}`, async () => {
      const headers = signed(BODY, { secrets });
      headers["Webhook-Signature"] = `v1a,abcd v1 v1,! ${headers["Webhook-Signature"]}`;
      assert.deepEqual(await verifyWebhook(BODY, headers, SECRET), MESSAGE);
    });
  }

  test("clocks may differ by five minutes, but no more", async () => {
    for (const age of [-290, 290]) assert.ok(await verifyWebhook(BODY, signed(BODY, { age }), SECRET));
    for (const age of [-310, 310]) {
      await assert.rejects(verifyWebhook(BODY, signed(BODY, { age }), SECRET), isInvalid);
    }
  });

  for (const wrong of [
    { "Webhook-Signature": "v1,AAAA" },
    { "Webhook-Signature": "v1" },
    { "Webhook-Signature": "v1,A" },
    { "Webhook-Signature": "" },
    { "Webhook-Id": "msg_2" },
    { "Webhook-Id": undefined },
    { "Webhook-Timestamp": "soon" },
    { "Webhook-Timestamp": "NaN" },
  ]) {
    test(`headers that are not right: ${JSON.stringify(wrong)}`, () =>
      assert.rejects(verifyWebhook(BODY, { ...signed(BODY), ...wrong }, SECRET), isInvalid));
  }

  test("a body that was changed, or is no message", async () => {
    await assert.rejects(verifyWebhook(`${BODY} `, signed(BODY), SECRET), isInvalid);
    for (const body of ["[]", "7", "{}", '{"type": "invoice.paid"}', "nothing", "null"]) {
      await assert.rejects(verifyWebhook(body, signed(body), SECRET), isInvalid);
    }
    const broken = Buffer.from([0xff]);
    await assert.rejects(verifyWebhook(broken, signed(broken), SECRET), isInvalid);
  });

  test("a wrong secret is no wrong request", async () => {
    for (const secret of ["", "whsec_", "whsec_!"]) {
      await assert.rejects(verifyWebhook(BODY, signed(BODY), secret), (error) => !isInvalid(error));
    }
  });
});

/** Run the sample receiver while `calls` runs with its address. */
async function receiving(file, calls) {
  const program = fileURLToPath(new URL("receiver.mjs", import.meta.url));
  const env = { ...process.env, WEBHOOK_SECRET: SECRET };
  const child = spawn(process.execPath, [program, "0", file], { env });
  try {
    const [line] = await once(child.stdout, "data");
    await calls(String(line).trim());
  } finally {
    child.kill("SIGKILL");
  }
}

describe("the sample receiver", () => {
  const posted = async (url, body, headers) => (await fetch(url, { method: "POST", body, headers })).status;

  test("it keeps each event once, also over a restart", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "receiver-")), "events");
    for (const _ of [1, 2]) {
      await receiving(file, async (url) => {
        for (const body of [BODY, BODY, JSON.stringify(PING)]) {
          assert.equal(await posted(url, body, signed(body)), 204);
        }
        assert.equal(await posted(url, VECTOR, VECTOR_HEADERS), 400);
        assert.equal(await posted(url, BODY, signed(BODY, { secrets: [OTHER] })), 400);
      });
    }
    assert.deepEqual(readFileSync(file, "utf8"), `${JSON.stringify(EVENT)}\n`);
  });

  test("a line that a crash cut off is written again", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "receiver-")), "events");
    const whole = `${JSON.stringify(EVENT)}\n`;
    const earlier = `${JSON.stringify({ ...EVENT, id: ID })}\n`;
    for (const cut of [whole.slice(0, -1), whole.slice(0, 100), "{"]) {
      writeFileSync(file, earlier + cut);
      await receiving(file, async (url) => {
        assert.equal(await posted(url, BODY, signed(BODY)), 204);
      });
      assert.equal(readFileSync(file, "utf8"), earlier + whole);
    }
  });

  test("a body that is too large, and a negative length", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "receiver-")), "events");
    await receiving(file, async (url) => {
      const large = "x".repeat(1_000_001);
      assert.equal(await posted(url, large, signed(large)), 413);
      const wire = connect(Number(new URL(url).port), "127.0.0.1");
      wire.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n");
      const [answer] = await once(wire, "data");
      assert.match(String(answer), /^HTTP\/1.1 400 /);
    });
  });
});

/** Let a partner call a server that issues tokens and answers other requests by a function. */
async function serving(answer, options, run) {
  const calls = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url, "http://server");
    const call = { path: url.pathname, query: url.searchParams, headers: request.headers, body: String(Buffer.concat(chunks)) };
    const token = { access_token: "t", token_type: "Bearer", expires_in: 3600 };
    const isToken = call.path.endsWith("/oauth2/token/");
    if (!isToken) calls.push(call);
    const told = isToken ? { body: token } : answer(call);
    if (!told) return response.destroy();
    response.writeHead(told.status ?? 200, { "Content-Type": "application/json" });
    return response.end(JSON.stringify(told.body ?? {}));
  });
  await new Promise((go) => server.listen(0, "127.0.0.1", go));
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    const settings = { retries: SOON, bulkRetries: SOON, ...options };
    const accounting = new Accounting(url, ID, "key", settings);
    await run(accounting.business(ID), calls, accounting);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Return the answer of a feed with some events, which come in pages of two. */
function feed(head, { query }) {
  const after = Number(query.get("after"));
  const last = Math.min(after + 2, head);
  const results = [];
  for (let sequence = after + 1; sequence <= last; sequence++) results.push({ ...EVENT, sequence });
  const last_sequence = Math.max(after, last);
  return { body: { results, last_sequence, head_sequence: head, has_more: last < head } };
}

const asked = (calls, name) => calls.map(({ query }) => query.get(name));

describe("events", () => {
  test("without a wait they end with the newest", () =>
    serving((call) => feed(5, call), {}, async (books, calls) => {
      const seen = [];
      for await (const { sequence } of books.events(1, { wait: 0, types: ["invoice.*", "bill.paid"] })) {
        seen.push(sequence);
      }
      assert.deepEqual(seen, [2, 3, 4, 5]);
      assert.deepEqual(asked(calls, "after"), ["1", "3"]);
      assert.deepEqual(calls[0].query.getAll("types"), ["invoice.*", "bill.paid"]);
    }));

  test("they go on with what comes later", () => {
    let head = 3;
    return serving((call) => feed(head, call), {}, async (books, calls) => {
      const events = books.events();
      for (const sequence of [1, 2, 3]) assert.equal((await events.next()).value.sequence, sequence);
      head = 4;
      assert.equal((await events.next()).value.sequence, 4);
      assert.deepEqual(asked(calls, "wait"), ["20", "20", "20"]);
    });
  });

  test("the answer comes before the timeout", () =>
    serving((call) => feed(1, call), { timeout: 9 }, async (books, calls) => {
      await books.events().next();
      assert.deepEqual(asked(calls, "wait"), ["6"]);
    }));

  test("a server that does not wait is not asked without end", () => {
    const heads = [1, 1, 2];
    const begun = performance.now();
    return serving((call) => feed(heads.shift(), call), {}, async (books, calls) => {
      assert.equal((await books.events(1).next()).value.sequence, 2);
      assert.ok(performance.now() - begun >= 1990);
      assert.equal(calls.length, 3);
    });
  });
});

test("pages of all businesses go on at the cursor", () => {
  const pages = [
    { results: [EVENT], next_cursor: "1-1", has_more: true },
    { results: [], next_cursor: "2-1", has_more: true },
    { results: [], next_cursor: "2-1", has_more: false },
  ];
  return serving(() => ({ body: pages.shift() }), {}, async (_, calls, accounting) => {
    const found = [];
    for await (const { next_cursor } of accounting.eventPages(undefined, { wait: 0 })) found.push(next_cursor);
    // A page without events that moves the cursor is one to store, too.
    assert.deepEqual(found, ["1-1", "2-1"]);
    assert.deepEqual(asked(calls, "after"), [null, "1-1", "2-1"]);
    assert.equal(calls[0].path, "/v1/platform/events/");
  });
});

/** A server of batches: it keeps external ids and answers of keys, as the API does. */
class Books {
  answers = new Map();
  created = new Set();
  refused = new Set(["bad"]);
  malformed = new Set(["odd"]);
  left = Infinity;

  answer({ path, headers, body }) {
    assert.equal(path, `/v1/platform/businesses/${ID}/batch/`);
    assert.ok(Buffer.byteLength(body) <= 5 * 2 ** 20);
    if (this.left-- <= 0) return null;
    const { mode, items } = JSON.parse(body);
    assert.equal(mode, "independent");
    const wrong = items.flatMap((item, place) =>
      this.malformed.has(item.body.external_id) ? [[`items.${place}.body.memo`, ["is odd"]]] : [],
    );
    if (wrong.length) {
      const detail = { field_errors: Object.fromEntries(wrong) };
      return { status: 400, body: { error_code: "validation_error", message: "No.", detail, request_id: "r" } };
    }
    const key = headers["idempotency-key"];
    if (!this.answers.has(key)) this.answers.set(key, { results: items.map((item) => this.result(item)) });
    return { body: this.answers.get(key) };
  }

  result({ body: { external_id } }) {
    if (this.refused.has(external_id)) {
      const body = { error_code: "period_locked", message: "Locked.", detail: { lock_date: "2026-01-31" } };
      return { outcome: "refused", status: 422, etag: null, body };
    }
    this.created.add(external_id);
    return { outcome: "succeeded", status: 201, etag: '"1"', body: { id: `id-${external_id}` } };
  }
}

const customer = (external_id) => ({ operation: "create_customer", body: { external_id } });
const many = (count) => Array.from({ length: count }, (_, number) => customer(`c-${number}`));
const sizes = (calls) => calls.map(({ body }) => JSON.parse(body).items.length);
const keys = (calls) => calls.map(({ headers }) => headers["idempotency-key"]);

describe("bulk", () => {
  /** Let a partner call a server of batches. */
  const keeping = (books, run, options = {}) => serving((call) => books.answer(call), options, run);

  test("each item has its result", () =>
    keeping(new Books(), async (shop, calls) => {
      const seen = [];
      const progress = ({ done, failures }) => seen.push([done, failures.length]);
      const items = [...many(3), customer("bad"), customer("c-3")];
      const report = await shop.bulk(items, { size: 2, progress });
      assert.deepEqual(seen, [[2, 0], [4, 1], [5, 1]]);
      assert.deepEqual(report.results.map(({ index }) => index), [0, 1, 2, 3, 4]);
      const { error, ...first } = report.results[0];
      const expected = { index: 0, operation: "create_customer", externalId: "c-0", status: 201 };
      assert.deepEqual(first, { ...expected, id: "id-c-0", etag: '"1"' });
      assert.equal(error, null);
      assert.equal(report.failures[0], report.results[3]);
      const failure = report.failures[0].error;
      assert.deepEqual([failure.status, failure.errorCode], [422, "period_locked"]);
      assert.deepEqual(failure.detail, { lock_date: "2026-01-31" });
      assert.deepEqual(sizes(calls), [2, 2, 1]);
    }));

  test("items may come over time", () =>
    keeping(new Books(), async (shop) => {
      async function* slowly() {
        yield customer("a");
        yield { operation: "update_customer", path: { customer_id: "7" }, body: { external_id: "a" } };
      }
      assert.equal((await shop.bulk(slowly())).done, 2);
    }));

  test("a malformed item fails alone", () => {
    const books = new Books();
    return keeping(books, async (shop, calls) => {
      const report = await shop.bulk([customer("a"), customer("odd"), customer("b")]);
      assert.deepEqual([...books.created], ["a", "b"]);
      assert.deepEqual(report.results.map(({ index }) => index), [0, 1, 2]);
      assert.equal(report.failures.length, 1);
      const { index, status, error } = report.failures[0];
      assert.deepEqual([index, status], [1, 400]);
      assert.deepEqual(error.detail, { field_errors: { "body.memo": ["is odd"] } });
      assert.equal(calls.length, 2);
    });
  });

  test("a batch that is refused as a whole throws", () => {
    const body = { error_code: "permission_denied", message: "No.", detail: {}, request_id: "r" };
    return serving(() => ({ status: 403, body }), {}, (shop) =>
      assert.rejects(shop.bulk(many(1)), (error) => error instanceof AccountingError && error.status === 403),
    );
  });

  test("a repeat sends the same keys", () => {
    const books = new Books();
    return keeping(books, async (shop, calls) => {
      const once = await shop.bulk(many(5), { size: 2 });
      assert.deepEqual(await shop.bulk(many(5), { size: 2 }), once);
      await shop.bulk(many(5), { size: 2, name: "second" });
      const sent = keys(calls);
      assert.deepEqual(sent.slice(0, 3), sent.slice(3, 6));
      assert.equal(new Set(sent).size, 6);
      assert.equal(books.created.size, 5);
    });
  });

  test("it goes on after a kill, and skips what the state has", () => {
    const books = new Books();
    books.left = 2;
    return keeping(books, async (shop, calls) => {
      const state = new Set();
      await assert.rejects(shop.bulk([...many(6), customer("bad")], { size: 2, state }), { status: 0 });
      books.left = Infinity;
      calls.length = 0;
      const report = await shop.bulk([...many(6), customer("bad")], { size: 2, state });
      assert.deepEqual([report.skipped, report.done, calls.length], [4, 7, 2]);
      books.refused.clear();
      const again = await shop.bulk([...many(6), customer("bad")], { size: 2, state });
      assert.deepEqual([again.skipped, again.failures.length], [6, 1]);
      const renamed = await shop.bulk([...many(6), customer("bad")], { size: 2, state, name: "new" });
      assert.equal(renamed.failures.length, 0);
    }, { bulkRetries: { ...SOON, attempts: 3 } });
  });

  for (const status of [429, 503]) {
    test(`it waits longer than other calls: ${status}`, () => {
      const [books, refusals] = [new Books(), Array(8).fill({ status })];
      const answer = (call) => refusals.pop() ?? books.answer(call);
      return serving(answer, { bulkRetries: SOON }, async (shop) => {
        assert.equal((await shop.bulk(many(1))).results.length, 1);
      });
    });
  }

  test("large items make smaller batches", () => {
    const books = new Books();
    const large = [..."abc"].map((each) => ({ ...customer(each), body: { external_id: each, memo: "é".repeat(1e6) } }));
    const wide = [..."de"].map((each) => ({ ...customer(each), body: { external_id: each, tags: Array(60_000).fill(1) } }));
    return keeping(books, async (shop, calls) => {
      await shop.bulk([...large, ...wide]);
      assert.deepEqual([...books.created], ["a", "b", "c", "d", "e"]);
      assert.deepEqual(sizes(calls), [2, 2, 1]);
    });
  });

  test("nothing is sent for nothing, nor with a size that no batch has", () =>
    keeping(new Books(), async (shop, calls) => {
      assert.equal((await shop.bulk([])).done, 0);
      for (const size of [0, 501, NaN]) await assert.rejects(shop.bulk(many(1), { size }), RangeError);
      assert.equal(calls.length, 0);
    }));
});
