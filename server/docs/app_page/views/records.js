// One record: what it is, its lines, what settles it, its bank lines, its postings and its files.

import { h } from "../vendor/preact.mjs";
import { attached, saving } from "../files.js";
import { accountLink, answered, facts, partyLink, recordLink, recordOf, sayView, section, table } from "../parts.js";
import { pathOf, placeOf } from "../places.js";
import { journal } from "./entries.js";

const firstOf = (from, ...names) => names.map((name) => from[name]).find((each) => each !== undefined && each !== null);

const NUMBERS = [
  "invoice_number", "bill_number", "credit_note_number", "vendor_credit_number", "sequence_number", "reference_number",
  "display_name", "payment_reference", "external_id",
];

// Gives what a record is called: by its number or name, and one without any by its day.
export function titleOf(page, found) {
  const { formats } = page;
  if (page.place.view === "bank-transaction") return found.description ?? found.counterparty_name ?? formats.day(found.date);
  if (page.place.view === "tax-return") return formats.span(found.start_date, found.end_date);
  return firstOf(found, ...NUMBERS) ?? formats.day(firstOf(found, "payment_date", "refund_date", "completed_at", "date", "entry_date", "created_at"));
}

export const recordView = (page) => answered(page, recordOf(page), (found) => one(page, found));

function one(page, found) {
  const { view, id, in: holder } = page.place;
  const address = pathOf(view, id, holder);
  return [
    facts(told(page, found)),
    files(page, found, address),
    found.line_items && itemTable(page, found),
    found.splits?.length > 0 && splitTable(page, found),
    ties(page, found),
    bankLines(page, found),
    postsItself(found) && journal(page, sources(found)),
  ];
}

// The records that a record may come from, by the fields with their ids.
const ORIGINS = [
  ["refund_id", "refund"], ["vendor_refund_id", "vendor-refund"], ["source_refund_id", "vendor-refund"],
  ["source_invoice_id", "invoice"], ["source_bill_id", "bill"], ["opening_balance_id", "opening-balance"],
];

function told(page, found) {
  const { formats, say } = page;
  const show = (format, value) => (value === undefined ? undefined : format(value));
  const money = (...names) => show(formats.in(found.currency).money, firstOf(found, ...names));
  const some = (...names) => (firstOf(found, ...names) ? money(...names) : undefined);
  const day = (...names) => show(formats.day, firstOf(found, ...names));
  const late = found.is_overdue && h("span", { class: "late" }, say("status.overdue"));
  return [
    [say(found.vendor_id ? "vendor" : "customer"), partyLink(page, found)],
    [say("status"), found.status && [say(`status.${found.status.toLowerCase()}`), found.status !== "overdue" && late]],
    [say("amount"), money("total_amount", "total_amount_cents", "amount_cents", "paid_out_amount_cents",
      "total_refunded_amount", "refunded_amount")],
    ...worth(page, found),
    [say("outstanding"), found.line_items && money("outstanding_balance")],
    [say("unused"), some("remaining_amount_cents", "unallocated_amount_cents", "unapplied_amount", "unallocated_amount")],
    [say("fee"), some("processing_fee_cents", "fee_cents", "refund_processing_fee", "processing_fee")],
    [say("date"), day("issue_date", "bill_date", "sent_at", "received_at", "payment_date", "refund_date", "date",
      "completed_at", "created_at")],
    [say("delivered"), day("delivery_date")],
    [say("due"), day("due_at")],
    [say("paid_at"), day("paid_at")],
    [say("voided_at"), day("voided_at")],
    [say("method"), (found.payment_method ?? found.method) && say(`method.${(found.payment_method ?? found.method).toLowerCase()}`)],
    [say("direction"), found.direction && say(found.direction === "credit" ? "money_in" : "money_out")],
    [say("bank_account"), found.bank_account_name],
    [say("counterparty"), found.counterparty_name],
    [say("vendor_number"), found.vendor_bill_number],
    [say("comes_from"), ORIGINS.map(([name, origin]) => found[name] && recordLink(page, origin, found[name])).find(Boolean)],
    [say("reference"), firstOf(found, "payment_reference", "reference", "bank_reference", "check_number")],
    [say("external_id"), found.external_id],
    [say("note"), firstOf(found, "memo", "note", "reason")],
  ];
}

