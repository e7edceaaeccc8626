// The page: reads the address, shows the view that it names, and shows it anew when anything changes.

import { h, render } from "./vendor/preact.mjs";
import { moved, read, written } from "./address.js";
import { Books } from "./books.js";
import { formatsOf, languageOf, localeOf, sayer } from "./formats.js";
import { controls, footer, header, sayView, tokenForm } from "./frame.js";
import { answered, failed } from "./parts.js";
import { spanOf } from "./periods.js";
import { documentView, payables, receivables } from "./views/documents.js";
import { entries, entry, integrity, lines } from "./views/entries.js";
import { overview } from "./views/overview.js";
import { balanceSheet, profitAndLoss } from "./views/statements.js";
import { bank } from "./views/waiting.js";

const SHOWN = {
  "overview": overview,
  "profit-and-loss": profitAndLoss,
  "balance-sheet": balanceSheet,
  receivables, payables, bank, entries, lines, entry, document: documentView, integrity,
};
const FALLBACK_CURRENCY = "EUR"; // Until the books tell theirs, no amount is shown.

const books = new Books(() => show());
const root = document.createElement("div");
let place;
let words;
let language;

// Takes what the address says. A token goes from it at once: nobody is to copy or keep it.
function arrive() {
  const { token, place: named } = read(location.hash);
  if (token !== undefined) history.replaceState(null, "", location.pathname + written(named));
  place = named;
  return token;
}

async function speak() {
  const wanted = languageOf(place.language, navigator.languages);
  if (wanted === language) return;
  words = await (await fetch(new URL(`words/${wanted}.json`, import.meta.url))).json();
  language = wanted;
  document.documentElement.lang = wanted;
}

// Leads from an address of the API to the view that shows what is there.
function placeOf(address) {
  const { pathname, search } = new URL(address, location.href);
  const query = new URLSearchParams(search);
  const of = pathname + search;
  if (pathname.endsWith("/entries/")) return { view: "lines", of };
  if (pathname.includes("/journal-entries/")) return { view: "entry", of };
  if (pathname.endsWith("/reports/profit-and-loss/"))
    return { view: "profit-and-loss", period: "own", from: query.get("start_date"), to: query.get("end_date") };
  if (pathname.endsWith("/invoices/")) return { view: "receivables", of };
  if (pathname.endsWith("/bills/")) return { view: "payables", of };
  return { view: "document", of };
}

function pageOf(business) {
  const locale = localeOf(language, navigator.languages);
  // Today of the business; Sweden writes it as 2026-11-24.
  const today = new Date().toLocaleDateString("sv", { timeZone: business?.timezone });
  return {
    books, place, language, business, placeOf, today,
    say: sayer(words, locale),
    formats: formatsOf(locale, business?.base_currency ?? FALLBACK_CURRENCY),
    span: spanOf(place, today, business?.fiscal_year_end ?? today),
    to: (change) => written(moved(place, change)),
    go: (change) => { location.hash = written(moved(place, change)); },
  };
}

function show() {
  if (!words) return;
  const business = books.business ? books.read("") : {};
  const page = pageOf(business.value);
  document.title = [sayView(page, place.view), business.value?.name].filter(Boolean).join(" · ");
  render(business.value ? whole(page) : opening(page, business), root);
}

function whole(page) {
  return h("div", { class: "page" }, header(page, focusOnView), tokenForm(page),
    h("main", { class: page.place.view }, h("div", { class: "headed" },
      h("h1", { tabIndex: -1 }, sayView(page, page.place.view)), controls(page)),
    shown(page)),
    footer(page));
}

// An address may have been written by anybody, and lead a view to what it does not show.
function shown(page) {
  try {
    return SHOWN[page.place.view](page);
  } catch (error) {
    console.warn(error);
    return failed(page, { message: page.say("nothing_here") });
  }
}

// Before any books are open.
function opening(page, business) {
  return h("div", { class: "page opening" }, h("main", null,
    h("h1", { tabIndex: -1 }, page.say("title")),
    books.business && answered(page, business, () => null),
    tokenForm(page, business.problem)), footer(page));
}

const focusOnView = () => root.querySelector("h1").focus();

async function follow() {
  const before = place;
  const token = arrive();
  if (token !== undefined) books.open(token);
  await speak();
  show();
  if (before.view !== place.view || before.of !== place.of) {
    scrollTo(0, 0);
    root.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    focusOnView();
  }
}

const token = arrive();
document.body.append(root);
addEventListener("hashchange", follow);
await speak();
if (token !== undefined) books.open(token);
show();
