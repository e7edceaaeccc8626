// The calls of a first day, through the SDK for TypeScript:
//   node journey.js BASE_URL PARTNER_ID API_KEY
import { Accounting, AccountingError, items, taken, type components } from "./index.js";

declare const process: { argv: string[] };

const [baseUrl = "", partnerId = "", apiKey = ""] = process.argv.slice(2);
const { api } = new Accounting(baseUrl, partnerId, apiKey);

const business = await taken(
  api.POST("/v1/platform/businesses/", {
    body: {
      external_id: "typescript-sdk",
      legal_name: "Harbour Coffee Ltd",
      entity_type: "limited",
      email: "books@harbour.example.com",
      country: "GB",
    },
  }),
);
const path = { business_id: business.id };
const INVOICES = "/v1/platform/businesses/{business_id}/invoices/";

function invoice(memo: string): components["schemas"]["InvoiceCreate"] {
  return {
    customer_external_id: "blue-door",
    sent_at: "2026-07-01T09:00:00Z",
    memo,
    line_items: [{ description: "Beans", quantity: 12, unit_price: 1450, tax_rate: 20 }],
  };
}

const first = await taken(api.POST(INVOICES, { params: { path }, body: invoice("1") }));
console.log(`${first.invoice_number}: ${first.total_amount} ${first.currency} ${first.status}`);
for (const memo of ["2", "3", "4", "5"]) {
  await taken(api.POST(INVOICES, { params: { path }, body: invoice(memo) }));
}

const totals: number[] = [];
const page = (cursor: string | undefined) =>
  api.GET(INVOICES, { params: { path, query: { page_size: 2, count: false, cursor } } });
for await (const each of items(page)) totals.push(each.total_amount);
console.log(`walked: ${totals.length}`);

const part = { invoice_id: first.id, amount_cents: first.total_amount };
await taken(
  api.POST("/v1/platform/businesses/{business_id}/invoices/payments/", {
    params: { path },
    body: {
      customer_id: first.customer_id,
      total_amount_cents: first.total_amount,
      currency: first.currency,
      payment_date: "2026-07-01",
      payment_method: "credit_card",
      allocations: [part],
    },
  }),
);
const ONE = "/v1/platform/businesses/{business_id}/invoices/{invoice_id}/";
const read = await taken(api.GET(ONE, { params: { path: { ...path, invoice_id: first.id } } }));
console.log(`paid: ${read.status}`);

const chart = await taken(
  api.GET("/v1/platform/businesses/{business_id}/general-ledger/chart-of-accounts/export/", {
    params: { path },
    parseAs: "text",
  }),
);
console.log(`exported: ${chart.startsWith("code")}`);
const integrity = "/v1/platform/businesses/{business_id}/integrity/";
const [books] = await Promise.all(
  [1, 2, 3].map(() => taken(api.GET(integrity, { params: { path } }))),
);
console.log(`books: ${books?.status}`);

/** Say what a call was refused with. */
async function refused(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "not refused";
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error;
    return `${error.status} ${error.errorCode}`;
  }
}

const missing = { ...path, invoice_id: business.id };
console.log(await refused(api.GET(ONE, { params: { path: missing } })));

const { sent_at: _, ...unsent } = invoice("draft");
const draft = await taken(api.POST(INVOICES, { params: { path }, body: unsent }));
const gone = api.DELETE(ONE, { params: { path: { ...path, invoice_id: draft.id } } });
console.log(`${await refused(gone)}: a DELETE has no key`);
