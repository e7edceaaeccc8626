// A first month of API calls, with the SDK for TypeScript. Each step prints its result.
//   node sdk.mjs BASE_URL PARTNER_ID API_KEY
import { Accounting, AccountingError, type Books, type models } from "accounting-sdk";

declare const process: { argv: string[] };

const DAY = "2026-07-01";
const START = "2026-07-01T09:00:00Z";
const BUSINESS: models.BusinessCreate = {
  external_id: "sdk",
  legal_name: "Harbour Coffee Ltd",
  entity_type: "limited",
  email: "books@harbour.example.com",
  country: "GB",
};
const BEANS: models.LineItemInput = { description: "Beans", quantity: 12, unit_price: 1450, tax_rate: 20 };

/** Print the result of a step as JSON. */
function tell(step: string, facts: object): void {
  console.log(JSON.stringify({ step, ...facts }));
}

/** Return an invoice of 12 units at 14.50, with 20 % tax. */
function invoice(number: number): models.InvoiceCreate {
  return { customer_external_id: "blue-door", sent_at: START, line_items: [BEANS], memo: `Order ${number}` };
}

/** Create a customer and five invoices, and list the invoices. */
async function sold(books: Books): Promise<models.Invoice> {
  const customer = await books.createCustomer({ external_id: "blue-door", company_name: "Blue Door Bakery" });
  tell("customer", { name: customer.company_name });
  const preview = await books.createInvoice(invoice(1), { preview: true });
  tell("preview", { number: preview.invoice_number, total: preview.total_amount });
  const first = await books.createInvoice(invoice(1), { idempotencyKey: "first" });
  const { invoice_number: number, total_amount: total, currency, status } = first;
  tell("invoice", { number, total, currency, status });
  for (const each of [2, 3, 4, 5]) await books.createInvoice(invoice(each));
  const totals: number[] = [];
  for await (const each of books.listInvoices({ page_size: 2 })) totals.push(each.total_amount);
  tell("walk", { seen: totals.length, total: totals.reduce((sum, each) => sum + each) });
  return first;
}

/** Record a card payment of the invoice, and read the result. */
async function paid(books: Books, first: models.Invoice): Promise<models.InvoicePayment> {
  const { payment } = await books.createInvoicePayment({
    customer_id: first.customer_id,
    total_amount_cents: first.total_amount,
    currency: first.currency,
    payment_date: DAY,
    payment_method: "credit_card",
    payment_processor: "mollie",
    allocations: [{ invoice_id: first.id, amount_cents: first.total_amount }],
  });
  tell("payment", { applied: payment.applied_amount_cents, remaining: payment.remaining_amount_cents });
  const { status, outstanding_balance: left } = await books.getInvoice(first.id);
  const unpaid: string[] = [];
  const filters = { customer_id: [first.customer_id], status: ["sent" as const, "overdue" as const] };
  for await (const each of books.listInvoices(filters)) unpaid.push(each.id);
  tell("paid", { status, left, unpaid: unpaid.length });
  return payment;
}

/** Refund a part of the payment. */
async function refunded(books: Books, first: models.Invoice): Promise<models.InvoiceRefundPayment> {
  const refund = await books.createInvoiceRefund({
    invoice_id: first.id,
    amount_cents: 880,
    method: "CREDIT_CARD",
    processor: "Mollie",
    completed_at: START,
  });
  tell("refund", { status: refund.status, paid: refund.paid_amount });
  return refund.refund_payments[0]!;
}

/** Record a payout of the payment processor. */
async function paidOut(
  books: Books,
  payment: models.InvoicePayment,
  refund: models.InvoiceRefundPayment,
): Promise<models.Payout> {
  const payout = await books.createPayout({
    processor: "mollie",
    paid_out_amount_cents: 19_700,
    fee_cents: 300,
    completed_at: START,
    payment_ids: [payment.id],
    refund_payment_ids: [refund.id],
  });
  tell("payout", { expected: payout.expected_net_amount_cents, variance: payout.amount_variance_cents });
  return payout;
}

/** Upload a file and attach it to the invoice. */
async function filed(books: Books, first: models.Invoice): Promise<void> {
  const file = new File(["item,price\nBeans,1450\n"], "order.csv");
  const made = await books.createDocument({ file, linked_type: "invoice", linked_id: first.id });
  tell("document", { name: made.file_name, size: made.file_size });
}