// The rate of a foreign record, and what it is worth in the currency of the books; a draft may have neither.
function worth({ formats, say }, found) {
  if (formats.in(found.currency) === formats.in()) return [];
  const base = firstOf(found, "base_total_amount_cents", "base_amount_cents");
  return [
    [say("exchange_rate"), found.exchange_rate && formats.rate(found.exchange_rate, found.currency)],
    [say("base_amount"), base === undefined ? undefined : formats.money(base)],
  ];
}

// The files of a record: what the server makes of it, and what somebody attached.
function files(page, found, address) {
  const made = page.place.view === "invoice" ? { PDF: `${address}pdf/` } : {};
  const attachment = found.document && h("p", { class: "saving" }, page.say("attached"), attached(page, address, found.document));
  return (attachment || made.PDF) && h("div", { class: "files" }, made.PDF && saving(page, made), attachment);
}

function itemTable(page, found) {
  const { formats, say } = page;
  const { amount: written, price } = formats.in(found.currency);
  const sum = (name, amount) => (amount ? { name, amount, sum: true } : undefined);
  return section(say("items"), table(page, {
    caption: say("items"),
    total: (row) => row.whole,
    columns: [
      { title: say("description"), cell: (row) => row.name ?? row.description ?? row.memo ?? say("amount") },
      { title: say("quantity"), figure: true, wide: true, cell: (row) => (row.quantity === undefined ? "" : formats.count(row.quantity)) },
      { title: say("price"), figure: true, wide: true, cell: (row) => (row.unit_price_decimal === undefined ? "" : price(row.unit_price_decimal)) },
      { title: say("tax_rate"), figure: true, wide: true, cell: (row) => (row.tax_rate ? `${formats.count(row.tax_rate)} %` : "") },
      { title: say("amount"), figure: true, cell: (row) => written(row.amount ?? row.subtotal) },
    ],
    rows: [
      ...found.line_items,
      sum(say("discount"), -found.discount_total),
      sum(say("tax"), found.tax_total),
      sum(say("withheld"), -found.withholding_total),
      { name: say("total"), amount: found.total_amount, whole: true },
    ].filter(Boolean),
  }));
}

// The accounts that a bank line was put on.
function splitTable(page, { currency, splits }) {
  const { say } = page;
  const { amount } = page.formats.in(currency);
  return section(say("categorized"), table(page, {
    caption: say("categorized"),
    columns: [
      { title: say("account"), cell: (part) => [accountLink(page, part.account), part.memo && h("small", { class: "under" }, part.memo)] },
      { title: say("tax"), figure: true, cell: (part) => (part.tax_cents ? amount(part.tax_cents) : "") },
      { title: say("amount"), figure: true, cell: (part) => amount(part.amount_cents) },
    ],
    rows: splits,
  }));
}

// Which view shows the record that an item of a list names, by the field with its id.
const NAMED = {
  payment_id: "payment", bill_payment_id: "bill-payment", credit_id: "customer-credit", credit_note_id: "customer-credit",
  vendor_credit_id: "vendor-credit", invoice_id: "invoice", bill_id: "bill",
};
// Which view shows the items of a list, where they are the records; `held` by the record that is shown.
const LISTED = {
  refund_payments: { view: "refund-payment", held: true },
  vendor_refund_payments: { view: "vendor-refund-payment" },
  payments: { view: "payment" },
  payouts: { view: "payout" },
  invoices: { view: "invoice" }, bills: { view: "bill" }, customer_credits: { view: "customer-credit" }, vendor_credits: { view: "vendor-credit" },
};
const TIED = [
  "payment_allocations", "bill_payment_allocations", "credit_allocations", "vendor_credit_allocations", "refund_allocations",
  "vendor_refund_allocations", "write_offs", "allocations", "links", ...Object.keys(LISTED),
];
const TARGETS = {
  invoice_payment: "payment", invoice_refund_payment: "refund-payment", bill_payment: "bill-payment",
  vendor_refund_payment: "vendor-refund-payment", payout: "payout", journal_entry: "entry", transfer: "bank-transaction",
};

