// A first month of API calls, with openapi-fetch and the types of openapi-typescript, which are in
// contract.ts in the same folder:
//   node openapi_fetch.mjs BASE_URL PARTNER_ID API_KEY
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./contract.js";

declare const process: { argv: string[] };

type Models = components["schemas"];
type Invoice = Models["Invoice"];

const BOOKS = "/v1/platform/businesses/{business_id}";
const DAY = "2026-07-01";
const START = "2026-07-01T09:00:00Z";
const BEANS: Models["LineItemInput"] = { description: "Beans", quantity: 12, unit_price: 1450, tax_rate: 20 };

/** Print the result of a step as JSON. */
function tell(step: string, facts: object): void {
  console.log(JSON.stringify({ step, ...facts }));
}

/** Return the answer; throw the error if there is none. */
function answered<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** Create a business and exchange the API key for a token of that business. */
async function opened(baseUrl: string, partnerId: string, apiKey: string): Promise<Journey> {
  const client = (authorization: string) =>
    createClient<paths>({ baseUrl, headers: { Authorization: authorization } });
  const withKey = client(`Basic ${btoa(`${partnerId}:${apiKey}`)}`);
  const grant = { body: { grant_type: "client_credentials" } } as const;
  const granted = answered(await withKey.POST("/v1/platform/oauth2/token/", grant));
  const partner = client(`Bearer ${granted.access_token}`);
  const business = answered(
    await partner.POST("/v1/platform/businesses/", {
      body: {
        external_id: "openapi-fetch",
        legal_name: "Harbour Coffee Ltd",
        entity_type: "limited",
        email: "books@harbour.example.com",
        country: "GB",
      },
    }),
  );
  tell("business", { name: business.legal_name, currency: business.base_currency });
  const path = { business_id: business.id };
  const token = answered(
    await partner.POST("/v1/platform/{business_id}/oauth2/token/", { params: { path } }),
  );
  return new Journey(client(`Bearer ${token.access_token}`), path);
}

/** Return an invoice of 12 units at 14.50, with 20 % tax. */
function invoice(number: number): Models["InvoiceCreate"] {
  return { customer_external_id: "blue-door", sent_at: START, line_items: [BEANS], memo: `Order ${number}` };
}

/** The steps of the journey in the books of one business. */
class Journey {
  constructor(
    readonly books: Client<paths>,
    readonly path: { business_id: string },
  ) {}

  /** Create a customer and five invoices, and list the invoices. */
  async sold(): Promise<Invoice> {
    const { books, path } = this;
    const bakery = { external_id: "blue-door", company_name: "Blue Door Bakery" };
    const customer = answered(
      await books.POST(`${BOOKS}/customers/`, { params: { path }, body: bakery }),
    );
    tell("customer", { name: customer.company_name });
    const preview = answered(
      await books.POST(`${BOOKS}/invoices/`, {
        params: { path, query: { preview: true } },
        body: invoice(1),
      }),
    );
    tell("preview", { number: preview.invoice_number, total: preview.total_amount });
    const first = await this.sentSurely(invoice(1), "first");
    const { invoice_number: number, total_amount: total, currency, status } = first;
    tell("invoice", { number, total, currency, status });
    for (const each of [2, 3, 4, 5]) {
      answered(await books.POST(`${BOOKS}/invoices/`, { params: { path }, body: invoice(each) }));
    }
    const totals: number[] = [];
    for await (const each of this.walked()) totals.push(each.total_amount);
    tell("walk", { seen: totals.length, total: totals.reduce((sum, each) => sum + each) });
    return first;
  }

