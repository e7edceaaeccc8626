// Profit and loss, and the balance sheet, line by line.

import { h } from "../vendor/preact.mjs";
import { answered, explained } from "../parts.js";

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

export function profitAndLoss(page) {
  const { from, to } = page.span;
  return shown(page, "reports/profit-and-loss/", { start_date: from, end_date: to }, PROFIT_AND_LOSS,
    ({ start_date, end_date }) => page.formats.span(start_date, end_date));
}

export function balanceSheet(page) {
  return shown(page, "reports/balance-sheet/", { as_of_date: page.span.to }, BALANCE_SHEET,
    ({ as_of_date }) => page.say("as_of", { day: page.formats.day(as_of_date) }));
}

// `daysOf` says what days a report, or what it is compared with, tells of.
function shown(page, path, days, sums, daysOf) {
  const { basis, compare } = page.place;
  const asked = { ...days, basis, detail_level: "detailed", compare_to: compare === "none" ? undefined : compare };
  return answered(page, page.books.read(path, asked), (report) => statement(page, report, sums, daysOf));
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
function section(page, { line_items, total_cents, previous_cents, difference_cents }, name, figures) {
  if (line_items.length === 0) return null;
  return [
    h("tr", { class: "heading" }, h("th", { scope: "rowgroup" }, page.say(name)),
      figures(total_cents, previous_cents, difference_cents)),
    line_items.map((line) => h("tr", { class: "line" },
      h("th", { scope: "row" }, line.account_code && h("span", { class: "code" }, line.account_code), line.account_name ?? line.display_name),
      figures(line.value_cents, line.previous_cents, line.difference_cents, line.explain))),
  ];
}
