// The TypeScript SDK of the accounting API.
// Start with `Accounting`; request and response bodies are in `models`.
import type { Client } from "openapi-fetch";
import type { paths } from "./contract.js";
import { BusinessOperations, PartnerOperations } from "./operations.js";
import { type Options, Session } from "./session.js";

export type { Given, Keyed, Matched } from "./calls.js";
export type * as models from "./contract.js";
export { AccountingError, type Options, type Retries } from "./session.js";

/**
 * A partner's session: it manages businesses, and `business` opens the books of one.
 *
 * A call that does not succeed throws an AccountingError. `api` is the underlying client of
 * openapi-fetch, for operations that have no method.
 */
export class Accounting extends PartnerOperations {
  constructor(baseUrl: string, partnerId: string, apiKey: string, options: Options = {}) {
    super(new Session(baseUrl, partnerId, apiKey, options).api);
  }

  /** Return the books of a business; its calls use a token that is valid for this business only. */
  business(businessId: string): Books {
    return new Books(this.api, businessId);
  }
}

/** The books of one business; it uses the session of its `Accounting`. */
export class Books extends BusinessOperations {
  constructor(
    api: Client<paths>,
    readonly businessId: string,
  ) {
    super(api);
  }
}
