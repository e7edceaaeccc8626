// What the SDK for TypeScript repeats and what it does not, held against a server that does as it
// likes. `make clients` runs it beside the package that it has built, and beside operations.json,
// which names each operation of the contract and the tokens that open it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Accounting, AccountingError } from "accounting-sdk";

const OPERATIONS = JSON.parse(readFileSync(new URL("operations.json", import.meta.url), "utf8"));
const ID = "00000000-0000-0000-0000-000000000001";
const CALLS = OPERATIONS.map((each) => ({ ...each, path: each.path.replaceAll(/{\w+}/g, ID) }));
const REPEATABLE = CALLS.filter(({ method, takesKey }) => takesKey || method === "GET");
const ONE_A_METHOD = [...new Map(REPEATABLE.map((each) => [each.method, each])).values()];
const SENT_ONCE = CALLS.filter((each) => !REPEATABLE.includes(each));
const SOON = { firstWait: 0.01, longestWait: 0.02 };
const BUSINESSES = "/v1/platform/businesses/";
const INVOICES = `${BUSINESSES}${ID}/invoices/`;
const EMPTY_PAGE = { results: [], page_info: { next_cursor: null } };
const DONE = { status: 200, body: EMPTY_PAGE };
const BUSY = { status: 503 };
const LOST = null;

const refusing = (status, code, headers = {}) => ({
  status,
  headers,
  body: { error_code: code, message: "No.", detail: { why: 1 }, request_id: "abc" },
});

