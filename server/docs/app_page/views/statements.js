// Profit and loss, balance sheet, cash flow and trial balance, line by line.

import { h } from "../vendor/preact.mjs";
import { saving } from "../files.js";
import { answered, explained, table } from "../parts.js";

// Which sections each sum stands below, from the top.
const PROFIT_AND_LOSS = [
  ["total_operating_income_cents", ["revenue", "other_operating_income"]],
  ["gross_profit_cents", ["direct_costs"]],
  ["operating_profit_cents", ["operating_expenses"]],
  ["profit_before_tax_cents", ["finance_income", "finance_costs"]],
  ["net_profit_cents", ["income_tax"]],
];
const BALANCE_SHEET = [
  ["total_assets_cents", ["non_current_assets", "current_assets"]],
  ["total_liabilities_cents", ["current_liabilities", "non_current_liabilities"]],
  ["net_assets_cents", []],
  ["total_equity_cents", ["share_capital", "share_premium", "reserves", "retained_earnings"]],
];

const CASH_FLOW = [
  ["net_cash_from_operating_cents", ["start", "non_cash_adjustments", "working_capital_changes"]],
  ["net_cash_from_investing_cents", ["investing_activities"]],
  ["net_cash_from_financing_cents", ["financing_activities"]],
  ["net_change_in_cash_cents", []],
  ["opening_cash_cents", []],
  ["closing_cash_cents", []],
];

export function profitAndLoss(page) {
  const { from, to } = page.span;
  return shown(page, "reports/profit-and-loss/", { start_date: from, end_date: to }, PROFIT_AND_LOSS,
    ({ start_date, end_date }) => page.formats.span(start_date, end_date));
}

export function balanceSheet(page) {
  return shown(page, "reports/balance-sheet/", { as_of_date: page.span.to }, BALANCE_SHEET,
    ({ as_of_date }) => page.say("as_of", { day: page.formats.day(as_of_date) }));
}

export function cashFlow(page) {
  const { from, to } = page.span;
  // What it starts from is one line without a section of its own.
  const shaped = ({ operating_activities: { net_profit_cents: value_cents, ...line }, ...report }) => ({
    ...report, ...line, start: { untitled: true, line_items: [{ ...line, value_cents, display_name: page.say("net_profit") }] },
  });
  return shown(page, "reports/cash-flow/", { start_date: from, end_date: to }, CASH_FLOW,
    ({ start_date, end_date }) => page.formats.span(start_date, end_date), { kinds: ["CSV"], shaped });
}

// `daysOf` says what days a report, or what it is compared with, tells of.
function shown(page, path, days, sums, daysOf, { kinds = ["CSV", "PDF"], shaped = (report) => report } = {}) {
  const { basis, compare } = page.place;
  const asked = { ...days, basis, detail_level: "detailed", ...(compare === "none" ? {} : { compare_to: compare }) };
  const address = `${path}?${new URLSearchParams(asked)}`;
  return answered(page, page.books.read(path, asked), (report) => [
    statement(page, shaped(report), sums, daysOf), saving(page, Object.fromEntries(kinds.map((kind) => [kind, address]))),
  ]);
}

function statement(page, report, sums, daysOf) {
  const { comparison } = report;
  const when = daysOf(report);
  const figures = (value, previous, difference, address) => {
    const shown = comparison ? [value, previous, difference] : [value];
    return shown.map((each, at) => h("td", { class: at === 2 ? "figure wide" : "figure" },
      at === 0 ? explained(page, address, page.formats.amount(each)) : page.formats.amount(each)));
  };
  const summed = (name) => figures(report.summary[name], comparison?.summary[name], comparison?.difference[name]);
  return h("div", { class: "sheet" },
    h("p", { class: "when" }, when, " · ", page.say(report.basis), " · ", report.currency),
    h("div", { class: "scroll" }, h("table", { class: comparison ? "statement compared" : "statement" },
      h("caption", { class: "unseen" }, page.say(page.place.view.replaceAll("-", "_"))),
      h("thead", { class: comparison ? null : "unseen" }, h("tr", null, h("th", { scope: "col" }, page.say("account")),
        h("th", { scope: "col", class: "figure" }, when),
        comparison && [h("th", { scope: "col", class: "figure" }, daysOf(comparison)),
          h("th", { scope: "col", class: "figure wide" }, page.say("difference"))])),
      sums.map(([sum, names]) => h("tbody", { key: sum },
        names.map((name) => section(page, report[name], name, figures)),
        h("tr", { class: "total" }, h("th", { scope: "row" }, page.say(sum)), summed(sum)))))));
}

// A section without lines says nothing that its sum does not.
function section(page, { line_items, untitled, total_cents, previous_cents, difference_cents }, name, figures) {
  if (line_items.length === 0) return null;
  return [
    !untitled && h("tr", { class: "heading" }, h("th", { scope: "rowgroup" }, page.say(name)),
      figures(total_cents, previous_cents, difference_cents)),
    line_items.map((line) => h("tr", { class: "line" },
      h("th", { scope: "row" }, line.account_code && h("span", { class: "code" }, line.account_code), line.account_name ?? line.display_name),
      figures(line.value_cents, line.previous_cents, line.difference_cents, line.explain))),
  ];
}

// Every account with its balance on the side where it is, and that both sides are equal.
export function trialBalance(page) {
  const asked = { as_of_date: page.span.to, basis: page.place.basis };
  const { say, formats } = page;
  const side = (name) => ({ title: say(name), figure: true, cell: (row) => (row[`${name}_cents`] ? explained(page, row.explain, formats.amount(row[`${name}_cents`])) : "") });
  return answered(page, page.books.read("reports/trial-balance/", asked), (report) => h("div", { class: "sheet" },
    h("p", { class: "when" }, say("as_of", { day: formats.day(report.as_of_date) }), " · ", say(report.basis), " · ", report.currency),
    table(page, {
      caption: say("trial_balance"),
      empty: say("no_entries"),
      total: (row) => row.whole,
      columns: [
        { title: say("account"), cell: (row) => (row.whole ? say("total") : [h("span", { class: "code" }, row.account_code), row.account_name]) },
        side("debit"), side("credit"),
      ],
      rows: [...report.accounts, { whole: true, debit_cents: report.total_debits_cents, credit_cents: report.total_credits_cents }],
    }),
    saving(page, { CSV: `reports/trial-balance/?${new URLSearchParams(asked)}` })));
}
