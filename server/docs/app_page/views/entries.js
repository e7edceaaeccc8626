// The ledger: the lines behind a figure, one entry, and the entries of a record.

import { h } from "../vendor/preact.mjs";
import { attached, saving } from "../files.js";
import { accountLink, answered, behind, beneath, explained, facts, longer, pager, recordLink, recordOf, section, table } from "../parts.js";
import { pathOf } from "../places.js";
import { listOf } from "./lists.js";

const LEDGER = "general-ledger/";
const blank = (page, amount) => (amount ? page.formats.amount(amount) : "");
const accountOf = ({ account_id: id, account_code: code, account_name: name }) => ({ id, code, name });

// The entries of the period, the latest first, or what an address names.
export const entries = (page) => (page.place.of ? listOf(page, "entries") : [
  latestEntries(page),
  saving(page, { CSV: `${LEDGER}journal-entries/export/?${new URLSearchParams({ status: "approved", ...inPeriod(page) })}` }),
]);

const inPeriod = ({ span: { from, to } }) => ({ date_from: from, date_to: to });

export const latestEntries = (page, few) => listOf(page, "entries", { few, query: inPeriod(page) });

// The lines of an account behind a figure.
export function lines(page) {
  const of = behind(page);
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
        recordLink(page, "entry", line.journal_entry_id, line.sequence_number),
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
  return answered(page, recordOf(page), (found) => {
    const { say, formats } = page;
    const source = [say(`source.${found.source_type}`), found.reference].filter(Boolean).join(" ");
    return [
      h("p", { class: "name" }, found.description),
      facts([
        [say("date"), formats.day(found.entry_date)],
        [say("comes_from"), found.source_type === "manual" ? source : explained(page, found.document_url, source)],
        [say("status"), found.status !== "approved" && say(`status.${found.status}`)],
        [say("posting_rule"), found.posting_rule && say(`rule.${found.posting_rule}`)],
        [say("posted_at"), found.posted_at && formats.day(found.posted_at)],
        [say("reverses"), found.reversal_of_id && recordLink(page, "entry", found.reversal_of_id)],
        [say("reversed_by"), found.reversed_by_id && recordLink(page, "entry", found.reversed_by_id)],
      ]),
      found.document && h("p", { class: "saving" }, say("attached"), " ", attached(page, pathOf("entry", found.id), found.document)),
      postings(page, found),
      found.reconciled_bank_transactions.map((line) => h("p", null, say("matched_with"), ": ",
        recordLink(page, "bank-transaction", line.bank_transaction_id, `${line.bank_account_name} ${formats.day(line.bank_transaction_date)}`))),
    ];
  });
}

// What a line of a foreign record is in the currency of the record: a debit above zero.
const own = ({ formats }, { currency, currency_amount: amount }) => (amount ? h("small", { class: "under" }, formats.in(currency).money(amount)) : null);

function postings(page, found, caption = page.say("entry")) {
  const { say } = page;
  return table(page, {
    caption,
    total: (line) => line.whole,
    columns: [
      { title: say("account"), cell: (line) => (line.whole ? say("total") : [accountLink(page, accountOf(line)), line.description && h("small", { class: "under" }, line.description), own(page, line)]) },
      { title: say("debit"), figure: true, cell: (line) => blank(page, line.debit_amount) },
      { title: say("credit"), figure: true, cell: (line) => blank(page, line.credit_amount) },
    ],
    rows: [...found.lines, { whole: true, debit_amount: found.total_debit, credit_amount: found.total_credit }],
  });
}

// A record that is changed often has many entries; the others are behind a link.
const MOST_SHOWN = 6;

// The entries of a record, each with its lines, in the order of their days.
export function journal(page, sources) {
  const asked = sources.map((source_id) => page.books.read(`${LEDGER}journal-entries/`, { source_id, sort: "entry_date", page_size: MOST_SHOWN }));
  const { say, formats } = page;
  return section(say("journal"), asked.map((answer, at) => answered(page, answer, ({ results, page_info: { total_count: count } }) => [
    results.length === 0 && sources.length === 1 && h("p", { class: "empty" }, say("no_postings")),
    results.map((head) => h("div", { class: "posted", key: head.id },
      h("h3", null, recordLink(page, "entry", head.id, head.sequence_number ?? say(`status.${head.status}`))),
      h("p", null, formats.day(head.entry_date), " · ", head.description),
      answered(page, page.books.read(pathOf("entry", head.id)), (found) => postings(page, found, head.sequence_number ?? say("entry"))))),
    count > results.length && h("p", { class: "all" }, h("a", { href: page.to({ view: "entries", of: ofSource(page, sources[at]) }) }, say("all", { count: formats.count(count) }))),
    results.length > 0 && at === 0 && saving(page, { CSV: `${LEDGER}journal-entries/export/?source_id=${sources[at]}` }),
  ])));
}

const ofSource = (page, source) => `${page.books.home}${LEDGER}journal-entries/?source_id=${source}`;