/** Let a partner call a server that answers by a script, the last of it again and again. */
async function told(script, options, calls) {
  const { lives = 3600, ...others } = options;
  const server = { tokens: [], calls: [] };
  server.begin = (...answers) => {
    script.splice(0, script.length, ...answers);
    server.calls.length = 0;
  };
  const listener = createServer((asked, answer) => {
    asked.resume().on("end", () => {
      const { method, url: path, headers } = asked;
      if (path.endsWith("/oauth2/token/")) {
        server.tokens.push(path);
        return said(answer, issued(`token-${server.tokens.length}`, lives));
      }
      server.calls.push({ method, path: path.split("?")[0], headers, at: performance.now() });
      const next = script.length > 1 ? script.shift() : script[0];
      return said(answer, typeof next === "function" ? next(headers) : next);
    });
  });
  await new Promise((go) => listener.listen(0, "127.0.0.1", go));
  const url = `http://127.0.0.1:${listener.address().port}`;
  server.accounting = new Accounting(url, ID, "key", { retries: SOON, ...others });
  server.ask = (method, path = INVOICES, init = {}) => server.accounting.api.request(method, path, init);
  server.sent = (name) => server.calls.map(({ headers }) => headers[name]);
  try {
    await calls(server);
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

async function said(answer, next) {
  if (next === LOST) return answer.destroy();
  const { status, body = {}, headers = {}, after = 0 } = next;
  await pause(after);
  answer.writeHead(status, { "Content-Type": "application/json", ...headers });
  return answer.end(typeof body === "string" ? body : JSON.stringify(body));
}

const issued = (name, seconds) => ({
  status: 200,
  body: { access_token: name, token_type: "Bearer", expires_in: seconds },
});

/** Return what a call is refused with. */
async function refusal(call) {
  const error = await call.then(() => assert.fail("not refused"), (reason) => reason);
  assert.ok(error instanceof AccountingError, String(error));
  return error;
}

describe("repeats", () => {
  for (const bad of [LOST, BUSY, { status: 502 }, refusing(429, "too_many_requests")]) {
    test(`reads and writes with a key, after ${bad?.status ?? "no answer"}`, () =>
      told([DONE], {}, async (server) => {
        for (const { id, method, path, takesKey } of bad === LOST ? REPEATABLE : ONE_A_METHOD) {
          server.begin(bad, bad, DONE);
          await server.ask(method.toLowerCase(), path);
          const [first, ...others] = server.sent("idempotency-key");
          assert.equal(first !== undefined, takesKey, id);
          assert.deepEqual(others, [first, first], id);
        }
      }));
  }

  test("a write keeps its key, and the next one has another", () =>
    told([LOST, BUSY, DONE], {}, async (server) => {
      await server.ask("post");
      await server.ask("post");
      const [first, second, third, next] = server.sent("idempotency-key");
      assert.match(first, /^[0-9a-f-]{36}$/);
      assert.deepEqual([second, third], [first, first]);
      assert.notEqual(next, first);
    }));

  test("a key that is given is taken", () =>
    told([BUSY, DONE], {}, async (server) => {
      await server.accounting.business(ID).createInvoice({}, { idempotencyKey: "mine" });
      assert.deepEqual(server.sent("idempotency-key"), ["mine", "mine"]);
    }));

  for (const { id, method, path } of SENT_ONCE) {
    test(`${id} takes no key and is sent once`, () =>
      told([LOST, BUSY], {}, async (server) => {
        const lost = await refusal(server.ask(method.toLowerCase(), path));
        assert.deepEqual([lost.status, lost.idempotencyKey], [0, null]);
        const asked = { headers: { "Idempotency-Key": "mine" } };
        assert.equal((await refusal(server.ask(method.toLowerCase(), path, asked))).status, 503);
        assert.deepEqual(server.sent("idempotency-key"), [undefined, "mine"]);
      }));
  }

  test("unless it was not done", () =>
    told([DONE], {}, async (server) => {
      for (const { method, path } of SENT_ONCE) {
        server.begin(refusing(429, "too_many_requests"), DONE);
        assert.equal((await server.ask(method.toLowerCase(), path)).response.status, 200);
      }
    }));

  test("a write under way is waited for", () =>
    told([refusing(409, "idempotency_in_progress"), DONE], {}, async (server) => {
      assert.equal((await server.ask("post")).response.status, 200);
    }));

  test("another clash is not", () =>
    told([refusing(409, "invoice_void")], {}, async (server) => {
      const error = await refusal(server.ask("post"));
      const { status, errorCode, message, detail, requestId } = error;
      assert.deepEqual([status, errorCode, message], [409, "invoice_void", "No."]);
      assert.deepEqual([detail, requestId], [{ why: 1 }, "abc"]);
      assert.equal(server.calls.length, 1);
    }));

  test("an answer that takes too long is lost", () =>
    told([{ ...DONE, after: 1500 }, DONE], { timeout: 0.5 }, async (server) => {
      assert.equal((await server.ask("post")).response.status, 200);
      assert.equal(server.calls.length, 2);
    }));

  test("an answer that breaks off is lost", () => {
    const broken = { status: 200, body: "{", headers: { "Content-Length": "2", Connection: "close" } };
    return told([broken, DONE], {}, async (server) => {
      assert.deepEqual((await server.ask("post")).data, EMPTY_PAGE);
      assert.equal(server.calls.length, 2);
    });
  });

  test("a call that is given up is not", () =>
    told([{ ...DONE, after: 500 }], {}, async (server) => {
      const signal = AbortSignal.timeout(100);
      const call = server.accounting.business(ID).createInvoice({}, { signal });
      await assert.rejects(call, { name: "TimeoutError" });
      assert.equal(server.calls.length, 1);
    }));
});

describe("waits", () => {
  test("it waits as long as it is told", () =>
    told([refusing(429, "too_many_requests", { "Retry-After": "1" }), DONE], {}, async (server) => {
      await server.ask("get");
      const [first, second] = server.calls;
      assert.ok(second.at - first.at >= 1000);
    }));

  for (const moment of [() => "60", () => new Date(Date.now() + 60_000).toUTCString()]) {
    test(`but no longer than a call may take: ${moment()}`, () => {
      const busy = refusing(429, "too_many_requests", { "Retry-After": moment() });
      return told([busy, DONE], { retries: { ...SOON, seconds: 30 } }, async (server) => {
        assert.equal((await refusal(server.ask("get"))).status, 429);
        assert.equal(server.calls.length, 1);
      });
    });
  }

  test("it gives up", () =>
    told([BUSY], { retries: { ...SOON, attempts: 3 } }, async (server) => {
      const asked = { headers: { "Idempotency-Key": "mine" } };
      const error = await refusal(server.ask("post", INVOICES, asked));
      assert.deepEqual([error.status, error.idempotencyKey], [503, "mine"]);
      assert.equal(server.calls.length, 3);
    }));

  test("longer each time up to a bound", () =>
    told([BUSY], { retries: { firstWait: 0.1, longestWait: 0.2 } }, async (server) => {
      await refusal(server.ask("get"));
      const at = server.calls.map((call) => call.at);
      const waits = at.slice(1).map((moment, index) => moment - at[index]);
      assert.equal(waits.length, 4);
      // Chance takes up to half; a timer may go off a millisecond early.
      for (const [index, least] of [50, 100, 100, 100].entries()) assert.ok(waits[index] >= least - 2);
    }));

  test("a server that is not there", async () => {
    let gone;
    await told([DONE], {}, async (server) => (gone = server.accounting));
    const error = await refusal(gone.listBusinesses().next());
    assert.deepEqual([error.status, error.errorCode], [0, "no_answer"]);
  });
});

describe("tokens", () => {
  test("a business has its own", () =>
    told([DONE], {}, async (server) => {
      await server.ask("get");
      await server.ask("get", BUSINESSES);
      // The token of the business is asked for first, and asks for the partner's by itself.
      assert.deepEqual(server.tokens, ["/v1/platform/oauth2/token/", `/v1/platform/${ID}/oauth2/token/`]);
      assert.deepEqual(server.sent("authorization"), ["Bearer token-2", "Bearer token-1"]);
    }));

  test("an old one is renewed before it is refused", () =>
    told([DONE], { lives: 1 }, async (server) => {
      await server.ask("get", BUSINESSES);
      await server.ask("get", BUSINESSES);
      assert.equal(server.tokens.length, 1);
      await pause(1000);
      await server.ask("get", BUSINESSES);
      assert.equal(server.sent("authorization").at(-1), "Bearer token-2");
    }));

  for (const code of ["token_expired", "invalid_token"]) {
    test(`one that is refused is renewed: ${code}`, () =>
      told([refusing(401, code), DONE], {}, async (server) => {
        await server.ask("get", BUSINESSES);
        assert.deepEqual(server.sent("authorization"), ["Bearer token-1", "Bearer token-2"]);
      }));
  }

  test("but once", () =>
    told([refusing(401, "invalid_token")], {}, async (server) => {
      assert.equal((await refusal(server.ask("get", BUSINESSES))).status, 401);
      assert.equal(server.calls.length, 2);
    }));

  test("other refusals renew nothing", () =>
    told([refusing(403, "permission_denied")], {}, async (server) => {
      assert.equal((await refusal(server.ask("get", BUSINESSES))).status, 403);
      assert.equal(server.tokens.length, 1);
    }));

  test("calls at the same time share one", () =>
    told([DONE], {}, async (server) => {
      await Promise.all(Array.from({ length: 32 }, () => server.ask("get")));
      assert.equal(server.tokens.length, 2);
    }));

  test("calls at the same time renew one", () => {
    const first = ({ authorization }) =>
      authorization === "Bearer token-1" ? refusing(401, "token_expired") : DONE;
    return told([first], {}, async (server) => {
      await Promise.all(Array.from({ length: 32 }, () => server.ask("get", BUSINESSES)));
      assert.equal(server.tokens.length, 2);
    });
  });
});

describe("errors", () => {
  test("what a proxy says has no code", () =>
    told([{ status: 504, body: "<html>" }], { retries: { attempts: 1 } }, async (server) => {
      const { errorCode, message } = await refusal(server.ask("get"));
      assert.deepEqual([errorCode, message], ["unknown", "Gateway Timeout"]);
    }));

  test("a status that is not known", () =>
    told([{ status: 418 }], {}, async (server) => {
      assert.equal((await refusal(server.ask("get"))).status, 418);
    }));
});

test("every operation is a method that takes its own token", () => {
  const camel = (id) => id.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
  return told([DONE], {}, async (server) => {
    const { accounting } = server;
    const books = accounting.business(ID);
    await accounting.listBusinesses().next();
    await books.listInvoices().next();
    for (const { id, method, path, isAPartners, tokens, hasBody } of OPERATIONS) {
      const ids = path.match(/{\w+}/g)?.slice(isAPartners ? 0 : 1) ?? [];
      const given = [...ids.map(() => ID), ...(hasBody ? [{}] : [])];
      const call = (isAPartners ? accounting : books)[camel(id)](...given);
      await (Symbol.asyncIterator in call ? call.next() : call);
      const asked = server.calls.at(-1);
      assert.deepEqual([asked.method, asked.path], [method, path.replaceAll(/{\w+}/g, ID)]);
      const isFirst = asked.headers.authorization === "Bearer token-1";
      assert.ok(tokens.includes(isFirst ? "PartnerToken" : "BusinessToken"), id);
    }
  });
});
