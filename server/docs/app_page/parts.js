// What the views are made of. `page` is all that a view may ask and say; main.js makes it.

import { h } from "./vendor/preact.mjs";
import { pathBelow, pathOf, placeOf } from "./places.js";

// A part of a view under its heading.
export function section(title, ...content) {
  return h("section", null, h("h2", null, title), ...content);
}

// Shows an answer once it is there; until then that it is awaited, or why it does not come.
export function answered(page, answer, show) {
  const { value, problem } = answer;
  if (problem) return failed(page, problem);
  return value === undefined ? h("p", { class: "waiting", role: "status" }, page.say("loading")) : show(value);
}

// Says what went wrong, and what to do.
export function saidOf({ say }, { status, message, id }) {
  if (status === 0) return say("no_answer");
  if (status === "elsewhere") return say("elsewhere");
  if (status === 404) return say("gone");
  if (status === 401) return say("token.refused");
  if ([429, 503].includes(status)) return say("busy");
  if (status >= 500) return say("fault", { id });
  return say("refused", { message: message ?? status });
}

export function failed(page, problem) {
  return h("p", { class: "failed", role: "alert" }, saidOf(page, problem), " ",
    h("button", { type: "button", onClick: () => page.books.refresh() }, page.say("try_again")));
}

// A table. A column is {title, cell(row), figure: right-aligned, short: in one line,
// wide: not shown where there is little room}; rows that
// `total` picks are set apart; with many figures it is `dense`. Without rows stands `empty`.
export function table(page, { caption, columns, rows, total, empty, dense }) {
  if (rows.length === 0 && empty) return h("p", { class: "empty" }, empty);
  const kind = ({ figure, short, wide }) => [figure && "figure", short && "short", wide && "wide"].filter(Boolean).join(" ") || null;
  return h("div", { class: "scroll" }, h("table", { class: dense ? "dense" : null },
    h("caption", { class: "unseen" }, caption),
    h("thead", null, h("tr", null, columns.map((column) =>
      h("th", { scope: "col", class: kind(column) }, column.title)))),
    h("tbody", null, rows.map((row) => h("tr", { class: total?.(row) ? "total" : null }, columns.map((column, at) =>
      at === 0 ? h("th", { scope: "row", class: kind(column) }, column.cell(row)) : h("td", { class: kind(column) }, column.cell(row))))))));
}

// What a first cell says below its name where there is no room for a column.
export const beneath = (...text) => h("small", { class: "narrow" }, ...text);

// A name of the server, which may go on in the next line after each word.
export const codeOf = (name) => h("code", null, name.split("_").flatMap((word, at) => (at ? ["_", h("wbr"), word] : [word])));

// What a view or a kind of record is called.
export function sayView(page, view) {
  const name = view.replaceAll("-", "_");
  return page.say(page.knows(name) ? name : `source.${name}`);
}

// A figure that leads to what is behind it; `address` is where the server explains it.
export function explained(page, address, text) {
  const place = address && placeOf(address);
  return place ? h("a", { href: page.to(place) }, text) : text;
}

// Gives the answer for the record that the address names.
export function recordOf(page) {
  const { view, id, in: holder } = page.place;
  if (!id) return { problem: { status: 404 } };
  const { value, ...rest } = page.books.read(pathOf(view, id, holder));
  return { ...rest, value: value?.refund ?? value?.payment ?? value };
}

// Gives the address whose list a view shows; it throws where that is another view's.
export function behind({ place: { view, of } }) {
  if (placeOf(of)?.view !== view) throw new Error(`${view} does not show ${of}`);
  return of;
}

// A link to the view of a record; only its text where there is no record.
export function recordLink(page, view, id, text, holder) {
  const shown = text || sayView(page, view);
  return id ? h("a", { href: page.to({ view, id, in: holder }) }, shown) : shown;
}

export const nameOf = (party) => party.display_name ?? party.name;

// Whose a record is, as a link; nothing where it is nobody's.
export function partyLink(page, { customer, customer_id, customer_name, vendor, vendor_id, vendor_name }) {
  const name = (party, said) => (party ? nameOf(party) : said);
  if (customer_id) return recordLink(page, "customer", customer_id, name(customer, customer_name));
  return vendor_id ? recordLink(page, "vendor", vendor_id, name(vendor, vendor_name)) : undefined;
}

// An account by code and name, which leads to its lines.
export function accountLink(page, { id, code, name }) {
  const of = `${page.books.home}general-ledger/chart-of-accounts/${id}/entries/`;
  return [h("span", { class: "code" }, code), h("a", { href: page.to({ view: "lines", of }) }, name)];
}

// Names of facts with what they are; what is not known is left out.
export function facts(pairs) {
  const known = pairs.filter(([, fact]) => fact !== null && fact !== undefined && fact !== false && fact !== "");
  return h("dl", { class: "facts" }, known.map(([name, fact]) => h("div", null, h("dt", null, name), h("dd", null, fact))));
}

const PAGE_SIZE = 100;

// A list of the API: its head of a `few` on another view, with a link to all of it; in its own view
// a page of it, or the page that the address names.
export function list(page, { path, query, few, view }, show) {
  const { of } = page.place;
  const named = !few && of;
  if (named && pathBelow(of) !== path) throw new Error(`${view} does not show ${of}`);
  const answer = named ? page.books.readAt(longer(of)) : page.books.read(path, { ...query, page_size: few ?? PAGE_SIZE });
  return answered(page, answer, (found) => [show(found), few ? all(page, { path, query, view }, found) : pager(page, found)]);
}

// A list that its view does not show by itself is named by its address.
function all(page, { path, query, view }, { results, page_info: { total_count: count } }) {
  const named = Object.keys(query).some((name) => ["customer_id", "vendor_id", "search", "name_contains"].includes(name));
  const of = named ? `${page.books.home}${path}?${new URLSearchParams(query)}` : undefined;
  return count > (named ? results.length : 0) &&
    h("p", { class: "all" }, h("a", { href: page.to({ view, of }) }, page.say("all", { count: page.formats.count(count) })));
}

// The same list with longer pages, where its address does not say how long they are.
export function longer(address) {
  const { pathname, searchParams } = new URL(address, location.href);
  if (!searchParams.has("page_size")) searchParams.set("page_size", PAGE_SIZE);
  return `${pathname}?${searchParams}`;
}

// What leads to the older and the newer part of a list.
export function pager(page, { previous, next, page_info: info }) {
  if (!previous && !next) return null;
  const link = (address, word) => h("span", null, address && h("a", { href: page.to({ ...page.place, of: address }) }, page.say(word)));
  const { count } = page.formats;
  const at = info && page.say("page_of", { page: count(info.current_page), pages: count(info.total_pages) });
  return h("p", { class: "pager" }, link(previous, "previous_page"), h("span", null, at), link(next, "next_page"));
}
