// All of it at a glance: four figures, two charts, and the head of every list.

import { h } from "../vendor/preact.mjs";
import { Chart } from "../chart.js";
import { answered, section } from "../parts.js";
import { plusMonths } from "../periods.js";
import { openDocuments } from "./documents.js";
import { latestEntries } from "./entries.js";
import { listOf } from "./lists.js";

const FEW = 5;

export function overview(page) {
  return [
    h("dl", { class: "figures" }, cash(page), profit(page), owed(page, "receivables", "insights/ar-aging/"), owed(page, "payables", "insights/ap-aging/")),
    h("div", { class: "charts" }, profitChart(page), cashChart(page)),
    h("div", { class: "lists" },
      section(page.say("open_invoices"), openDocuments(page, "invoices", FEW)),
      section(page.say("open_bills"), openDocuments(page, "bills", FEW)),
      section(page.say("bank_waiting"), listOf(page, "bank", { few: FEW })),
      section(page.say("last_entries"), latestEntries(page, FEW))),
  ];
}

const figure = (name, view, answer, told) => (page) => h("div", { class: "figure-box", key: name },
  h("dt", null, page.say(name)),
  h("dd", null, answered(page, answer, (value) => {
    const { amount, note } = told(value);
    return [h("a", { class: "big", href: page.to({ view }) }, page.formats.money(amount)), h("p", { class: "note" }, note)];
  })));

// A column for each month; of more than three years, which are read in a longer view, for each year.
const MOST_MONTHS = 36;
const stepOf = ({ from, to }) => (plusMonths(from, MOST_MONTHS) > to ? "month" : "year");

function flow(page) {
  const { from, to } = page.span;
  return page.books.read("reports/cash-flow/", { start_date: from, end_date: to, basis: page.place.basis, interval: stepOf(page.span) });
}

function summary(page) {
  const { from, to } = page.span;
  return page.books.read("insights/financial-summary/", { start_date: from, end_date: to, basis: page.place.basis, granularity: stepOf(page.span) });
}

const signed = (page, amount) => `${amount > 0 ? "+" : ""}${page.formats.money(amount)}`;

const cash = (page) => figure("cash_at_hand", "cash-flow", flow(page), ({ summary }) => ({
  amount: summary.closing_cash_cents,
  note: page.say("change_of_cash", { amount: signed(page, summary.net_change_in_cash_cents) }),
}))(page);

const profit = (page) => figure("net_profit", "profit-and-loss", summary(page), ({ summary }) => ({
  amount: summary.net_profit_cents,
  note: page.say("of_revenue", { amount: page.formats.money(summary.total_revenue_cents) }),
}))(page);

const owed = (page, view, path) => figure(`owed_${view}`, view, page.books.read(path), (aging) => ({
  amount: aging.total_outstanding_cents,
  note: page.say("of_it_overdue", { amount: page.formats.money(aging.total_outstanding_cents - aging.total_aging_buckets.current) }),
}))(page);

const monthOf = (page, start, end) => page.to({ view: "profit-and-loss", period: "own", from: start, to: end });

function profitChart(page) {
  return answered(page, summary(page), ({ trends }) => h(Chart, {
    page,
    title: page.say("profit_over_time"),
    step: stepOf(page.span),
    points: trends.map((each) => ({
      start: each.period_start,
      href: monthOf(page, each.period_start, each.period_end),
      revenue: each.revenue_cents,
      expenses: each.expenses_cents,
      profit: each.net_profit_cents,
    })),
    series: [
      { name: "revenue", title: page.say("revenue") },
      { name: "expenses", title: page.say("expenses") },
      { name: "profit", title: page.say("net_profit"), line: true },
    ],
  }));
}

function cashChart(page) {
  return answered(page, flow(page), ({ columns }) => h(Chart, {
    page,
    title: page.say("cash_over_time"),
    step: stepOf(page.span),
    points: columns.map((each) => ({
      start: each.start_date,
      href: page.to({ view: "balance-sheet", period: "own", from: each.start_date, to: each.end_date }),
      cash: each.summary.closing_cash_cents,
    })),
    series: [{ name: "cash", title: page.say("cash_at_hand"), line: true }],
  }));
}
