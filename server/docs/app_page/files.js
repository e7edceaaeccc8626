// Files that the server makes or keeps: asked for with the token, and given to the browser to save.

import { h } from "./vendor/preact.mjs";
import { saidOf } from "./parts.js";

const TYPES = { CSV: "text/csv", PDF: "application/pdf" };

// Buttons that save a report or a record as files: {kind: address}, a kind being CSV or PDF.
export function saving(page, addresses) {
  const { books } = page;
  return h("p", { class: "saving" }, Object.entries(addresses).map(([kind, address]) =>
    button(page, `${kind} ${address}`, kind, page.say("save_as", { kind }), () => books.file(address, TYPES[kind]))));
}

// A file that somebody attached. Its address is good for minutes, so the record is read anew.
export function attached(page, address, { file_name: name, document_id: id }) {
  const { books } = page;
  const renewed = async () => {
    const { document, documents } = await books.now(address);
    return { address: (documents?.find((each) => each.document_id === id) ?? document).url, name };
  };
  return button(page, id, name, page.say("save_file", { name }), renewed);
}

function button(page, key, text, title, get) {
  const { books } = page;
  const state = books.saved.get(key);
  return [
    h("button", { type: "button", class: "save", title, "aria-label": title, disabled: state === "asked", onClick: () => save(books, key, get) }, text),
    state?.problem && h("span", { class: "failed", role: "alert" }, ` ${saidOf(page, state.problem)}`),
  ];
}

async function save(books, key, get) {
  books.save(key, "asked");
  try {
    const { address, name } = await get();
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), 60_000);
    books.save(key, undefined);
  } catch (error) {
    books.save(key, { problem: error.problem ?? { status: 0 } });
  }
}
