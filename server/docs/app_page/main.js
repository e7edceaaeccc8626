// The page: reads the address, shows the view that it names, and shows it anew when anything changes.

import { h, render } from "./vendor/preact.mjs";
import { moved, read, written } from "./address.js";
import { Books } from "./books.js";
import { formatsOf, languageOf, localeOf, sayer } from "./formats.js";
import { controls, footer, header, tokenForm } from "./frame.js";
import { answered, failed, recordOf, sayView } from "./parts.js";
import { spanOf } from "./periods.js";
import { isRecord } from "./places.js";
import { payables, receivables } from "./views/documents.js";
import { entries, entry, lines } from "./views/entries.js";
import { events } from "./views/events.js";
import { integrity } from "./views/integrity.js";
import { listView, search } from "./views/lists.js";
import { overview } from "./views/overview.js";
import { party } from "./views/parties.js";
import { recordView, titleOf } from "./views/records.js";
import { balanceSheet, cashFlow, profitAndLoss, trialBalance } from "./views/statements.js";
import { tax, taxLines, taxReturn } from "./views/tax.js";

const LISTED = [
  "invoices", "bills", "payments", "bill-payments", "customer-credits", "vendor-credits", "customers", "vendors",
  "bank", "bank-lines", "payouts", "tax-returns",
];
// The views by name; each other record is shown as all records are.
const SHOWN = {
  "overview": overview,
  "profit-and-loss": profitAndLoss,
  "balance-sheet": balanceSheet,
  "cash-flow": cashFlow,
  "trial-balance": trialBalance,
  ...Object.fromEntries(LISTED.map((view) => [view, listView(view)])),
  receivables, payables, tax, "tax-lines": taxLines, "tax-return": taxReturn, customer: party, vendor: party,
  entries, lines, entry, events, search, integrity,
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

function pageOf(business) {
  const locale = localeOf(language, navigator.languages);
  // Today of the business; Sweden writes it as 2026-11-24.
  const today = new Date().toLocaleDateString("sv", { timeZone: business?.timezone });
  return {
    books, place, language, business, today,
    say: sayer(words, locale),
    knows: (name) => Object.hasOwn(words, name),
    formats: formatsOf(locale, business?.base_currency ?? FALLBACK_CURRENCY, business?.timezone),
    span: spanOf(place, today, business?.fiscal_year_end ?? today),
    to: (change) => written(moved(place, change)),
    go: (change) => { location.hash = written(moved(place, change)); },
  };
}

function show() {
  if (!words) return;
  books.seen.clear();
  const business = books.business ? books.read("") : {};
  const page = pageOf(business.value);
  const title = business.value ? titled(page) : [sayView(page, place.view)];
  document.title = [title.filter(Boolean).join(" "), business.value?.name].filter(Boolean).join(" · ");
  render(business.value ? whole(page, title) : opening(page, business), root);
}

// What a view is called: a record by its kind and its number or name, once it is there.
function titled(page) {
  const { view } = page.place;
  const found = isRecord(view) && recordOf(page).value;
  return [sayView(page, view), found && titleOf(page, found)];
}

function whole(page, [kind, name]) {
  return h("div", { class: "page" }, header(page, focusOnView), tokenForm(page),
    h("main", { class: page.place.view }, h("div", { class: "headed" },
      h("h1", { tabIndex: -1 }, name ? [h("span", null, kind), " ", name] : kind), controls(page)),
    shown(page)),
    footer(page));
}

// An address may have been written by anybody, and lead a view to what it does not show.
function shown(page) {
  try {
    return (SHOWN[page.place.view] ?? recordView)(page);
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
  if (["view", "of", "id", "find"].some((name) => before[name] !== place[name])) {
    scrollTo(0, 0);
    root.querySelectorAll("nav [aria-current]").forEach((each) => each.scrollIntoView({ block: "nearest", inline: "nearest" }));
    focusOnView();
  }
}

const token = arrive();
document.body.append(root);
addEventListener("hashchange", follow);
await speak();
if (token !== undefined) books.open(token);
show();
