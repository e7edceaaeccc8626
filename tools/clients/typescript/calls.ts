// The base class of all operations: it sends requests and iterates over pages; and the iterator over a feed.
import type { Client } from "openapi-fetch";
import type { operations, paths } from "./contract.js";

export const KEY = "Idempotency-Key";
// A server that is stopping does not wait for an event; the next request waits at least this long.
const PAUSE_MS = 1000;

/** Options of any call; `signal` aborts it. */
export interface Given {
  signal?: AbortSignal;
}

/** Options of a write: your own key lets you repeat it safely, even after your program restarts. */
export interface Keyed extends Given {
  idempotencyKey?: string;
}

/** Options of an update: `ifMatch` is the `ETag` of the version that you read. */
export interface Matched {
  ifMatch?: string;
}

export type Query<O extends keyof operations> = NonNullable<operations[O]["parameters"]["query"]>;
/** The filters of a list, without the parameters for paging. */
export type Filters<O extends keyof operations> = Omit<Query<O>, "page" | "cursor" | "count">;

type Method = "get" | "post" | "put" | "patch" | "delete";
type Ids = Record<string, string>;
type All = Keyed & Matched & Record<string, unknown>;
type Page<T> = { results: T[]; page_info: { next_cursor: string | null } };
type Send = (method: Method, path: string, init: object) => Promise<{ data?: unknown }>;

/** A caller of operations through a client of openapi-fetch, which throws errors. */
export class Operations {
  constructor(readonly api: Client<paths>) {}

  protected async call<T>(
    method: Method,
    path: string,
    ids: Ids,
    given: object,
    body?: object,
    parseAs?: "text" | "blob",
  ): Promise<T> {
    const { idempotencyKey, ifMatch, signal, ...query } = given as All;
    const answer = await (this.api.request as Send)(method, path, {
      params: { path: ids, query },
      headers: { [KEY]: idempotencyKey, "If-Match": ifMatch },
      signal,
      body,
      parseAs,
      ...(hasFile(body) && { bodySerializer: asForm }),
    });
    return answer.data as T;
  }

  protected async *walk<T>(path: string, ids: Ids, given: object): AsyncGenerator<T> {
    let cursor: string | null | undefined;
    do {
      const asked = { page_size: 100, ...given, count: false, cursor };
      const page: Page<T> = await this.call("get", path, ids, asked);
      yield* page.results;
      cursor = page.page_info.next_cursor;
    } while (cursor !== null);
  }
}

/** Yield the pages of a feed after a position; if not `endless`, up to the newest event. */
export async function* follow<P, F extends { results: unknown[]; has_more: boolean }>(
  feed: (after: P) => Promise<F>,
  after: P,
  position: (page: F) => P,
  endless: boolean,
): AsyncGenerator<F> {
  for (;;) {
    const begun = performance.now();
    const page = await feed(after);
    const moved = position(page) !== after;
    after = position(page);
    if (page.results.length || moved) yield page;
    if (page.has_more) continue;
    if (!endless) return;
    const isEarly = !page.results.length && performance.now() - begun < PAUSE_MS;
    if (isEarly) await new Promise((go) => setTimeout(go, PAUSE_MS));
  }
}

function hasFile(body: object = {}): boolean {
  return Object.values(body).some((each) => each instanceof Blob);
}

/** Encode a form: a list repeats its name, and values other than text are JSON. */
function asForm(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      form.append(name, typeof each === "string" || each instanceof Blob ? each : JSON.stringify(each));
    }
  }
  return form;
}
