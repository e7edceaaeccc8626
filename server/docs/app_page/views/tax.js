// Tax: what is declared for a period, the returns that were made, and the lines behind each figure.

import { h } from "../vendor/preact.mjs";
import { saving } from "../files.js";
import { accountLink, answered, behind, beneath, explained, facts, longer, pager, recordLink, recordOf, section, table } from "../parts.js";

// The tax of the period, as a return of it would be if it were made now.
export function tax(page) {
  const { from, to } = page.span;
  const asked = { start_date: from, end_date: to, basis: page.place.basis };
  return answered(page, page.books.read("reports/vat-summary/", asked), (report) => {
    const { boxes, late, transition } = report.return_preview;
    return h("div", { class: "sheet" },
      h("p", { class: "when" }, page.formats.span(report.start_date, report.end_date), " · ", page.say(report.basis), " · ", report.currency),
      due(page, report.return_preview.tax_due_cents),
      figures(page, { ...report, boxes, late, transition }),
      saving(page, { CSV: `reports/vat-summary/?${new URLSearchParams(asked)}` }));
  });
}

// A return that was made.
export const taxReturn = (page) => answered(page, recordOf(page), (found) => {
  const { say, formats } = page;
  const other = (id) => id && recordLink(page, "tax-return", id);
  return h("div", { class: "sheet" },
    due(page, found.tax_due_cents),
    facts([
      [say("status"), say(`status.${found.status}`)],
      [say("basis"), say(found.scheme)],
      [say("filed_at"), found.filed_at && formats.day(found.filed_at)],
      [say("reference"), found.reference],
      [say("reason"), found.reason],
      [say("supersedes"), other(found.supersedes_id)],
      [say("superseded_by"), other(found.superseded_by_id)],
    ]),
    figures(page, found));
});

const due = (page, amount) => h("p", { class: "due" }, page.say(amount < 0 ? "tax_back" : "tax_due"), " ", h("b", null, page.formats.money(Math.abs(amount))));

function figures(page, found) {
  const { say, formats } = page;
  return [
    found.boxes.length > 0 && section(say("boxes"), table(page, {
      caption: say("boxes"),
      columns: [
        { title: say("box"), cell: (row) => row.box },
        { title: say("amount"), figure: true, cell: (row) => explained(page, row.amount_cents && row.explain, formats.amount(row.amount_cents)) },
      ],
      rows: found.boxes,
    })),
    section(say("tax_codes"), codeTable(page, "tax_codes", found.codes)),
    found.late.length > 0 && section(say("tax_late"), codeTable(page, "tax_late", found.late)),
    found.transition.length > 0 && section(say("tax_transition"), codeTable(page, "tax_transition", found.transition)),
    found.uncoded.length > 0 && section(say("tax_uncoded"), table(page, {
      caption: say("tax_uncoded"),
      columns: [
        { title: say("account"), cell: (row) => accountLink(page, { id: row.account_id, code: row.account_code, name: row.account_name }) },
        { title: say("amount"), figure: true, cell: (row) => formats.amount(row.amount_cents) },
      ],
      rows: found.uncoded,
    })),
  ];
}

const AMOUNTS = ["net", "output", "input", "blocked", "withheld", "relief"];

// Net and tax by code; a column of which all is zero is left out.
function codeTable(page, name, codes) {
  const { say, formats } = page;
  const columns = AMOUNTS.filter((each) => codes.some((row) => row[`${each}_cents`]));
  const rate = (row) => (row.tax_rate === null ? "" : `${formats.count(row.tax_rate)} %`);
  return table(page, {
    caption: say(name),
    empty: say("no_tax"),
    dense: columns.length > 2,
    columns: [
      { title: say("tax_code"), cell: (row) => [explained(page, row.explain, row.tax_code), h("small", { class: "under" }, row.name)] },
      { title: say("tax_rate"), figure: true, wide: true, cell: rate },
      ...columns.map((each) => ({ title: say(`tax.${each}`), figure: true, cell: (row) => formats.amount(row[`${each}_cents`]) })),
    ],
    rows: codes,
  });
}

// The lines behind a figure of a return or of the summary.
export function taxLines(page) {
  const of = behind(page);
  const asked = new URL(of, location.href).searchParams;
  const { say, formats } = page;
  const days = asked.has("start_date") && formats.span(asked.get("start_date"), asked.get("end_date"));
  const told = [asked.has("box") && `${say("box")} ${asked.get("box")}`, days].filter(Boolean).join(" · ");
  return [
    told && h("p", { class: "when" }, told),
    answered(page, page.books.readAt(longer(of)), (found) => [lineTable(page, found.results), pager(page, found)]),
  ];
}

function lineTable(page, results) {
  const { say, formats } = page;
  return table(page, {
    caption: say("lines"),
    empty: say("no_entries"),
    columns: [
      { title: say("entry"), short: true, cell: (line) => [recordLink(page, "entry", line.journal_entry_id, line.sequence_number), beneath(formats.day(line.entry_date), " · ", line.description)] },
      { title: say("date"), short: true, wide: true, cell: (line) => formats.day(line.entry_date) },
      { title: say("description"), wide: true, cell: (line) => line.description },
      { title: say("tax_code"), wide: true, cell: (line) => line.shares.map((each) => each.tax_code).join(", ") },
      { title: say("account"), wide: true, cell: (line) => [h("span", { class: "code" }, line.account_code), line.account_name] },
      { title: say("amount"), figure: true, cell: (line) => formats.amount(line.shares.reduce((sum, each) => sum + each.amount_cents, 0)) },
    ],
    rows: results,
  });
}
