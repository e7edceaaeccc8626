// What is open on both sides, how late it is, and any document as it stands.

import { h } from "../vendor/preact.mjs";
import { answered, beneath, explained, facts, list, nameOf, section, table } from "../parts.js";

const SIDES = {
  invoices: { party: "customer", number: "invoice_number", aging: "insights/ar-aging/", parties: "customers" },
  bills: { party: "vendor", number: "bill_number", aging: "insights/ap-aging/", parties: "vendors" },
};
const BUCKETS = ["current", "days_1_30", "days_31_60", "days_61_90", "over_90_days"];
const SETTLED_BY = ["payment_allocations", "bill_payment_allocations", "credit_allocations", "vendor_credit_allocations", "refund_allocations", "vendor_refund_allocations", "write_offs"];

export const receivables = (page) => side(page, "invoices", "open_invoices");
export const payables = (page) => side(page, "bills", "open_bills");

// All that is open, or what an address of the aging or of a page names.
function side(page, kind, title) {
  return [
    !page.place.of && section(page.say("aging"), answered(page, page.books.read(SIDES[kind].aging), (report) => agingTable(page, kind, report))),
    section(page.say(title), openDocuments(page, kind)),
  ];
}

function agingTable(page, kind, report) {
  const { party, parties } = SIDES[kind];
  const whole = { name: page.say("total"), total: true, total_outstanding_cents: report.total_outstanding_cents, aging_buckets: report.total_aging_buckets };
  // Who has only paid in advance is open with nothing.
  const open = report[parties].filter((row) => Object.values(row.aging_buckets).some((each) => each !== 0));
  const rows = open.map((row) => ({ ...row, name: row[`${party}_name`] }));
  const shown = table(page, {
    caption: page.say("aging"),
    empty: page.say("nothing_open"),
    total: (row) => row.total,
    columns: [
      { title: page.say(party), cell: (row) => row.name },
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
  const { party, number } = SIDES[kind];
  const due = (each) => each.due_at && page.formats.day(each.due_at);
  return table(page, {
    caption: page.say(kind),
    empty: page.say("nothing_open"),
    columns: [
      { title: page.say("number"), short: true, cell: (each) => [
        h("a", { href: page.to({ view: "document", of: `${page.books.home}${kind}/${each.id}/` }) }, each[number] ?? each.external_id ?? page.say("status.draft")),
        beneath(nameOf(each[party])),
      ] },
      { title: page.say(party), wide: true, cell: (each) => nameOf(each[party]) },
      { title: page.say("due"), short: true, cell: (each) => [due(each), each.is_overdue && h("span", { class: "late" }, page.say("status.overdue"))] },
      { title: page.say("outstanding"), figure: true, cell: (each) => page.formats.amount(each.outstanding_balance) },
    ],
    rows: results,
  });
}

// One document, whatever it is.
export const documentView = (page) => answered(page, page.books.readAt(page.place.of), (found) => one(page, found.refund ?? found.payment ?? found));

const firstOf = (from, ...names) => names.map((name) => from[name]).find((each) => each !== undefined && each !== null);

function one(page, found) {
  const { formats, say } = page;
  const money = (amount) => (amount === undefined || amount === null ? undefined : formats.money(amount));
  const day = (text) => text && formats.day(text);
  const party = found.customer ?? found.vendor;
  return [
    h("p", { class: "name" }, firstOf(found, "invoice_number", "bill_number", "refund_number", "credit_number", "payout_number", "external_id", "reference", "id")),
    facts([
      [say(found.customer ? "customer" : "vendor"), party && nameOf(party)],
      [say("status"), found.status && say(`status.${found.status}`)],
      [say("vendor_number"), found.vendor_bill_number],
      [say("date"), day(firstOf(found, "sent_at", "received_at", "payment_date", "refund_date", "entry_date", "date", "completed_at", "issued_at"))],
      [say("due"), day(found.due_at)],
      [say("method"), found.payment_method && say(`method.${found.payment_method}`)],
      [say("amount"), money(firstOf(found, "total_amount", "total_amount_cents", "amount_cents", "paid_out_amount_cents", "total_refunded_amount_cents"))],
      [say("fee"), money(firstOf(found, "processing_fee_cents", "fee_cents") || undefined)],
      [say("outstanding"), money(found.outstanding_balance)],
      [say("note"), firstOf(found, "memo", "note", "description")],
    ]),
    found.line_items && itemTable(page, found),
    settlements(page, found),
  ];
}

function itemTable(page, found) {
  const sum = (name, amount) => amount && { name, amount, sum: true };
  return table(page, {
    caption: page.say("items"),
    total: (row) => row.whole,
    columns: [
      { title: page.say("description"), cell: (row) => row.name ?? row.description },
      { title: page.say("quantity"), figure: true, wide: true, cell: (row) => (row.quantity === undefined ? "" : page.formats.count(row.quantity)) },
      { title: page.say("price"), figure: true, wide: true, cell: (row) => (row.unit_price_decimal === undefined ? "" : page.formats.price(row.unit_price_decimal)) },
      { title: page.say("tax_rate"), figure: true, wide: true, cell: (row) => (row.tax_rate ? `${page.formats.count(row.tax_rate)} %` : "") },
      { title: page.say("amount"), figure: true, cell: (row) => page.formats.amount(row.amount ?? row.subtotal) },
    ],
    rows: [
      ...found.line_items,
      sum(page.say("discount"), -found.discount_total),
      sum(page.say("tax"), found.tax_total),
      sum(page.say("withheld"), -found.withholding_total),
      { name: page.say("total"), amount: found.total_amount, whole: true },
    ].filter(Boolean),
  });
}

// What settles it, whatever that is.
function settlements(page, found) {
  const rows = SETTLED_BY.flatMap((name) => (found[name] ?? []).map((each) => ({ ...each, name })));
  if (rows.length === 0) return null;
  const dayOf = (row) => firstOf(row, "payment_date", "date", "refund_date", "written_off_at", "created_at");
  return section(page.say("settled_by"), table(page, {
    caption: page.say("settled_by"),
    columns: [
      { title: page.say("settled_by"), cell: (row) => page.say(row.name) },
      { title: page.say("date"), short: true, cell: (row) => dayOf(row) && page.formats.day(dayOf(row)) },
      { title: page.say("amount"), figure: true, cell: (row) => page.formats.amount(firstOf(row, "amount_cents", "amount") ?? 0) },
    ],
    rows,
  }));
}
