// What stands around every view: whose books, whether they hold, where to go, which period and basis.

import { h } from "./vendor/preact.mjs";
import { COMPARISONS } from "./address.js";
import { LANGUAGE_NAMES } from "./formats.js";
import { PERIODS } from "./periods.js";

const NAVIGATION = ["overview", "profit-and-loss", "balance-sheet", "receivables", "payables", "bank", "entries"];
// Which views are of a period and a basis, and which are held against another one, too.
const OF_A_PERIOD = ["overview", "profit-and-loss", "balance-sheet"];
const COMPARED = ["profit-and-loss", "balance-sheet"];

export const sayView = (page, view) => page.say(view.replaceAll("-", "_"));

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
      h("button", { type: "button", onClick: () => page.books.refresh() }, page.say("refresh")),
      h("button", { type: "button", class: "print", onClick: () => print() }, page.say("print"))),
    h("nav", { "aria-label": page.say("views") }, h("ul", null, NAVIGATION.map((view) =>
      h("li", null, h("a", { href: page.to({ view }), "aria-current": page.place.view === view ? "page" : null }, sayView(page, view)))))));
}

// Green where every check of the books holds. It says so in words and by its shape, too.
function light(page) {
  const { value, problem } = page.books.read("integrity/");
  const state = problem ? "unknown" : value?.status ?? "checking";
  return h("p", { class: `light ${state}`, role: "status" }, h("a", { href: page.to({ view: "integrity" }) },
    h("span", { "aria-hidden": "true" }, { green: "●", red: "▲" }[state] ?? "○"), " ", page.say(`light.${state}`)));
}

export function controls(page) {
  if (!OF_A_PERIOD.includes(page.place.view)) return null;
  const { place, say, go } = page;
  return h("div", { class: "controls", role: "group", "aria-label": say("shown") },
    select(page, "period", PERIODS, (period) => go(period === "own" ? { period, ...page.span } : { period, from: undefined, to: undefined })),
    place.period === "own" && ["from", "to"].map((name) => h("label", { key: name }, say(name),
      h("input", { type: "date", required: true, value: page.span[name], onChange: ({ target }) => target.value && go({ ...page.span, [name]: target.value }) }))),
    h("fieldset", { class: "switch" }, h("legend", { class: "unseen" }, say("basis")), ["accrual", "cash"].map((basis) =>
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
