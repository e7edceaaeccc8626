// Lines of the bank that nobody has told yet what they are.

import { h } from "../vendor/preact.mjs";
import { answered, beneath, table } from "../parts.js";
import { all } from "./documents.js";

export const bank = (page) => [h("p", { class: "when" }, page.say("bank_waiting")), bankLines(page)];

export function bankLines(page, few) {
  const asked = { is_reconciled: false, page_size: few ?? 100 };
  return answered(page, page.books.read("bank-transactions/", asked), (list) => [
    lineTable(page, list), few && all(page, "bank", list),
  ]);
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