  /** Create an invoice; repeat the call with the same key if the connection breaks. */
  async sentSurely(body: Models["InvoiceCreate"], key: string): Promise<Invoice> {
    const params = { path: this.path, header: { "Idempotency-Key": key } };
    const send = async () => answered(await this.books.POST(`${BOOKS}/invoices/`, { params, body }));
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return send();
    }
  }

  /** Yield all invoices, page by page. */
  async *walked(): AsyncGenerator<Models["InvoiceSummary"]> {
    let cursor: string | undefined;
    do {
      const params = { path: this.path, query: { page_size: 2, cursor } };
      const page = answered(await this.books.GET(`${BOOKS}/invoices/`, { params }));
      yield* page.results;
      cursor = page.page_info.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Record a card payment of the invoice, and read the result. */
  async paid(first: Invoice): Promise<Models["InvoicePayment"]> {
    const { books, path } = this;
    const { payment } = answered(
      await books.POST(`${BOOKS}/invoices/payments/`, {
        params: { path },
        body: {
          customer_id: first.customer_id,
          total_amount_cents: first.total_amount,
          currency: first.currency,
          payment_date: DAY,
          payment_method: "credit_card",
          payment_processor: "mollie",
          allocations: [{ invoice_id: first.id, amount_cents: first.total_amount }],
        },
      }),
    );
    tell("payment", { applied: payment.applied_amount_cents, remaining: payment.remaining_amount_cents });
    const one = { path: { ...path, invoice_id: first.id } };
    const read = answered(await books.GET(`${BOOKS}/invoices/{invoice_id}/`, { params: one }));
    const unpaid = answered(
      await books.GET(`${BOOKS}/invoices/`, {
        params: { path, query: { customer_id: [first.customer_id], status: ["sent", "overdue"] } },
      }),
    );
    tell("paid", { status: read.status, left: read.outstanding_balance, unpaid: unpaid.results.length });
    return payment;
  }

  /** Refund a part of the payment. */
  async refunded(first: Invoice): Promise<Models["InvoiceRefundPayment"]> {
    const refund = answered(
      await this.books.POST(`${BOOKS}/invoices/refunds/`, {
        params: { path: this.path },
        body: {
          invoice_id: first.id,
          amount_cents: 880,
          method: "CREDIT_CARD",
          processor: "Mollie",
          completed_at: START,
        },
      }),
    );
    tell("refund", { status: refund.status, paid: refund.paid_amount });
    return refund.refund_payments[0]!;
  }

  /** Record a payout of the payment processor. */
  async paidOut(
    payment: Models["InvoicePayment"],
    refund: Models["InvoiceRefundPayment"],
  ): Promise<Models["Payout"]> {
    const payout = answered(
      await this.books.POST(`${BOOKS}/payouts/`, {
        params: { path: this.path },
        body: {
          processor: "mollie",
          paid_out_amount_cents: 19_700,
          fee_cents: 300,
          completed_at: START,
          payment_ids: [payment.id],
          refund_payment_ids: [refund.id],
        },
      }),
    );
    tell("payout", { expected: payout.expected_net_amount_cents, variance: payout.amount_variance_cents });
    return payout;
  }

  /** Upload a file and attach it to the invoice; openapi-typescript types files as text. */
  async filed(first: Invoice): Promise<void> {
    const made = answered(
      await this.books.POST(`${BOOKS}/documents/`, {
        params: { path: this.path },
        body: { file: "item,price\nBeans,1450\n", linked_type: "invoice", linked_id: first.id },
        bodySerializer: ({ file, ...others }) => {
          const form = new FormData();
          form.append("file", new File([file], "order.csv"));
          for (const [name, value] of Object.entries(others)) form.append(name, String(value));
          return form;
        },
      }),
    );
    tell("document", { name: made.file_name, size: made.file_size });
  }

  /** Create a vendor with a bill, and pay the bill. */
  async bought(): Promise<void> {
    const { books, path } = this;
    const trader = { company_name: "Raw Coffee Traders" };
    const vendor = answered(await books.POST(`${BOOKS}/vendors/`, { params: { path }, body: trader }));
    const beans = { description: "Raw beans", quantity: 1, unit_price: 9_000 };
    const body = { vendor_id: vendor.id, bill_date: DAY, received_at: START, line_items: [beans] };
    const bill = answered(await books.POST(`${BOOKS}/bills/`, { params: { path }, body }));
    tell("bill", { vendor: vendor.company_name, total: bill.total_amount, status: bill.status });
    const { payment } = answered(
      await books.POST(`${BOOKS}/bills/payments/`, {
        params: { path },
        body: {
          vendor_id: vendor.id,
          amount_cents: bill.total_amount,
          payment_date: DAY,
          currency: bill.currency,
          payment_method: "bank_transfer",
          status: "completed",
          allocations: [{ bill_id: bill.id, amount_cents: bill.total_amount }],
        },
      }),
    );
    tell("bill payment", { allocated: payment.allocated_amount_cents });
    const one = { path: { ...path, bill_id: bill.id } };
    const read = answered(await books.GET(`${BOOKS}/bills/{bill_id}/`, { params: one }));
    tell("bill paid", { status: read.status, left: read.outstanding_balance });
  }

  /** Import a bank statement, and match its line with the payout. */
  async matched(payout: Models["Payout"]): Promise<void> {
    const { books, path } = this;
    const current = { display_name: "Current account" };
    const account = answered(
      await books.POST(`${BOOKS}/bank-accounts/`, { params: { path }, body: current }),
    );
    tell("bank account", { account: account.account.code });
    const { imported } = answered(
      await books.POST(`${BOOKS}/bank-transactions/`, {
        params: { path },
        body: {
          bank_account_id: account.id,
          transactions: [
            { date: DAY, amount_cents: 19_700, direction: "credit", description: "MOLLIE PAYOUT" },
          ],
        },
      }),
    );
    tell("statement", { imported });
    const kept = answered(await books.GET(`${BOOKS}/bank-transactions/`, { params: { path } }));
    for (const line of kept.results) {
      const done = answered(
        await books.POST(`${BOOKS}/bank-transactions/{bank_transaction_id}/match/`, {
          params: { path: { ...path, bank_transaction_id: line.id } },
          body: { target_type: "payout", target_id: payout.id },
        }),
      );
      tell("match", { amount: line.amount_cents, reconciled: done.is_reconciled });
    }
  }

  /** Post a manual journal entry, then read an account, a report and the integrity checks. */
  async lookedThrough(): Promise<void> {
    const { books, path } = this;
    const entry = answered(
      await books.POST(`${BOOKS}/general-ledger/journal-entries/`, {
        params: { path },
        body: {
          entry_date: DAY,
          description: "Bank charges",
          lines: [
            { account: "6300", debit_amount: 1_200 },
            { account: "1100", credit_amount: 1_200 },
          ],
          post: true,
        },
      }),
    );
    tell("entry", { status: entry.status, debits: entry.lines.map((each) => each.debit_amount) });
    const CHART = `${BOOKS}/general-ledger/chart-of-accounts` as const;
    const one = { path: { ...path, account_id: "1150" } };
    const clearing = answered(await books.GET(`${CHART}/{account_id}/`, { params: one }));
    tell("account", { name: clearing.name, balance: clearing.current_balance });
    const query = { start_date: DAY, end_date: DAY };
    const PROFIT = `${BOOKS}/reports/profit-and-loss/` as const;
    const report = answered(await books.GET(PROFIT, { params: { path, query } }));
    // The type includes the file formats that can be requested instead of JSON.
    if (typeof report === "string") throw new Error(report);
    const revenue = report.revenue.line_items.map((line) => line.value_cents);
    tell("report", { revenue, profit: report.summary.net_profit_cents });
    const asText = { params: { path }, parseAs: "text" } as const;
    const [header = ""] = answered(await books.GET(`${CHART}/export/`, asText)).split("\n");
    tell("export", { columns: header.split(",").length });
    const { status } = answered(await books.GET(`${BOOKS}/integrity/`, { params: { path } }));
    tell("integrity", { status });
  }

  /** Check that errors have their documented types. */
  async refused(first: Invoice): Promise<void> {
    const { books, path } = this;
    const nowhere = { path: { ...path, invoice_id: path.business_id } };
    const missing = await books.GET(`${BOOKS}/invoices/{invoice_id}/`, { params: nowhere });
    tell("missing", refusal(missing));
    const nobodys = { params: { path }, body: { line_items: [BEANS] } };
    tell("invalid", refusal(await books.POST(`${BOOKS}/invoices/`, nobodys)));
    const header = { "Idempotency-Key": "first" };
    const reused = { params: { path, header }, body: invoice(6) };
    tell("reused", refusal(await books.POST(`${BOOKS}/invoices/`, reused)));
    const one = { path: { ...path, invoice_id: first.id } };
    tell("conflict", refusal(await books.POST(`${BOOKS}/invoices/{invoice_id}/void/`, { params: one })));
  }
}

/** Return the error of a call; throw if it succeeds. */
function refusal({ error, response }: { error?: Models["ErrorBody"]; response: Response }): object {
  if (error === undefined) throw new Error("not refused");
  const fields = Object.keys(error.detail.field_errors ?? {}).sort();
  return { status: response.status, code: error.error_code, fields };
}

const [baseUrl = "", partnerId = "", apiKey = ""] = process.argv.slice(2);
const journey = await opened(baseUrl, partnerId, apiKey);
const first = await journey.sold();
const payment = await journey.paid(first);
const payout = await journey.paidOut(payment, await journey.refunded(first));
await journey.filed(first);
await journey.bought();
await journey.matched(payout);
await journey.lookedThrough();
await journey.refused(first);
