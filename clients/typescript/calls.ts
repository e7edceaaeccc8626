// What the method of each operation does: fill in a request, take its answer or walk its pages.
import type { Client } from "openapi-fetch";
import type { operations, paths } from "./contract.js";
import { KEY } from "./session.js";

/** What may be given to any call: `signal` gives it up. */
export interface Given {
  signal?: AbortSignal;
}

/** What may be given to a write: a key of yours, which also holds after your program has died. */
export interface Keyed extends Given {
  idempotencyKey?: string;
}

/** What may be given to a change: the `ETag` of what it is made to. */
export interface Matched {
  ifMatch?: string;
}

export type Query<O extends keyof operations> = NonNullable<operations[O]["parameters"]["query"]>;
/** The filters of a list, without what walks it. */
export type Filters<O extends keyof operations> = Omit<Query<O>, "page" | "cursor" | "count">;

type Method = "get" | "post" | "put" | "patch" | "delete";
type Ids = Record<string, string>;
type All = Keyed & Matched & Record<string, unknown>;
type Page<T> = { results: T[]; page_info: { next_cursor: string | null } };
type Send = (method: Method, path: string, init: object) => Promise<{ data?: unknown }>;

/** Calls operations through a client of openapi-fetch, which throws what is refused. */
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

function hasFile(body: object = {}): boolean {
  return Object.values(body).some((each) => each instanceof Blob);
}

/** Write a form as the contract takes it: a list repeats its name, what is no text is JSON. */
function asForm(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      form.append(name, typeof each === "string" || each instanceof Blob ? each : JSON.stringify(each));
    }
  }
  return form;
}
