// Lists of records. Each is a view of its own; its head stands on the overview, with a party and in the search.

import { h } from "../vendor/preact.mjs";
import { answered, beneath, list, nameOf, partyLink, recordLink, section, table } from "../parts.js";

const standing = (page, each) => h("span", { class: each.is_overdue || each.status === "failed" ? "late" : null },
  page.say(`status.${each.is_overdue ? "overdue" : each.status.toLowerCase()}`));

const number = (page, view, name, under) => ({
  title: page.say("number"), short: true,
  cell: (each) => [recordLink(page, view, each.id, name(each)), beneath(under(each))],
});
const day = (page, title, name) => ({ title: page.say(title), short: true, wide: true, cell: (each) => each[name] && page.formats.day(each[name]) });
const money = (page, title, read, wide) => ({ title: page.say(title), figure: true, wide, cell: (each) => page.formats.in(each.currency).amount(read(each)) });
const party = (page, side) => ({ title: page.say(side), wide: true, party: true, cell: (each) => partyLink(page, each) });
const status = (page) => ({ title: page.say("status"), wide: true, cell: (each) => standing(page, each) });

const ofDocuments = (view, side, name, issued) => (page) => [
  number(page, view, (each) => each[name] ?? each.external_id, (each) => [nameOf(each[side]), " · ", standing(page, each)]),
  party(page, side), day(page, "date", issued), day(page, "due", "due_at"), status(page),
  money(page, "amount", (each) => each.total_amount),
  money(page, "outstanding", (each) => each.outstanding_balance, true),
];

const ofPayments = (view, side, amount, reference) => (page) => [
  { title: page.say("date"), short: true, cell: (each) => [recordLink(page, view, each.id, page.formats.day(each.payment_date)), beneath(nameOf(each[side]), " · ", standing(page, each))] },
  party(page, side),
  { title: page.say("reference"), wide: true, cell: (each) => each[reference] ?? each.payment_reference ?? each.external_id },
  { title: page.say("method"), wide: true, cell: (each) => page.say(`method.${each.payment_method}`) },
  status(page), money(page, "amount", (each) => each[amount]),
];

const ofCredits = (view, side, name, issued) => (page) => [
  number(page, view, (each) => each[name] ?? each.external_id, (each) => [nameOf(each[side]), " · ", standing(page, each)]),
  party(page, side), day(page, "date", issued), status(page),
  money(page, "unused", (each) => each.unapplied_amount, true), money(page, "amount", (each) => each.total_amount),
];

const ofPayouts = (page) => [
  number(page, "payout", (each) => each.processor_payout_id ?? each.external_id, (each) => standing(page, each)),
  day(page, "date", "completed_at"), status(page), money(page, "fee", (each) => each.fee_cents, true),
  money(page, "amount", (each) => each.paid_out_amount_cents),
];

const ofParties = (side) => (page) => [
  { title: page.say("name"), cell: (each) => [recordLink(page, side, each.id, nameOf(each)), beneath(each.email)] },
  { title: page.say("email"), wide: true, cell: (each) => each.email },
  { title: page.say("external_id"), wide: true, cell: (each) => each.external_id },
  money(page, "outstanding", (each) => each.outstanding_balance),
];

const inOut = (line, amount) => (line.direction === "credit" ? amount : -amount);

const ofBankLines = (title, amount) => (page) => [
  { title: page.say("date"), short: true, cell: (line) => recordLink(page, "bank-transaction", line.id, page.formats.day(line.date)) },
  { title: page.say("description"), cell: (line) => [line.description ?? line.counterparty_name, beneath(line.bank_account_name)] },
  { title: page.say("bank_account"), wide: true, cell: (line) => line.bank_account_name },
  money(page, title, (line) => inOut(line, line[amount])),
];

const ofEntries = (page) => [
  number(page, "entry", (each) => each.sequence_number ?? page.say(`status.${each.status}`), (each) => `${page.formats.day(each.entry_date)} · ${each.description}`),
  day(page, "date", "entry_date"),
  { title: page.say("description"), wide: true, cell: (each) => each.description },
  money(page, "amount", (each) => each.total_debit),
];

