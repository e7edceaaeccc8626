// What stands around every view: whose books, whether they hold, where to go, which period and basis.

import { h } from "./vendor/preact.mjs";
import { COMPARISONS } from "./address.js";
import { LANGUAGE_NAMES } from "./formats.js";
import { sayView } from "./parts.js";
import { PERIODS } from "./periods.js";
import { GROUPS, groupOf } from "./places.js";

// Which views are of a period and a basis, which of a period alone, and which are held against another one, too.
const OF_A_BASIS = ["overview", "profit-and-loss", "balance-sheet", "cash-flow", "trial-balance", "tax"];
const OF_A_PERIOD = [...OF_A_BASIS, "entries", "customer", "vendor"];
const COMPARED = ["profit-and-loss", "balance-sheet", "cash-flow"];

export function header(page, skip) {
  const skipped = (event) => {
    event.preventDefault(); // What stands behind the # is the view.
    skip();
  };
  return h("header", null,
    h("a", { class: "skip", href: "#", onClick: skipped }, page.say("skip")),
    h("p", { class: "business" }, page.business.name),
    light(page),
    h("div", { class: "actions" },
      searchForm(page),
      h("button", { type: "button", onClick: () => page.books.refresh() }, page.say("refresh")),
      h("button", { type: "button", class: "print", onClick: () => print() }, page.say("print"))),
    navigation(page));
}

// The groups, and below them the views of the group that is shown.
function navigation(page) {
  const { view } = page.place;
  const group = groupOf(view);
  const { listed } = GROUPS[group] ?? { listed: [] };
  const link = (to, name, current) => h("li", { key: to }, h("a", { href: page.to({ view: to }), "aria-current": current }, page.say(name)));
  return h("nav", { "aria-label": page.say("views") },
    h("ul", null, Object.entries(GROUPS).map(([name, { listed: [first] }]) => link(first, name, name === group ? (first === view ? "page" : "true") : null))),
    listed.length > 1 && h("ul", { class: "within" }, listed.map((each) => link(each, WITHIN[each] ?? each.replaceAll("-", "_"), each === view ? "page" : null))));
}

// What the first view of a group is called below it.
const WITHIN = { receivables: "open_invoices", payables: "open_bills", bank: "bank_waiting", tax: "vat_summary", "bill-payments": "payments" };

function searchForm(page) {
  const sought = (event) => {
    event.preventDefault();
    const find = event.target.elements.find.value.trim();
    if (find) page.go({ view: "search", find });
  };
  return h("form", { role: "search", class: "search", onSubmit: sought },
    h("input", { key: page.place.find, type: "search", name: "find", "aria-label": page.say("search"), placeholder: page.say("search"), defaultValue: page.place.find, maxlength: 255, autocomplete: "off", spellcheck: false }));
}

// Green where every check of the books holds. It says so in words and by its shape, too.
function light(page) {
  const { value, problem } = page.books.read("integrity/");
  const state = problem ? "unknown" : value?.status ?? "checking";
  return h("p", { class: `light ${state}`, role: "status" }, h("a", { href: page.to({ view: "integrity" }) },
    h("span", { "aria-hidden": "true" }, { green: "●", red: "▲" }[state] ?? "○"), " ", page.say(`light.${state}`)));
}

export function controls(page) {
  const { place, say, go } = page;
  if (!OF_A_PERIOD.includes(place.view) || place.of) return null;
  return h("div", { class: "controls", role: "group", "aria-label": say("shown") },
    select(page, "period", PERIODS, (period) => go(period === "own" ? { period, ...page.span } : { period, from: undefined, to: undefined })),
    place.period === "own" && ["from", "to"].map((name) => h("label", { key: name }, say(name),
      h("input", { type: "date", required: true, value: page.span[name], onChange: ({ target }) => target.value && go({ ...page.span, [name]: target.value }) }))),
    OF_A_BASIS.includes(place.view) && h("fieldset", { class: "switch" }, h("legend", { class: "unseen" }, say("basis")), ["accrual", "cash"].map((basis) =>
      h("label", { key: basis }, h("input", { type: "radio", name: "basis", value: basis, checked: place.basis === basis, onChange: () => go({ basis }) }), h("span", null, say(basis))))),
    COMPARED.includes(page.place.view) && select(page, "compare", COMPARISONS, (compare) => go({ compare })));
}

const select = (page, name, words, choose) => h("label", null, h("span", { class: "unseen" }, page.say(name)),
  h("select", { name, onChange: ({ target }) => choose(target.value) }, words.map((word) =>
    h("option", { value: word, selected: page.place[name] === word }, page.say(`${name}.${word}`)))));

// Asks for a token: the first one, or another where this one ends, is not taken any more or opens nothing.
export function tokenForm(page, problem) {
  const { asks, token } = page.books;
  if (token && !asks && !problem) return null;
  const given = (event) => {
    event.preventDefault();
    const { token: field } = event.target.elements;
    if (page.books.open(field.value.trim())) field.value = "";
  };
  return h("form", { class: "token", onSubmit: given, "aria-labelledby": "asked" },
    h("p", { id: "asked", role: asks ? "alert" : null }, page.say(`token.${asks ?? "first"}`)),
    h("label", null, page.say("token"), h("input", { name: "token", type: "password", required: true, autocomplete: "off", spellcheck: false })),
    h("button", { type: "submit" }, page.say("open")));
}

export function footer(page) {
  return h("footer", null,
    h("label", null, page.say("language"), h("select", { name: "language", onChange: ({ target }) => page.go({ language: target.value }) },
      Object.entries(LANGUAGE_NAMES).map(([code, name]) => h("option", { value: code, lang: code, selected: page.language === code }, name)))),
    h("p", null, page.say("read_only")));
}
