// The events of the business, the newest first: when which record changed, how, and by whose request.

import { h } from "../vendor/preact.mjs";
import { answered, behind, beneath, codeOf, explained, pager, sayView, table } from "../parts.js";

const FEW = 50;
// Kinds of records that have another word on this page.
const KINDS = { invoice_payment: "payment", invoice_refund: "refund", invoice_refund_payment: "refund_payment", journal_entry: "entry" };

// The last events, or those of an address: the newest sequence tells where the last ones begin.
export function events(page) {
  const { books, place: { of } } = page;
  const show = (answer, after) => answered(page, answer, (found) => [eventTable(page, found), pager(page, around(page, found, after))]);
  if (of) return show(books.readAt(behind(page)), afterOf(of));
  return answered(page, books.read("events/", { page_size: 1 }), ({ head_sequence: head }) => {
    const after = Math.max(0, head - FEW);
    return show(books.read("events/", { after, page_size: FEW }), after);
  });
}

const afterOf = (address) => Number(new URL(address, location.href).searchParams.get("after"));

// The addresses of the newer and the older events. The oldest page has only those that are left.
export function around({ books }, { last_sequence: last, head_sequence: head }, after) {
  const at = (from, size) => `${books.home}events/?${new URLSearchParams({ after: from, page_size: size })}`;
  return {
    previous: last < head && at(last, FEW),
    next: after > 0 && at(Math.max(0, after - FEW), Math.min(FEW, after)),
  };
}

function eventTable(page, { results }) {
  const { say, formats } = page;
  return table(page, {
    caption: say("events"),
    empty: say("no_events"),
    columns: [
      { title: say("when"), cell: (each) => [formats.moment(each.occurred_at), beneath(causer(page, each))] },
      { title: say("what_happened"), cell: (each) => [happened(page, each), beneath(statuses(page, each))] },
      { title: say("record"), cell: (each) => recordIn(page, each) },
      { title: say("status"), wide: true, cell: (each) => statuses(page, each) },
      { title: say("by"), wide: true, cell: (each) => [causer(page, each), each.cause.operation && h("small", { class: "under" }, codeOf(each.cause.operation))] },
    ],
    rows: results.toReversed(),
  });
}

// The names of the words of a type: of the kind of record, and of what became of it.
export function partsOf(page, type) {
  const [kind, word] = type.split(".");
  return { kind: KINDS[kind] ?? kind, word: [`event.${word}`, `status.${word}`, word].find(page.knows) };
}

const happened = (page, { type, counts }) =>
  [page.say(partsOf(page, type).word ?? type), counts && ` ${page.formats.count(counts.imported)}`];

function recordIn(page, { type, object }) {
  const text = [sayView(page, partsOf(page, type).kind), object.external_id].filter(Boolean).join(" ");
  return explained(page, object.url, text);
}

function statuses({ say }, { previous_status: before, status }) {
  const known = [before, status].filter(Boolean).map((each) => say(`status.${each.toLowerCase()}`));
  return [...new Set(known)].join(" → ");
}

// Whose credentials the request had; without an operation it was the calendar, or the operator.
function causer({ say }, { cause: { actor: { kind, key_id: id } } }) {
  if (id) return say("by_key", { id });
  return say(kind.endsWith("_token") ? "token" : "by_operator");
}
