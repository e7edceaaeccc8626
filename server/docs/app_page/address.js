// What is looked at stands behind the # of the address, so that it can be gone back to and kept.
// A token that comes there is never left there.

import { PERIODS } from "./periods.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
export const VIEWS = [
  "overview", "profit-and-loss", "balance-sheet", "receivables", "payables", "bank", "entries",
  "lines", "entry", "document", "integrity",
];
export const COMPARISONS = ["none", "previous_period", "previous_year"];
export const START = { view: "overview", period: "twelve-months", basis: "accrual", compare: "none" };

// What a word of the address may be; anything else is as if it were not there.
const TAKEN = {
  view: (word) => VIEWS.includes(word),
  period: (word) => PERIODS.includes(word),
  from: (word) => DAY.test(word),
  to: (word) => DAY.test(word),
  basis: (word) => ["accrual", "cash"].includes(word),
  compare: (word) => COMPARISONS.includes(word),
  language: (word) => /^[a-z]{2}$/.test(word),
  of: (word) => word.startsWith("/v1/platform/businesses/"),
};
// What stays when another view is opened.
const KEPT = ["period", "from", "to", "basis", "compare", "language"];

// Reads the part of an address behind its #: {token, place}.
export function read(hash) {
  const given = new URLSearchParams(hash.slice(1));
  const known = [...given].filter(([name, word]) => Object.hasOwn(TAKEN, name) && TAKEN[name](word));
  return { token: given.get("token")?.trim() || undefined, place: { ...START, ...Object.fromEntries(known) } };
}

// Writes a place as such a part; what every place starts with is left out.
export function written(place) {
  const said = Object.entries(place).filter(([name, word]) => (word ?? undefined) !== undefined && word !== START[name]);
  return `#${new URLSearchParams(said)}`;
}

// Gives the place that a change leads to from another one.
export function moved(place, change) {
  const kept = KEPT.filter((name) => name in place).map((name) => [name, place[name]]);
  return { ...Object.fromEntries(kept), view: place.view, ...("view" in change ? {} : { of: place.of }), ...change };
}
