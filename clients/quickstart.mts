// A partner's first calls in TypeScript, typed by the contract itself:
//   node dist/client/clients/quickstart.mjs BASE_URL PARTNER_ID API_KEY
import createClient from "openapi-fetch";
import type { paths } from "./contract.js";

declare const process: { argv: string[] };

const [baseUrl = "", partnerId = "", apiKey = ""] = process.argv.slice(2);

function bearer(token: string) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

/** Take the answer, or stop with the refusal's own words. */
function answered<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const withKey = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Basic ${btoa(`${partnerId}:${apiKey}`)}` },
});
const partnerToken = answered(
  await withKey.POST("/v1/platform/oauth2/token/", { body: { grant_type: "client_credentials" } }),
);
const partner = bearer(partnerToken.access_token);

const business = answered(
  await partner.POST("/v1/platform/businesses/", {
    body: {
      external_id: "typescript-quickstart",
      legal_name: "Harbour Coffee Ltd",
      entity_type: "limited",
      email: "books@harbour.example.com",
      country: "GB",
    },
  }),
);
const path = { business_id: business.id };
const businessToken = answered(
  await partner.POST("/v1/platform/{business_id}/oauth2/token/", { params: { path } }),
);
const books = bearer(businessToken.access_token);

const invoice = answered(
  await books.POST("/v1/platform/businesses/{business_id}/invoices/", {
    params: { path },
    body: {
      customer_external_id: "blue-door",
      external_id: "typescript-1",
      sent_at: "2026-07-01T09:00:00Z",
      line_items: [{ description: "Coffee beans", quantity: 12, unit_price: 1450, tax_rate: 20 }],
    },
  }),
);
console.log(`${invoice.invoice_number}: ${invoice.total_amount} ${invoice.currency} ${invoice.status}`);

const open = answered(
  await books.GET("/v1/platform/businesses/{business_id}/invoices/", {
    params: { path, query: { status: ["sent", "overdue"] } },
  }),
);
console.log(`${open.count} not paid yet`);

const missing = await books.GET("/v1/platform/businesses/{business_id}/invoices/{invoice_id}/", {
  params: { path: { ...path, invoice_id: business.id } },
});
console.log(`asked for what is not there: ${missing.error?.error_code}`);
