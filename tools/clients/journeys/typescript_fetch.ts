// A first month of API calls, with the fetch client that openapi-generator makes. It is in the
// folder of that client's index.ts:
//   node typescript_fetch.js BASE_URL PARTNER_ID API_KEY
import * as api from "./index";

declare const process: { argv: string[] };

const DAY = new Date("2026-07-01");
const START = new Date("2026-07-01T09:00:00Z");
const BEANS: api.LineItemInput = { description: "Beans", quantity: 12, unitPrice: 1450, taxRate: 20 };

/** Print the result of a step as JSON. */
function tell(step: string, facts: object): void {
  console.log(JSON.stringify({ step, ...facts }));
}

/** Create a business and exchange the API key for a token of that business. */
async function opened(basePath: string, username: string, password: string): Promise<Journey> {
  const withKey = new api.Configuration({ basePath, username, password });
  const grantType = api.GrantType.ClientCredentials;
  const granted = await new api.AccessApi(withKey).issuePartnerToken({ grantType });
  const partner = new api.Configuration({ basePath, accessToken: granted.accessToken });
  const business = await new api.BusinessesApi(partner).createBusiness({
    businessCreate: {
      externalId: "typescript-fetch",
      legalName: "Harbour Coffee Ltd",
      entityType: "limited",
      email: "books@harbour.example.com",
      country: "GB",
    },
  });
  tell("business", { name: business.legalName, currency: business.baseCurrency });
  const businessId = business.id;
  const { accessToken } = await new api.AccessApi(partner).issueBusinessToken({ businessId });
  return new Journey(new api.Configuration({ basePath, accessToken }), businessId);
}

/** Return an invoice of 12 units at 14.50, with 20 % tax. */
function invoice(number: number): api.InvoiceCreate {
  return { customerExternalId: "blue-door", sentAt: START, lineItems: [BEANS], memo: `Order ${number}` };
}

/** The steps of the journey in the books of one business. */
class Journey {
  readonly invoices: api.InvoicesApi;

  constructor(
    readonly books: api.Configuration,
    readonly businessId: string,
  ) {
    this.invoices = new api.InvoicesApi(books);
  }

  /** Create a customer and five invoices, and list the invoices. */
  async sold(): Promise<api.Invoice> {
    const { businessId } = this;
    const customerCreate = { externalId: "blue-door", companyName: "Blue Door Bakery" };
    const customers = new api.CustomersApi(this.books);
    tell("customer", { name: (await customers.createCustomer({ businessId, customerCreate })).companyName });
    const asked = { businessId, invoiceCreate: invoice(1), preview: true };
    const preview = await this.invoices.createInvoice(asked);
    tell("preview", { number: preview.invoiceNumber, total: preview.totalAmount });
    const first = await this.sentSurely(invoice(1), "first");
    const { invoiceNumber: number, totalAmount: total, currency, status } = first;
    tell("invoice", { number, total, currency, status });
    for (const each of [2, 3, 4, 5]) {
      await this.invoices.createInvoice({ businessId, invoiceCreate: invoice(each) });
    }
    const totals: number[] = [];
    for await (const each of this.walked()) totals.push(each.totalAmount);
    tell("walk", { seen: totals.length, total: totals.reduce((sum, each) => sum + each) });
    return first;
  }

  /** Create an invoice; repeat the call with the same key if the connection breaks. */
  async sentSurely(invoiceCreate: api.InvoiceCreate, idempotencyKey: string): Promise<api.Invoice> {
    const asked = { businessId: this.businessId, invoiceCreate, idempotencyKey };
    try {
      return await this.invoices.createInvoice(asked);
    } catch (error) {
      if (!(error instanceof api.FetchError)) throw error;
      return this.invoices.createInvoice(asked);
    }
  }

