// Many writes of one business: they are sent in batches, and a repeat saves nothing twice.
import { Operations } from "./calls.js";
import type { BatchOperation, operations } from "./contract.js";
import { AccountingError } from "./session.js";

const MOST_ITEMS = 500;
// The bounds of a batch are 5 MiB and 100,000 fields and list items; the frame of it needs some.
const MOST_BYTES = 5 * 2 ** 20 - 100;
const MOST_FIELDS = 99_990;
const PATH = "/v1/platform/businesses/{business_id}/batch/";

type JsonBody<O extends keyof operations> = operations[O] extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

/** A write: the operation by its id, its body, and the parameters of its path but the business's. */
export type BulkItem = {
  [O in BatchOperation]: { operation: O; body?: JsonBody<O>; path?: Record<string, string> };
}[BatchOperation];

/** The result of an item; `index` is its place from 0. `error` is null if it succeeded. */
export interface BulkResult {
  index: number;
  operation: string;
  externalId: string | null;
  status: number;
  id: string | null;
  etag: string | null;
  error: AccountingError | null;
}

/** The results so far; `skipped` counts items that an earlier run has finished. */
export interface BulkReport {
  results: BulkResult[];
  failures: BulkResult[];
  skipped: number;
  done: number;
}

/** What keeps which batches are done, such as a Set that your program stores. */
export interface BulkState {
  has(key: string): boolean | Promise<boolean>;
  add(key: string): unknown;
}

/**
 * Options of `bulk`: `progress` is called after each batch, and a repeat skips the batches in `state`.
 * `name` is a part of the keys of all batches: with another one, items that were refused are tried again.
 * `size` is the most items in a batch.
 */
export interface BulkOptions {
  progress?: (report: BulkReport) => unknown;
  state?: BulkState;
  name?: string;
  size?: number;
  signal?: AbortSignal;
}

/** An item as it is sent; `fields` is at least the number of its fields and list items. */
interface EncodedItem {
  index: number;
  operation: string;
  externalId: string | null;
  sent: object;
  bytes: number;
  fields: number;
}

/** The part of an answer that is about one item. */
interface ToldResult {
  outcome: string;
  status: number;
  etag: string | null;
  body: Record<string, unknown> | null;
}

/** A run of many writes in one business. */
export class Bulk extends Operations {
  async run(
    businessId: string,
    items: Iterable<BulkItem> | AsyncIterable<BulkItem>,
    { progress, state, name = "", size = MOST_ITEMS, signal }: BulkOptions,
  ): Promise<BulkReport> {
    if (!(size >= 1 && size <= MOST_ITEMS)) throw new RangeError(`size is ${size}, and not from 1 to 500.`);
    const report: BulkReport = { results: [], failures: [], skipped: 0, done: 0 };
    const send = (batch: EncodedItem[]) => this.#results(businessId, name, batch, signal);
    for await (const batch of groups(items, size)) {
      const key = await keyOf(businessId, name, batch);
      if (await state?.has(key)) {
        report.skipped += batch.length;
      } else {
        const results = await send(batch);
        const failures = results.filter((each) => each.error);
        report.results.push(...results);
        report.failures.push(...failures);
        if (!failures.length) await state?.add(key);
      }
      report.done += batch.length;
      await progress?.(report);
    }
    return report;
  }

  /**
   * Return the results of a batch in the order of its items. A malformed item refuses the whole batch, so
   * the others are sent once more without it.
   */
  async #results(
    businessId: string,
    name: string,
    batch: EncodedItem[],
    signal?: AbortSignal,
  ): Promise<BulkResult[]> {
    const given = { idempotencyKey: await keyOf(businessId, name, batch), signal };
    const body = bodyOf(batch);
    try {
      const ids = { business_id: businessId };
      const answer: { results: ToldResult[] } = await this.call("post", PATH, ids, given, body);
      return batch.map((item, place) => resultOf(item, answer.results[place]!));
    } catch (error) {
      const malformed = faultsByItem(error, batch);
      if (!malformed.size) throw error;
      const others = batch.filter((each) => !malformed.has(each));
      const results = [...malformed].map(([item, fault]) => refused(item, fault));
      if (others.length) results.push(...(await this.#results(businessId, name, others, signal)));
      return results.sort((one, other) => one.index - other.index);
    }
  }
}

/** Yield the items in groups that fit into a batch each; the same items make the same groups. */
async function* groups(
  items: Iterable<BulkItem> | AsyncIterable<BulkItem>,
  size: number,
): AsyncGenerator<EncodedItem[]> {
  let group: EncodedItem[] = [];
  let [bytes, fields, index] = [0, 0, 0];
  for await (const item of items) {
    const encoded = encode(index++, item);
    bytes += encoded.bytes;
    fields += encoded.fields;
    if (group.length && (group.length === size || bytes > MOST_BYTES || fields > MOST_FIELDS)) {
      yield group;
      [group, bytes, fields] = [[], encoded.bytes, encoded.fields];
    }
    group.push(encoded);
  }
  if (group.length) yield group;
}

function encode(index: number, { operation, path = {}, body = undefined }: BulkItem): EncodedItem {
  const sent = { key: String(index), operation, path, body: body ?? null };
  const text = JSON.stringify(sent);
  const bytes = new TextEncoder().encode(text).length + 1;
  // Each list or object has an entry more than commas.
  const fields = text.match(/[,[{]/g)?.length ?? 0;
  const externalId = Object(body).external_id ?? null;
  return { index, operation, externalId, sent, bytes, fields };
}

function bodyOf(batch: EncodedItem[]): { mode: string; items: object[] } {
  return { mode: "independent", items: batch.map((each) => each.sent) };
}

/** Return the key of a batch, which is the same for the same items of the same business. */
async function keyOf(businessId: string, name: string, batch: EncodedItem[]): Promise<string> {
  const text = `${businessId} ${name}\n${JSON.stringify(bodyOf(batch))}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const digits = [...new Uint8Array(digest)].map((each) => each.toString(16).padStart(2, "0"));
  return `bulk-${digits.join("")}`;
}

/** Return the error of each item that a refused batch names, with its own field errors. */
function faultsByItem(error: unknown, batch: EncodedItem[]): Map<EncodedItem, AccountingError> {
  const found = new Map<EncodedItem, AccountingError>();
  if (!(error instanceof AccountingError) || error.status !== 400) return found;
  for (const [path, messages] of Object.entries(Object(error.detail.field_errors))) {
    const [, place, field = ""] = /^items\.(\d+)\.(.+)$/.exec(path) ?? [];
    const item = batch[Number(place)];
    if (!item) continue;
    const fields = { ...Object(found.get(item)?.detail.field_errors), [field]: messages };
    const told = Object.entries(fields).map(([name, each]) => `${name}: ${[each].flat().join(" ")}`);
    const { status, errorCode, requestId } = error;
    const detail = { field_errors: fields };
    found.set(item, new AccountingError(status, errorCode, told.join("; "), detail, requestId, null));
  }
  return found;
}

function refused(item: EncodedItem, error: AccountingError): BulkResult {
  const { index, operation, externalId } = item;
  return { index, operation, externalId, status: error.status, id: null, etag: null, error };
}

function resultOf(item: EncodedItem, { outcome, status, etag, body }: ToldResult): BulkResult {
  const { index, operation, externalId } = item;
  const told = Object(body);
  if (outcome === "succeeded") {
    return { index, operation, externalId, status, id: told.id ?? null, etag, error: null };
  }
  return refused(item, AccountingError.of(status, told, "", null));
}
