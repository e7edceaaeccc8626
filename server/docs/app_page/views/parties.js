// A customer or a vendor: who it is, its statement, and the head of its lists.

import { h } from "../vendor/preact.mjs";
import { attached, saving } from "../files.js";
import { answered, beneath, facts, recordLink, recordOf, section, table } from "../parts.js";
import { pathOf } from "../places.js";
import { listOf } from "./lists.js";

const FEW = 5;
const SIDES = {
  customer: { documents: "invoices", payments: "payments", document: "invoice", files: (path) => ({ PDF: path, CSV: path }) },
  vendor: { documents: "bills", payments: "bill-payments", document: "bill", files: (path) => ({ CSV: path }) },
};

export const party = (page) => answered(page, recordOf(page), (found) => {
  const { say } = page;
  const { view, id } = page.place;
  const { documents, payments } = SIDES[view];
  const query = { [`${view}_id`]: id };
  return [
    facts(told(page, found)),
    found.documents.length > 0 && h("p", { class: "saving" }, say("attached"), found.documents.map((each) => [" ", attached(page, pathOf(view, id), each)])),
    section(say("statement"), statement(page)),
    section(say(documents), listOf(page, documents, { few: FEW, query })),
    section(say("payments"), listOf(page, payments, { few: FEW, query })),
  ];
});

function told({ say, formats }, found) {
  const address = [found.address_line1, found.address_line2, found.postal_code, found.city].filter(Boolean).join(", ");
  return [
    [say("outstanding"), formats.money(found.outstanding_balance)],
    [say("email"), found.email],
    [say("phone"), found.office_phone ?? found.mobile_phone],
    [say("address"), address || found.address_string],
    [say("country"), found.country],
    [say("vat_number"), found.vat_number],
    [say("terms"), found.payment_terms_days === null ? null : say("days", { count: found.payment_terms_days })],
    [say("external_id"), found.external_id],
    [say("number"), found.reference_number],
    [say("archived"), found.archived_at && formats.day(found.archived_at)],
    [say("note"), found.notes ?? found.memo],
  ];
}

// What was invoiced and settled in the period, line by line, with the balance after each.
function statement(page) {
  const { view, id } = page.place;
  const { from, to } = page.span;
  const path = `${pathOf(view, id)}statement/`;
  const asked = { start_date: from, end_date: to };
  return answered(page, page.books.read(path, asked), (report) => [
    h("p", { class: "when sub" }, page.formats.span(report.start_date, report.end_date), " · ", report.currency),
    lines(page, report),
    report.unapplied_cents !== 0 && h("p", { class: "note" }, page.say("unapplied", { amount: page.formats.money(report.unapplied_cents) })),
    saving(page, SIDES[view].files(`${path}?${new URLSearchParams(asked)}`)),
  ]);
}

function lines(page, report) {
  const { say, formats } = page;
  const edge = (name, balance_cents) => ({ edge: say(name), balance_cents });
  return table(page, {
    caption: say("statement"),
    total: (row) => row.edge,
    columns: [
      { title: say("date"), short: true, cell: (row) => row.edge ?? [formats.day(row.entry_date), beneath(source(page, row))] },
      { title: say("description"), wide: true, cell: (row) => !row.edge && source(page, row) },
      { title: say("entry"), short: true, wide: true, cell: (row) => !row.edge && recordLink(page, "entry", row.journal_entry_id, row.sequence_number) },
      { title: say("amount"), figure: true, cell: (row) => !row.edge && formats.amount(row.amount_cents) },
      { title: say("balance"), figure: true, cell: (row) => formats.amount(row.balance_cents) },
    ],
    rows: [edge("opening_balance_of", report.opening_balance_cents), ...report.lines, edge("closing_balance_of", report.closing_balance_cents)],
  });
}

// The kinds of sources that have a view of their own by their id alone.
const SHOWN = ["invoice", "payment", "refund", "customer_credit", "bill", "bill_payment", "vendor_credit", "vendor_refund", "vendor_refund_payment", "payout", "opening_balance"];

function source(page, row) {
  const text = [page.say(`source.${row.source_type}`), row.reference].filter(Boolean).join(" ");
  const { document } = SIDES[page.place.view];
  if (SHOWN.includes(row.source_type)) return recordLink(page, row.source_type.replaceAll("_", "-"), row.source_id, text);
  return recordLink(page, document, row[`${document}_id`], text);
}
