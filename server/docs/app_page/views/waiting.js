// Lines of the bank that nobody has told yet what they are.

import { h } from "../vendor/preact.mjs";
import { beneath, list, table } from "../parts.js";

export const bank = (page) => [h("p", { class: "when" }, page.say("bank_waiting")), bankLines(page)];

export function bankLines(page, few) {
  const asked = { path: "bank-transactions/", query: { is_reconciled: false }, few, view: "bank" };
  return list(page, asked, (found) => lineTable(page, found));
}

function lineTable(page, { results }) {
  return table(page, {
    caption: page.say("bank_waiting"),
    empty: page.say("nothing_waits"),
    columns: [
      { title: page.say("date"), short: true, cell: (line) => page.formats.day(line.date) },
      { title: page.say("description"), cell: (line) => [line.description ?? line.counterparty_name, beneath(line.bank_account_name)] },
      { title: page.say("bank_account"), wide: true, cell: (line) => line.bank_account_name },
      { title: page.say("remaining"), figure: true, cell: (line) =>
        page.formats.amount(line.direction === "credit" ? line.remaining_amount_cents : -line.remaining_amount_cents) },
    ],
    rows: results,
  });
}