  /** Yield all invoices, page by page. */
  async *walked(): AsyncGenerator<api.InvoiceSummary> {
    let cursor: string | undefined;
    do {
      const asked = { businessId: this.businessId, pageSize: 2, cursor };
      const page = await this.invoices.listInvoices(asked);
      yield* page.results;
      cursor = page.pageInfo.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Record a card payment of the invoice, and read the result. */
  async paid(first: api.Invoice): Promise<api.InvoicePayment> {
    const { businessId } = this;
    const { payment } = await new api.InvoicePaymentsApi(this.books).createInvoicePayment({
      businessId,
      invoicePaymentCreate: {
        customerId: first.customerId,
        totalAmountCents: first.totalAmount,
        currency: first.currency,
        paymentDate: DAY,
        paymentMethod: api.PaymentMethod.CreditCard,
        paymentProcessor: "mollie",
        allocations: [{ invoiceId: first.id, amountCents: first.totalAmount }],
      },
    });
    tell("payment", { applied: payment.appliedAmountCents, remaining: payment.remainingAmountCents });
    const { status, outstandingBalance: left } = await this.invoices.getInvoice({
      businessId,
      invoiceId: first.id,
    });
    const unpaid = await this.invoices.listInvoices({
      businessId,
      customerId: [first.customerId],
      status: [api.InvoiceStatusFilter.Sent, api.InvoiceStatusFilter.Overdue],
    });
    tell("paid", { status, left, unpaid: unpaid.results.length });
    return payment;
  }

  /** Refund a part of the payment. */
  async refunded(first: api.Invoice): Promise<api.InvoiceRefundPayment> {
    const refund = await new api.InvoiceRefundsApi(this.books).createInvoiceRefund({
      businessId: this.businessId,
      invoiceRefundCreate: {
        invoiceId: first.id,
        amountCents: 880,
        method: api.RefundMethod.CreditCard,
        processor: "Mollie",
        completedAt: START,
      },
    });
    tell("refund", { status: refund.status, paid: refund.paidAmount });
    return refund.refundPayments[0]!;
  }

  /** Record a payout of the payment processor. */
  async paidOut(payment: api.InvoicePayment, refund: api.InvoiceRefundPayment): Promise<api.Payout> {
    const payout = await new api.PayoutsApi(this.books).createPayout({
      businessId: this.businessId,
      payoutCreate: {
        processor: api.PayoutProcessor.Mollie,
        paidOutAmountCents: 19_700,
        feeCents: 300,
        completedAt: START,
        paymentIds: [payment.id],
        refundPaymentIds: [refund.id],
      },
    });
    tell("payout", { expected: payout.expectedNetAmountCents, variance: payout.amountVarianceCents });
    return payout;
  }

  /** Upload a file and attach it to the invoice. */
  async filed(first: api.Invoice): Promise<void> {
    const made = await new api.DocumentsApi(this.books).createDocument({
      businessId: this.businessId,
      file: new File(["item,price\nBeans,1450\n"], "order.csv"),
      linkedType: api.LinkedType.Invoice,
      linkedId: first.id,
    });
    tell("document", { name: made.fileName, size: made.fileSize });
  }

  /** Create a vendor with a bill, and pay the bill. */
  async bought(): Promise<void> {
    const { businessId } = this;
    const vendorCreate = { companyName: "Raw Coffee Traders" };
    const vendor = await new api.VendorsApi(this.books).createVendor({ businessId, vendorCreate });
    const beans = { description: "Raw beans", quantity: 1, unitPrice: 9_000 };
    const billCreate = { vendorId: vendor.id, billDate: DAY, receivedAt: START, lineItems: [beans] };
    const bills = new api.BillsApi(this.books);
    const bill = await bills.createBill({ businessId, billCreate });
    tell("bill", { vendor: vendor.companyName, total: bill.totalAmount, status: bill.status });
    const { payment } = await new api.BillPaymentsApi(this.books).createBillPayment({
      businessId,
      billPaymentCreate: {
        vendorId: vendor.id,
        amountCents: bill.totalAmount,
        paymentDate: DAY,
        currency: bill.currency,
        paymentMethod: api.BillPaymentMethod.BankTransfer,
        status: api.VendorPaymentStatus.Completed,
        allocations: [{ billId: bill.id, amountCents: bill.totalAmount }],
      },
    });
    tell("bill payment", { allocated: payment.allocatedAmountCents });
    const { status, outstandingBalance: left } = await bills.getBill({ businessId, billId: bill.id });
    tell("bill paid", { status, left });
  }

  /** Import a bank statement, and match its line with the payout. */
  async matched(payout: api.Payout): Promise<void> {
    const { businessId } = this;
    const bankAccountCreate = { displayName: "Current account" };
    const accounts = new api.BankAccountsApi(this.books);
    const { id, account } = await accounts.createBankAccount({ businessId, bankAccountCreate });
    tell("bank account", { account: account.code });
    const line = {
      date: DAY,
      amountCents: 19_700,
      direction: api.BankDirection.Credit,
      description: "MOLLIE PAYOUT",
    };
    const lines = new api.BankTransactionsApi(this.books);
    const bankTransactionImport = { bankAccountId: id, transactions: [line] };
    const { imported } = await lines.importBankTransactions({ businessId, bankTransactionImport });
    tell("statement", { imported });
    for (const kept of (await lines.listBankTransactions({ businessId })).results) {
      const done = await new api.BankMatchingApi(this.books).matchBankTransaction({
        businessId,
        bankTransactionId: kept.id,
        bankTransactionMatch: { targetType: api.BankTarget.Payout, targetId: payout.id },
      });
      tell("match", { amount: kept.amountCents, reconciled: done.isReconciled });
    }
  }

  /** Post a manual journal entry, then read an account, a report and the integrity checks. */
  async lookedThrough(): Promise<void> {
    const { businessId } = this;
    const entry = await new api.JournalEntriesApi(this.books).createJournalEntry({
      businessId,
      journalEntryCreate: {
        entryDate: DAY,
        description: "Bank charges",
        lines: [
          { account: "6300", debitAmount: 1_200 },
          { account: "1100", creditAmount: 1_200 },
        ],
        post: true,
      },
    });
    tell("entry", { status: entry.status, debits: entry.lines.map((each) => each.debitAmount) });
    const chart = new api.ChartOfAccountsApi(this.books);
    const { name, currentBalance: balance } = await chart.getAccount({ businessId, accountId: "1150" });
    tell("account", { name, balance });
    const days = { startDate: DAY, endDate: DAY };
    const report = await new api.ReportsApi(this.books).getProfitAndLoss({ businessId, ...days });
    const revenue = report.revenue.lineItems.map((line) => line.valueCents);
    tell("report", { revenue, profit: report.summary.netProfitCents });
    const [header = ""] = (await chart.exportAccounts({ businessId })).split("\n");
    tell("export", { columns: header.split(",").length });
    const { status } = await new api.IntegrityApi(this.books).getIntegrity({ businessId });
    tell("integrity", { status });
  }

  /** Check that errors have their documented types. */
  async refused(first: api.Invoice): Promise<void> {
    const { businessId, invoices } = this;
    tell("missing", await refusal(invoices.getInvoice({ businessId, invoiceId: businessId })));
    const nobodys = { lineItems: [BEANS] };
    tell("invalid", await refusal(invoices.createInvoice({ businessId, invoiceCreate: nobodys })));
    const reused = { businessId, invoiceCreate: invoice(6), idempotencyKey: "first" };
    tell("reused", await refusal(invoices.createInvoice(reused)));
    tell("conflict", await refusal(invoices.voidInvoice({ businessId, invoiceId: first.id })));
  }
}

/** Return the error of a call; throw if it succeeds. */
async function refusal(call: Promise<unknown>): Promise<object> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof api.ResponseError)) throw error;
    const { errorCode, detail } = api.ErrorBodyFromJSON(await error.response.json());
    const fields = Object.keys(detail.fieldErrors ?? {}).sort();
    return { status: error.response.status, code: errorCode, fields };
  }
  throw new Error("not refused");
}

async function main(baseUrl = "", partnerId = "", apiKey = ""): Promise<void> {
  const journey = await opened(baseUrl, partnerId, apiKey);
  const first = await journey.sold();
  const payment = await journey.paid(first);
  const payout = await journey.paidOut(payment, await journey.refunded(first));
  await journey.filed(first);
  await journey.bought();
  await journey.matched(payout);
  await journey.lookedThrough();
  await journey.refused(first);
}

main(...process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  throw error;
});
