// The ledger: the last entries, the lines behind a figure, one entry, and whether all of it holds.

import { h } from "../vendor/preact.mjs";
import { answered, beneath, explained, facts, list, longer, pager, section, table } from "../parts.js";

const entryAt = (page, id) => `${page.books.home}general-ledger/journal-entries/${id}/`;
const entryLink = (page, id, text) => h("a", { href: page.to({ view: "entry", of: entryAt(page, id) }) }, text ?? page.say("status.draft"));
const blank = (page, amount) => (amount ? page.formats.amount(amount) : "");

export const entries = (page) => latestEntries(page);

export function latestEntries(page, few) {
  const asked = { path: "general-ledger/journal-entries/", query: { status: "approved" }, few, view: "entries" };
  return list(page, asked, (found) => entryTable(page, found));
}

function entryTable(page, { results }) {
  return table(page, {
    caption: page.say("last_entries"),
    empty: page.say("no_entries"),
    columns: [
      { title: page.say("number"), short: true, cell: (each) => [entryLink(page, each.id, each.sequence_number), beneath(each.description)] },
      { title: page.say("date"), short: true, cell: (each) => page.formats.day(each.entry_date) },
      { title: page.say("description"), wide: true, cell: (each) => each.description },
      { title: page.say("amount"), figure: true, cell: (each) => page.formats.amount(each.total_debit) },
    ],
    rows: results,
  });
}

// The lines of an account behind a figure.
export function lines(page) {
  const { of } = page.place;
  const { pathname, searchParams } = new URL(of, location.href);
  const account = page.books.readAt(pathname.replace(/entries\/$/, ""));
  const [from, to] = [searchParams.get("date_from"), searchParams.get("date_to")];
  const days = from ? page.formats.span(from, to ?? page.today) : to && page.say("until", { day: page.formats.day(to) });
  const told = [days, searchParams.get("basis") && page.say(searchParams.get("basis"))].filter(Boolean).join(" · ");
  return [
    answered(page, account, ({ code, name }) => h("p", { class: "name" }, h("span", { class: "code" }, code), name)),
    told && h("p", { class: "when" }, told),
    answered(page, page.books.readAt(longer(of)), (found) => [lineTable(page, found), pager(page, found)]),
  ];
}

function lineTable(page, { results, next, previous }) {
  const sum = (name) => results.reduce((whole, line) => whole + line[name], 0);
  const whole = { whole: true, debit_amount: sum("debit_amount"), credit_amount: sum("credit_amount") };
  const complete = results.length > 0 && !next && !previous;
  return table(page, {
    caption: page.say("lines"),
    empty: page.say("no_entries"),
    total: (line) => line.whole,
    columns: [
      { title: page.say("entry"), short: true, cell: (line) => (line.whole ? page.say("total") : [
        entryLink(page, line.journal_entry_id, line.sequence_number),
        beneath([page.formats.day(line.entry_date), line.description].filter(Boolean).join(" · ")),
      ]) },
      { title: page.say("date"), short: true, wide: true, cell: (line) => (line.whole ? "" : page.formats.day(line.entry_date)) },
      { title: page.say("description"), wide: true, cell: (line) => line.description },
      { title: page.say("debit"), figure: true, cell: (line) => blank(page, line.debit_amount) },
      { title: page.say("credit"), figure: true, cell: (line) => blank(page, line.credit_amount) },
    ],
    rows: complete ? [...results, whole] : results,
  });
}

export function entry(page) {
  return answered(page, page.books.readAt(page.place.of), (found) => {
    const { say, formats } = page;
    return [
      h("p", { class: "name" }, found.sequence_number ?? say("status.draft"), " ", h("span", null, found.description)),
      facts([
        [say("date"), formats.day(found.entry_date)],
        [say("comes_from"), explained(page, found.document_url, [say(`source.${found.source_type}`), found.reference].filter(Boolean).join(" "))],
        [say("posting_rule"), found.posting_rule && say(`rule.${found.posting_rule}`)],
        [say("posted_at"), found.posted_at && formats.day(found.posted_at)],
        [say("reverses"), found.reversal_of_id && entryLink(page, found.reversal_of_id, say("entry"))],
        [say("reversed_by"), found.reversed_by_id && entryLink(page, found.reversed_by_id, say("entry"))],
      ]),
      table(page, {
        caption: say("entry"),
        total: (line) => line.whole,
        columns: [
          { title: say("account"), cell: (line) => (line.whole ? say("total") : accountLink(page, line)) },
          { title: say("debit"), figure: true, cell: (line) => blank(page, line.debit_amount) },
          { title: say("credit"), figure: true, cell: (line) => blank(page, line.credit_amount) },
        ],
        rows: [...found.lines, { whole: true, debit_amount: found.total_debit, credit_amount: found.total_credit }],
      }),
    ];
  });
}

function accountLink(page, { account_id, account_code, account_name }) {
  const of = `${page.books.home}general-ledger/chart-of-accounts/${account_id}/entries/`;
  return [h("span", { class: "code" }, account_code), h("a", { href: page.to({ view: "lines", of }) }, account_name)];
}

export function integrity(page) {
  return answered(page, page.books.read("integrity/"), ({ checks }) => section(page.say("checks"), table(page, {
    caption: page.say("checks"),
    columns: [
      { title: page.say("check"), cell: (each) => h("code", null, broken(each.name)) },
      { title: page.say("checked"), figure: true, cell: (each) => page.formats.count(each.checked) },
      { title: page.say("result"), cell: (each) => h("span", { class: each.ok ? "holds" : "late" }, page.say(each.ok ? "holds" : "fails")) },
    ],
    rows: checks,
  })));
}

// A name in code may go on in the next line after each of its words.
const broken = (name) => name.split("_").flatMap((word, at) => (at === 0 ? [word] : ["_", h("wbr"), word]));
