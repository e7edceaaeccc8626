// A fetch that authenticates requests, retries them where that is safe, and throws errors.
import createClient, { type Client } from "openapi-fetch";
import { KEY } from "./calls.js";
import type { paths } from "./contract.js";
import { KEYED } from "./operations.js";

/**
 * The retry policy: the number of attempts, and the seconds within which they start.
 * The wait before a retry is `firstWait` seconds, doubled each time up to `longestWait`, and randomly
 * shortened by up to half. It is longer if `Retry-After` asks for it.
 */
export interface Retries {
  attempts: number;
  seconds: number;
  firstWait: number;
  longestWait: number;
}

/**
 * Options of a session: `timeout` is in seconds for each attempt, `fetch` sends the requests.
 * `bulkRetries` is the policy of `bulk`.
 */
export interface Options {
  retries?: Partial<Retries>;
  bulkRetries?: Partial<Retries>;
  timeout?: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * A call that did not succeed, with the error code and message of the API. `status` is the HTTP status,
 * or 0 if there was no response. `idempotencyKey` is the key of a write: send it again to repeat the
 * same write safely.
 */
export class AccountingError extends Error {
  override readonly name = "AccountingError";

  constructor(
    readonly status: number,
    readonly errorCode: string,
    message: string,
    readonly detail: Record<string, unknown>,
    readonly requestId: string,
    readonly idempotencyKey: string | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Return the error that a body of the API describes; `reason` if it has no message. */
  static of(status: number, body: Refusal, reason: string, key: string | null): AccountingError {
    return new AccountingError(
      status,
      String(body.error_code ?? "unknown"),
      String(body.message ?? reason),
      Object(body.detail),
      String(body.request_id ?? ""),
      key,
    );
  }
}

const PARTNER_TOKEN = "/v1/platform/oauth2/token/";
// Operations on a business itself use the partner's token.
const BUSINESS = /\/v1\/platform\/businesses\/([^/]+)\/(?!(?:un)?archive\/$)./;
const API_PATH = "/v1/platform/";
const TAKES_KEY = new RegExp(`^(?:${KEYED.map((each) => each.replace(/{\w+}/g, "[^/]+")).join("|")})$`);
// Statuses that leave open whether a write was executed.
const UNKNOWN = [502, 503, 504];
const NEVER_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];
// A token is renewed after this fraction of its lifetime.
const RENEWED_AT = 0.9;
const USUAL: Retries = { attempts: 5, seconds: 60, firstWait: 0.5, longestWait: 8 };
// A limit per minute lets a batch through in the next minute; a new release takes some minutes.
const PATIENT: Retries = { attempts: 1000, seconds: 900, firstWait: 0.5, longestWait: 15 };

type Refusal = Record<string, unknown>;
type Issued = { access_token: string; expires_in: number };
/** A response with the body of its error, or the error that broke the connection. */
type Outcome = { response: Response; refusal: Refusal } | { error: unknown };

/** A session that sends each write that takes an `Idempotency-Key` with one, the same for all its retries. */
export class Session {
  readonly api: Client<paths>;
  /** A client that retries for longer. */
  readonly patientApi: Client<paths>;
  readonly #timeout: number;
  readonly #key: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #tokens = new Map<string, KeptToken>();

  constructor(baseUrl: string, partnerId: string, apiKey: string, options: Options) {
    this.#key = `Basic ${btoa(`${partnerId}:${apiKey}`)}`;
    this.#timeout = options.timeout ?? 30;
    this.#fetch = options.fetch ?? globalThis.fetch;
    const clientWith = (retries: Retries): Client<paths> =>
      createClient<paths>({ baseUrl, fetch: (request) => this.#send(request, retries) });
    this.api = clientWith({ ...USUAL, ...options.retries });
    this.patientApi = clientWith({ ...PATIENT, ...options.bulkRetries });
  }

  /** Return the seconds to wait for an event: the answer must come before the timeout. */
  answeredWithin(wait: number): number {
    return Math.min(wait, Math.floor((this.#timeout * 2) / 3));
  }

  async #send(request: Request, retries: Retries): Promise<Response> {
    giveKey(request);
    const begun = performance.now();
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#outcome(request);
      if ("response" in outcome && outcome.response.ok) return outcome.response;
      const wait = waitAfter(retries, attempt, outcome);
      const late = performance.now() + wait * 1000 - begun > retries.seconds * 1000;
      if (attempt >= retries.attempts || late || !mayRepeat(request, outcome)) {
        throw errorOf(request, outcome);
      }
      await new Promise((go) => setTimeout(go, wait * 1000));
    }
  }

  async #outcome(request: Request): Promise<Outcome> {
    try {
      const response = await this.#opened(request);
      return { response, refusal: response.ok ? {} : await refusalIn(response) };
    } catch (error) {
      if (request.signal.aborted || error instanceof AccountingError) throw error;
      return { error };
    }
  }

  /** Send a request with its token; if the token is rejected, send it once more with a new one. */
  async #opened(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith(PARTNER_TOKEN)) return this.#once(request, this.#key);
    const kept = this.#keptFor(BUSINESS.exec(pathname)?.[1] ?? "");
    const token = kept.current();
    const response = await this.#once(request, `Bearer ${await token}`);
    if (!(await isRefusedToken(response))) return response;
    return this.#once(request, `Bearer ${await kept.insteadOf(token)}`);
  }

  /** Send a request and read the whole body, since the connection can break then, too. */
  async #once(request: Request, authorization: string): Promise<Response> {
    const sent = request.clone();
    sent.headers.set("Authorization", authorization);
    const late = AbortSignal.timeout(this.#timeout * 1000);
    const signal = AbortSignal.any([request.signal, late]);
    const response = await this.#fetch(sent, { signal });
    const body = await response.arrayBuffer();
    return new Response(body.byteLength ? body : null, response);
  }

  #keptFor(businessId: string): KeptToken {
    const kept = this.#tokens.get(businessId) ?? new KeptToken(() => this.#issue(businessId));
    this.#tokens.set(businessId, kept);
    return kept;
  }