/** Create a vendor with a bill, and pay the bill. */
async function bought(books: Books): Promise<void> {
  const vendor = await books.createVendor({ company_name: "Raw Coffee Traders" });
  const beans = { description: "Raw beans", quantity: 1, unit_price: 9_000 };
  const order = { vendor_id: vendor.id, bill_date: DAY, received_at: START, line_items: [beans] };
  const bill = await books.createBill(order);
  tell("bill", { vendor: vendor.company_name, total: bill.total_amount, status: bill.status });
  const { payment } = await books.createBillPayment({
    vendor_id: vendor.id,
    amount_cents: bill.total_amount,
    payment_date: DAY,
    currency: bill.currency,
    payment_method: "bank_transfer",
    status: "completed",
    allocations: [{ bill_id: bill.id, amount_cents: bill.total_amount }],
  });
  tell("bill payment", { allocated: payment.allocated_amount_cents });
  const { status, outstanding_balance: left } = await books.getBill(bill.id);
  tell("bill paid", { status, left });
}

/** Import a bank statement, and match its line with the payout. */
async function matched(books: Books, payout: models.Payout): Promise<void> {
  const { id, account } = await books.createBankAccount({ display_name: "Current account" });
  tell("bank account", { account: account.code });
  const { imported } = await books.importBankTransactions({
    bank_account_id: id,
    transactions: [{ date: DAY, amount_cents: 19_700, direction: "credit", description: "MOLLIE PAYOUT" }],
  });
  tell("statement", { imported });
  for await (const line of books.listBankTransactions()) {
    const match = { target_type: "payout" as const, target_id: payout.id };
    const done = await books.matchBankTransaction(line.id, match);
    tell("match", { amount: line.amount_cents, reconciled: done.is_reconciled });
  }
}

/** Post a manual journal entry, then read an account, a report and the integrity checks. */
async function lookedThrough(books: Books): Promise<void> {
  const entry = await books.createJournalEntry({
    entry_date: DAY,
    description: "Bank charges",
    lines: [
      { account: "6300", debit_amount: 1_200 },
      { account: "1100", credit_amount: 1_200 },
    ],
    post: true,
  });
  tell("entry", { status: entry.status, debits: entry.lines.map((each) => each.debit_amount) });
  const { name, current_balance: balance } = await books.getAccount("1150");
  tell("account", { name, balance });
  const report = await books.getProfitAndLoss({ start_date: DAY, end_date: DAY });
  const revenue = report.revenue.line_items.map((line) => line.value_cents);
  tell("report", { revenue, profit: report.summary.net_profit_cents });
  const [header = ""] = (await books.exportAccounts()).split("\n");
  tell("export", { columns: header.split(",").length });
  tell("integrity", { status: (await books.getIntegrity()).status });
}

/** Check that errors have their documented types. */
async function refused(books: Books, first: models.Invoice): Promise<void> {
  tell("missing", await refusal(books.getInvoice(books.businessId)));
  tell("invalid", await refusal(books.createInvoice({ line_items: [BEANS] })));
  tell("reused", await refusal(books.createInvoice(invoice(6), { idempotencyKey: "first" })));
  tell("conflict", await refusal(books.voidInvoice(first.id)));
}

/** Return the error of a call; throw if it succeeds. */
async function refusal(call: Promise<unknown>): Promise<object> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error;
    const fields = Object.keys(error.detail.field_errors ?? {}).sort();
    return { status: error.status, code: error.errorCode, fields };
  }
  throw new Error("not refused");
}

const [baseUrl = "", partnerId = "", apiKey = ""] = process.argv.slice(2);
const accounting = new Accounting(baseUrl, partnerId, apiKey);
const business = await accounting.createBusiness(BUSINESS);
tell("business", { name: business.legal_name, currency: business.base_currency });
const books = accounting.business(business.id);
const first = await sold(books);
const payment = await paid(books, first);
const payout = await paidOut(books, payment, await refunded(books, first));
await filed(books, first);
await bought(books);
await matched(books, payout);
await lookedThrough(books);
await refused(books, first);