// The records that settle it, that it settles, or that are its parts.
function ties(page, found) {
  const rows = TIED.flatMap((name) => (found[name] ?? []).map((each) => tie(page, found, name, each)));
  if (rows.length === 0) return null;
  const { formats, say } = page;
  return section(say("goes_with"), table(page, {
    caption: say("goes_with"),
    columns: [
      { title: say("record"), cell: (row) => recordLink(page, row.view, row.id, [sayView(page, row.view), row.text].filter(Boolean).join(" "), row.holder) },
      { title: say("date"), short: true, wide: true, cell: (row) => row.day && formats.day(row.day) },
      { title: say("amount"), figure: true, cell: (row) => row.amount !== undefined && formats.in(row.currency).amount(row.amount) },
    ],
    rows,
  }));
}

function tie(page, found, name, each) {
  const row = {
    currency: each.currency ?? found.currency,
    text: firstOf(each, "invoice_number", "bill_number", "credit_note_number", "reference_number", "payment_reference",
      "external_id", "memo") ?? (each.payment_method && `· ${page.say(`method.${each.payment_method}`)}`),
    day: firstOf(each, "payment_date", "applied_at", "allocated_at", "allocation_date", "write_off_at", "completed_at",
      "reconciled_at"),
    amount: firstOf(each, "amount_cents", "amount", "total_amount_cents", "refunded_amount", "refunded_amount_cents",
      "paid_out_amount_cents", "outstanding_amount_cents", "unapplied_amount_cents"),
  };
  if (name === "write_offs") return { ...row, view: "write_off" };
  if (name === "links") return { ...row, ...linked(page, each) };
  if (LISTED[name]) return { ...row, view: LISTED[name].view, id: each.id, holder: name === "refund_payments" ? each.refund_id ?? found.id : undefined };
  if (each.refund_id) return { ...row, view: found.vendor_id ? "vendor-refund" : "refund", id: each.refund_id };
  const field = Object.keys(NAMED).find((id) => each[id]);
  return { ...row, view: NAMED[field] ?? "record", id: each[field] };
}

// What a bank line is matched with. Only the entry of a refund's payment names the refund that holds it.
function linked(page, { target_type, target_id, other_bank_transaction_id: other }) {
  const view = TARGETS[target_type];
  if (view === "bank-transaction") return { view, id: other };
  if (view !== "refund-payment") return { view, id: target_id };
  const { value } = page.books.read("general-ledger/journal-entries/", { source_id: target_id, page_size: 1 });
  const { id, in: holder } = placeOf(value?.results[0]?.document_url ?? "") ?? {};
  return { view, id, holder };
}

function bankLines(page, { reconciled_bank_transactions: lines = [] }) {
  const { formats, say } = page;
  return lines.length > 0 && section(say("matched_with"), table(page, {
    caption: say("matched_with"),
    columns: [
      { title: say("bank_line"), short: true, cell: (line) => recordLink(page, "bank-transaction", line.bank_transaction_id, formats.day(line.bank_transaction_date)) },
      { title: say("bank_account"), cell: (line) => line.bank_account_name },
      { title: say("amount"), figure: true, cell: (line) => formats.in(line.currency).amount(line.reconciled_amount_cents) },
    ],
    rows: lines,
  }));
}

// What a bank line is matched with has the entries; the line has its own where it is on accounts or a transfer.
const postsItself = ({ links, splits }) => !links || splits.length > 0 || links.some((each) => each.target_type === "transfer");

// The ids under which the postings of a record are: its own, its write-offs' and its transfers'.
const sources = (found) => [
  found.id,
  ...(found.write_offs ?? []).map((each) => each.id),
  ...(found.links ?? []).filter((each) => each.target_type === "transfer").map((each) => each.target_id),
];
