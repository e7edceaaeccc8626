// What is looked at stands behind the # of the address, so that it can be gone back to and kept.
// A token that comes there is never left there.

import { PERIODS } from "./periods.js";
import { VIEWS } from "./places.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const ID = /^[0-9a-f-]{36}$/;
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
  id: (word) => ID.test(word),
  in: (word) => ID.test(word),
  find: (word) => word.trim() !== "" && word.length <= 255,
};
// What stays when another view is opened, and what names the object of a view.
const KEPT = ["period", "from", "to", "basis", "compare", "language"];
const OBJECT = ["of", "id", "in", "find"];

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
  const names = "view" in change ? KEPT : [...KEPT, ...OBJECT];
  const kept = names.filter((name) => name in place).map((name) => [name, place[name]]);
  return { ...Object.fromEntries(kept), view: place.view, ...change };
}
