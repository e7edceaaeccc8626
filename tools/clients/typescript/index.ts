// The TypeScript SDK of the accounting API.
// Start with `Accounting`; request and response bodies are in `models`.
import { Bulk, type BulkItem, type BulkOptions, type BulkReport } from "./bulk.js";
import { follow, type Given, type Query } from "./calls.js";
import type { Event, PartnerEventFeed } from "./contract.js";
import { BusinessOperations, PartnerOperations } from "./operations.js";
import { type Options, Session } from "./session.js";

export type { BulkItem, BulkOptions, BulkReport, BulkResult, BulkState } from "./bulk.js";
export type { Given, Keyed, Matched } from "./calls.js";
export type * as models from "./contract.js";
export { AccountingError, type Options, type Retries } from "./session.js";
export { InvalidWebhook, verifyWebhook, type WebhookHeaders } from "./webhooks.js";

// The longest time for which the server waits for an event.
const WAIT_SECONDS = 20;

/** Options of `events`: `wait` is in seconds; with 0 the iterator ends with the newest event. */
export type EventOptions = Omit<Query<"list_events">, "after"> & Given;
export type EventPageOptions = Omit<Query<"list_partner_events">, "after"> & Given;

/**
 * A partner's session: it manages businesses, and `business` opens the books of one.
 *
 * A call that does not succeed throws an AccountingError. `api` is the underlying client of
 * openapi-fetch, for operations that have no method.
 */
export class Accounting extends PartnerOperations {
  readonly #session: Session;

  constructor(baseUrl: string, partnerId: string, apiKey: string, options: Options = {}) {
    const session = new Session(baseUrl, partnerId, apiKey, options);
    super(session.api);
    this.#session = session;
  }

  /** Return the books of a business; its calls use a token that is valid for this business only. */
  business(businessId: string): Books {
    return new Books(this.#session, businessId);
  }

  /**
   * Iterate over the events of all businesses after a cursor, in pages, and then over each new one.
   *
   * Store `next_cursor` of each page that you have handled, and begin with it next time. The events of a
   * business are in their order.
   */
  eventPages(
    after?: string,
    { wait = WAIT_SECONDS, ...given }: EventPageOptions = {},
  ): AsyncGenerator<PartnerEventFeed> {
    const feed = (after?: string) =>
      this.listPartnerEvents({ ...given, after, wait: this.#session.answeredWithin(wait) });
    return follow(feed, after, ({ next_cursor }) => next_cursor, wait > 0);
  }
}

/** The books of one business; it uses the session of its `Accounting`. */
export class Books extends BusinessOperations {
  readonly #session: Session;

  constructor(
    session: Session,
    readonly businessId: string,
  ) {
    super(session.api);
    this.#session = session;
  }

  /**
   * Iterate over the events after a sequence in their order, and then over each new one, without end.
   *
   * Store `sequence` of each event that you have handled, and begin with it next time. `types` are such as
   * "invoice.paid" and "invoice.*".
   */
  async *events(
    after = 0,
    { wait = WAIT_SECONDS, ...given }: EventOptions = {},
  ): AsyncGenerator<Event> {
    const feed = (after: number) =>
      this.listEvents({ ...given, after, wait: this.#session.answeredWithin(wait) });
    const pages = follow(feed, after, ({ last_sequence }) => last_sequence, wait > 0);
    for await (const { results } of pages) yield* results;
  }

  /**
   * Send any number of writes in batches, and return the result of each.
   *
   * Items are saved in their order, each alone: one that is refused is in `failures`, and the others go on.
   * Give each record an `external_id`. After a kill, call it again with the same items in the same order: what
   * is saved is found and not saved again. Throws AccountingError if a batch as a whole fails.
   */
  bulk(
    items: Iterable<BulkItem> | AsyncIterable<BulkItem>,
    options: BulkOptions = {},
  ): Promise<BulkReport> {
    return new Bulk(this.#session.patientApi).run(this.businessId, items, options);
  }
}