const ofReturns = (page) => [
  { title: page.say("period"), short: true, cell: (each) => [recordLink(page, "tax-return", each.id, page.formats.span(each.start_date, each.end_date)), beneath(page.say(`status.${each.status}`))] },
  { title: page.say("basis"), cell: (each) => page.say(each.scheme) },
  status(page),
  { title: page.say("filed_at"), short: true, wide: true, cell: (each) => each.filed_at && page.formats.day(each.filed_at) },
];

const LISTS = {
  "invoices": { path: "invoices/", columns: ofDocuments("invoice", "customer", "invoice_number", "issue_date") },
  "bills": { path: "bills/", columns: ofDocuments("bill", "vendor", "bill_number", "bill_date") },
  "payments": { path: "invoices/payments/", columns: ofPayments("payment", "customer", "total_amount_cents", "payment_reference") },
  "bill-payments": { path: "bills/payments/", columns: ofPayments("bill-payment", "vendor", "amount_cents", "check_number") },
  "customer-credits": { path: "customer-credits/", columns: ofCredits("customer-credit", "customer", "credit_note_number", "sent_at") },
  "vendor-credits": { path: "vendor-credits/", columns: ofCredits("vendor-credit", "vendor", "vendor_credit_number", "received_at") },
  "payouts": { path: "payouts/", columns: ofPayouts },
  "customers": { path: "customers/", columns: ofParties("customer") },
  "vendors": { path: "vendors/", columns: ofParties("vendor") },
  "bank": { path: "bank-transactions/", columns: ofBankLines("remaining", "remaining_amount_cents"), query: { is_reconciled: false }, empty: "nothing_waits", title: "bank_waiting" },
  "bank-lines": { path: "bank-transactions/", columns: ofBankLines("amount", "amount_cents") },
  "entries": { path: "general-ledger/journal-entries/", columns: ofEntries, query: { status: "approved" }, empty: "no_entries", title: "last_entries" },
  "tax-returns": { path: "tax-returns/", columns: ofReturns, empty: "no_returns" },
};

// The head or the whole of a list, of what a `query` asks for.
export function listOf(page, view, { few, query } = {}) {
  const { path, columns, query: always, empty = "none", title = view.replaceAll("-", "_") } = LISTS[view];
  return list(page, { path, query: { ...always, ...query }, few, view }, ({ results }) => table(page, {
    caption: page.say(title), empty: page.say(empty), rows: results,
    columns: columns(page).filter((column) => !(column.party && (query?.customer_id || query?.vendor_id))), // Of one party.
  }));
}

// A list by itself, and of which party it is where its address names one.
export const listView = (view) => (page) => [filtered(page), listOf(page, view)];

function filtered(page) {
  const asked = new URL(page.place.of ?? "", location.href).searchParams;
  const words = [
    ...["customer", "vendor"].filter((side) => asked.has(`${side}_id`)).map((side) => ofParty(page, side, asked.get(`${side}_id`))),
    asked.get("search"),
    asked.has("open_on") && page.say("open_on", { day: page.formats.day(asked.get("open_on")) }),
  ].filter(Boolean);
  return words.length > 0 && h("p", { class: "when" }, words.flatMap((word, at) => (at ? [" · ", word] : [word])));
}

const ofParty = (page, side, id) => answered(page, page.books.read(`${side}s/${id}/`), (found) => recordLink(page, side, id, nameOf(found)));

// What is found by its number, name, reference or external id, by kind; the parties first.
const SOUGHT = [
  "customers", "vendors", "invoices", "bills", "payments", "bill-payments", "customer-credits", "vendor-credits",
  "payouts", "bank-lines", "entries",
];
const MOST_FOUND = 5;

export function search(page) {
  const { find } = page.place;
  if (!find) return h("p", { class: "empty" }, page.say("search.how"));
  const asked = SOUGHT.map((view) => {
    const query = { ...LISTS[view].query, search: find };
    return { view, query, answer: page.books.read(LISTS[view].path, { ...query, page_size: MOST_FOUND }) };
  });
  const waiting = asked.some(({ answer }) => !answer.value && !answer.problem);
  const found = asked.filter(({ answer: { value, problem } }) => problem || value?.results.length > 0);
  return [
    h("p", { class: waiting ? "waiting" : "when", role: "status" }, page.say(waiting ? "loading" : found.length > 0 ? "search.found" : "search.nothing", { find })),
    found.map(({ view, query }) => h("div", { class: "found", key: view },
      section(page.say(view.replaceAll("-", "_")), listOf(page, view, { few: MOST_FOUND, query })))),
  ];
}
