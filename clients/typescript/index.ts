// The accounting API for TypeScript. Begin with `Accounting`; bodies and answers are in `models`.
import type { Client } from "openapi-fetch";
import type { paths } from "./contract.js";
import { BusinessOperations, PartnerOperations } from "./operations.js";
import { type Options, Session } from "./session.js";

export type { Given, Keyed, Matched } from "./calls.js";
export type * as models from "./contract.js";
export { AccountingError, type Options, type Retries } from "./session.js";

/**
 * A partner: opens businesses, and the books of each with `business`.
 *
 * Every call throws an AccountingError where it does not succeed. `api` is the client of
 * openapi-fetch under all methods, for what they leave out.
 */
export class Accounting extends PartnerOperations {
  constructor(baseUrl: string, partnerId: string, apiKey: string, options: Options = {}) {
    super(new Session(baseUrl, partnerId, apiKey, options).api);
  }

  /** Open the books of a business, with a token that opens no other. */
  business(businessId: string): Books {
    return new Books(this.api, businessId);
  }
}

/** The books of one business; the tokens are those of the partner's session. */
export class Books extends BusinessOperations {
  constructor(
    api: Client<paths>,
    readonly businessId: string,
  ) {
    super(api);
  }
}
