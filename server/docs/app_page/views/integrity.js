// Whether the books hold: each check as a sentence, those that fail first.

import { h } from "../vendor/preact.mjs";
import { answered, codeOf, table } from "../parts.js";

export function integrity(page) {
  const { say, formats } = page;
  return answered(page, page.books.read("integrity/"), ({ status, checks, newest_seal: seal }) => {
    const failing = checks.filter((each) => !each.ok).length;
    const records = checks.reduce((sum, each) => sum + each.checked, 0);
    return [
      h("p", { class: `verdict ${status}` }, say(failing > 0 ? "checks.fail" : "checks.hold", { count: formats.count(failing > 0 ? failing : checks.length), records: formats.count(records) })),
      failing > 0 && h("p", null, say("checks.what_to_do")),
      table(page, {
        caption: say("checks"),
        columns: [
          { title: say("check"), cell: (each) => [sentence(page, each.name), !each.ok && offender(page, each)] },
          { title: say("checked"), figure: true, wide: true, cell: (each) => formats.count(each.checked) },
          { title: say("result"), cell: (each) => h("span", { class: each.ok ? "holds" : "late" }, say(each.ok ? "holds" : "fails")) },
        ],
        rows: checks,
      }),
      seal && h("p", { class: "note" }, say("checks.seal", { number: formats.count(seal.number), day: formats.day(seal.created_at), records: formats.count(seal.record_count) })),
    ];
  });
}

// A newer server may have a check that this page has no sentence for.
const sentence = (page, name) => (page.knows(`check.${name}`) ? page.say(`check.${name}`) : name.replaceAll("_", " "));

const offender = (page, { name, first_offender: first }) =>
  h("small", { class: "under" }, page.say("first_offender", { first }), " ", codeOf(name));
