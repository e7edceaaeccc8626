// What the views are made of. `page` is all that a view may ask and say; main.js makes it.

import { h } from "./vendor/preact.mjs";

// A part of a view under its heading; `more` leads to all of it.
export function section(title, ...content) {
  return h("section", null, h("h2", null, title), ...content);
}

// Shows an answer once it is there; until then that it is awaited, or why it does not come.
export function answered(page, answer, show) {
  const { value, problem } = answer;
  if (problem) return failed(page, problem);
  return value === undefined ? h("p", { class: "waiting", role: "status" }, page.say("loading")) : show(value);
}

export function failed(page, { status, message, id }) {
  const told = status === 0 ? page.say("no_answer") : page.say("refused", { message: message ?? status });
  return h("p", { class: "failed", role: "alert" }, told, id && h("small", null, ` ${id}`), " ",
    h("button", { type: "button", onClick: () => page.books.refresh() }, page.say("try_again")));
}

// A table. A column is {title, cell(row), figure: right-aligned, short: in one line,
// wide: not shown where there is little room}; rows that
// `total` picks are set apart. Without rows stands `empty`.
export function table(page, { caption, columns, rows, total, empty }) {
  if (rows.length === 0 && empty) return h("p", { class: "empty" }, empty);
  const kind = ({ figure, short, wide }) => [figure && "figure", short && "short", wide && "wide"].filter(Boolean).join(" ") || null;
  return h("div", { class: "scroll" }, h("table", null,
    h("caption", { class: "unseen" }, caption),
    h("thead", null, h("tr", null, columns.map((column) =>
      h("th", { scope: "col", class: kind(column) }, column.title)))),
    h("tbody", null, rows.map((row) => h("tr", { class: total?.(row) ? "total" : null }, columns.map((column, at) =>
      at === 0 ? h("th", { scope: "row", class: kind(column) }, column.cell(row)) : h("td", { class: kind(column) }, column.cell(row))))))));
}

// What a first cell says below its name where there is no room for a column.
export const beneath = (text) => h("small", { class: "narrow" }, text);

// A figure that leads to what is behind it; `address` is where the server explains it.
export function explained(page, address, text) {
  return address ? h("a", { href: page.to(page.placeOf(address)) }, text) : text;
}

// Names of facts with what they are; what is not known is left out.
export function facts(pairs) {
  const known = pairs.filter(([, fact]) => fact !== null && fact !== undefined && fact !== "");
  return h("dl", { class: "facts" }, known.map(([name, fact]) => h("div", null, h("dt", null, name), h("dd", null, fact))));
}

const PAGE_SIZE = 100;

// A list of the API: its head of a `few` on the overview, which leads to the view of all of it; there
// a page of it, or the page that the address names.
export function list(page, { path, query, few, view }, show) {
  const { of } = page.place;
  const named = !few && of;
  const answer = named ? page.books.readAt(longer(of)) : page.books.read(path, { ...query, page_size: few ?? PAGE_SIZE });
  return answered(page, answer, (found) => [show(found), few ? all(page, view, found) : pager(page, found)]);
}

const all = (page, view, { page_info: { total_count: count } }) =>
  count > 0 && h("p", { class: "all" }, h("a", { href: page.to({ view }) }, page.say("all", { count: page.formats.count(count) })));

// The same list with longer pages, where its address does not say how long they are.
export function longer(address) {
  const { pathname, searchParams } = new URL(address, location.href);
  if (!searchParams.has("page_size")) searchParams.set("page_size", PAGE_SIZE);
  return `${pathname}?${searchParams}`;
}

// What leads to the older and the newer part of a list.
export function pager(page, { previous, next }) {
  if (!previous && !next) return null;
  const link = (address, word) => address && h("a", { href: page.to({ ...page.place, of: address }) }, page.say(word));
  return h("p", { class: "pager" }, link(previous, "previous_page"), link(next, "next_page"));
}

export const nameOf = (party) => party.display_name ?? party.name;
