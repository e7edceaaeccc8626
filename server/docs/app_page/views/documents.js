// What is open on both sides, and how late it is.

import { h } from "../vendor/preact.mjs";
import { saving } from "../files.js";
import { answered, beneath, explained, list, nameOf, partyLink, recordLink, section, table } from "../parts.js";

const SIDES = {
  invoices: { view: "invoice", party: "customer", number: "invoice_number", aging: "insights/ar-aging/", parties: "customers" },
  bills: { view: "bill", party: "vendor", number: "bill_number", aging: "insights/ap-aging/", parties: "vendors" },
};
const BUCKETS = ["current", "days_1_30", "days_31_60", "days_61_90", "over_90_days"];

export const receivables = (page) => side(page, "invoices", "open_invoices");
export const payables = (page) => side(page, "bills", "open_bills");

// All that is open, or the page of it that the address names.
function side(page, kind, title) {
  const { aging } = SIDES[kind];
  return [
    !page.place.of && section(page.say("aging"), answered(page, page.books.read(aging), (report) => [agingTable(page, kind, report), saving(page, { CSV: aging })])),
    section(page.say(title), openDocuments(page, kind)),
  ];
}

function agingTable(page, kind, report) {
  const { party, parties } = SIDES[kind];
  const whole = { total: true, total_outstanding_cents: report.total_outstanding_cents, aging_buckets: report.total_aging_buckets };
  // Who has only paid in advance is open with nothing.
  const rows = report[parties].filter((row) => Object.values(row.aging_buckets).some((each) => each !== 0));
  const shown = table(page, {
    caption: page.say("aging"),
    empty: page.say("nothing_open"),
    total: (row) => row.total,
    columns: [
      { title: page.say(party), cell: (row) => (row.total ? page.say("total") : partyLink(page, row)) },
      ...BUCKETS.map((bucket) => ({
        title: page.say(bucket), figure: true, wide: true,
        cell: (row) => (row.aging_buckets[bucket] ? page.formats.amount(row.aging_buckets[bucket]) : h("span", { class: "none" }, "–")),
      })),
      { title: page.say("total"), figure: true, cell: (row) => [
        explained(page, row.explain, page.formats.amount(row.total_outstanding_cents)), late(page, row),
      ] },
    ],
    rows: rows.length > 0 ? [...rows, whole] : rows,
  });
  const apart = report.unapplied_cents && page.say("unapplied", { amount: page.formats.money(report.unapplied_cents) });
  return [shown, apart && h("p", { class: "note" }, apart)];
}

function late(page, { total_outstanding_cents: all, aging_buckets: { current } }) {
  return all !== current && beneath(page.say("of_it_overdue", { amount: page.formats.amount(all - current) }));
}

// Open invoices or bills, those first that are due first.
export function openDocuments(page, kind, few) {
  const view = kind === "invoices" ? "receivables" : "payables";
  const asked = { path: `${kind}/`, query: { status: "issued", sort: "due_at" }, few, view };
  return list(page, asked, (found) => documentTable(page, kind, found));
}

function documentTable(page, kind, { results }) {
  const { view, party, number } = SIDES[kind];
  const due = (each) => each.due_at && page.formats.day(each.due_at);
  return table(page, {
    caption: page.say(kind),
    empty: page.say("nothing_open"),
    columns: [
      { title: page.say("number"), short: true, cell: (each) => [
        recordLink(page, view, each.id, each[number] ?? each.external_id), beneath(nameOf(each[party])),
      ] },
      { title: page.say(party), wide: true, cell: (each) => partyLink(page, each) },
      { title: page.say("due"), short: true, cell: (each) => [due(each), each.is_overdue && h("span", { class: "late" }, page.say("status.overdue"))] },
      { title: page.say("outstanding"), figure: true, cell: (each) => page.formats.in(each.currency).amount(each.outstanding_balance) },
    ],
    rows: results,
  });
}