  async #issue(businessId: string): Promise<Issued> {
    const grant = { body: { grant_type: "client_credentials" } } as const;
    const of = { params: { path: { business_id: businessId } } };
    const answer = await (businessId
      ? this.api.POST("/v1/platform/{business_id}/oauth2/token/", of)
      : this.api.POST("/v1/platform/oauth2/token/", grant));
    return answer.data as Issued;
  }
}

/** A cached token and the time to renew it; concurrent calls share one renewal. */
class KeptToken {
  #token: Promise<string> | undefined;
  #oldAt = 0;

  constructor(readonly issue: () => Promise<Issued>) {}

  current(): Promise<string> {
    return this.#token && performance.now() < this.#oldAt ? this.#token : this.#renew();
  }

  insteadOf(refused: Promise<string>): Promise<string> {
    return this.#token && this.#token !== refused ? this.#token : this.#renew();
  }

  #renew(): Promise<string> {
    const askedAt = performance.now();
    this.#oldAt = Infinity;
    const renewed = this.issue().then((issued) => {
      this.#oldAt = askedAt + RENEWED_AT * issued.expires_in * 1000;
      return issued.access_token;
    });
    // The next call after a failure requests a token again.
    renewed.catch(() => (this.#oldAt = 0));
    this.#token = renewed;
    return renewed;
  }
}

/** Set an `Idempotency-Key` on a request that takes one and has none. */
function giveKey(request: Request): void {
  if (takesKey(request) && !request.headers.has(KEY)) request.headers.set(KEY, crypto.randomUUID());
}

/** Return whether its operation takes an `Idempotency-Key`; another would ignore it. */
function takesKey(request: Request): boolean {
  const { pathname } = new URL(request.url);
  return TAKES_KEY.test(`${request.method} ${pathname.slice(pathname.indexOf(API_PATH))}`);
}

function asksForToken(request: Request): boolean {
  return new URL(request.url).pathname.endsWith("/oauth2/token/");
}

/** Return whether a retry is safe: the request had no effect, or a repeat has none. */
function mayRepeat(request: Request, outcome: Outcome): boolean {
  if ("response" in outcome) {
    const { response, refusal } = outcome;
    if (response.status === 429 || refusal.error_code === "idempotency_in_progress") return true;
    if (!UNKNOWN.includes(response.status)) return false;
  } else if (NEVER_SENT.includes(codeOf(outcome.error))) {
    return true;
  }
  return ["GET", "HEAD"].includes(request.method) || takesKey(request) || asksForToken(request);
}

/** Return the error code of a broken connection, which fetch puts into the cause of its error. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
}

function waitAfter(retries: Retries, attempt: number, outcome: Outcome): number {
  const usual = Math.min(retries.longestWait, retries.firstWait * 2 ** (attempt - 1));
  return Math.max(usual / 2, askedWait(outcome)) + (Math.random() * usual) / 2;
}

/** Return the seconds that `Retry-After` asks for, as a number or as a date; 0 without one. */
function askedWait(outcome: Outcome): number {
  const asked = "response" in outcome ? (outcome.response.headers.get("Retry-After") ?? "") : "";
  if (/^\d+$/.test(asked)) return Number(asked);
  return Math.max(0, (Date.parse(asked) - Date.now()) / 1000 || 0);
}

async function isRefusedToken(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  const { error_code } = await refusalIn(response);
  return error_code === "token_expired" || error_code === "invalid_token";
}

/** Return the JSON body of an error response; an empty object if it is not from the API. */
async function refusalIn(response: Response): Promise<Refusal> {
  try {
    return Object(await response.clone().json());
  } catch {
    return {};
  }
}

function errorOf(request: Request, outcome: Outcome): AccountingError {
  const key = request.headers.get(KEY);
  if ("error" in outcome) {
    const cause = outcome.error;
    return new AccountingError(0, "no_answer", String(cause), {}, "", key, { cause });
  }
  const { response, refusal } = outcome;
  return AccountingError.of(response.status, refusal, response.statusText, key);
}
