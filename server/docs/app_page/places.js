// The views by the groups that the navigation shows, and the view of what an address of the API names.

// Where the API has each kind of record. A view of a record has its `id`; `in` is the record that holds it.
const RECORDS = {
  "invoice": "invoices/{id}/",
  "payment": "invoices/payments/{id}/",
  "refund": "invoices/refunds/{id}/",
  "refund-payment": "invoices/refunds/{in}/payments/{id}/",
  "customer-credit": "customer-credits/{id}/",
  "customer": "customers/{id}/",
  "bill": "bills/{id}/",
  "bill-payment": "bills/payments/{id}/",
  "vendor-credit": "vendor-credits/{id}/",
  "vendor-refund": "vendor-refunds/{id}/",
  "vendor-refund-payment": "vendor-refunds/payments/{id}/",
  "vendor": "vendors/{id}/",
  "bank-transaction": "bank-transactions/{id}/",
  "payout": "payouts/{id}/",
  "tax-return": "tax-returns/{id}/",
  "entry": "general-ledger/journal-entries/{id}/",
  "opening-balance": "opening-balances/{id}/",
  "revaluation": "revaluations/{id}/",
};

// Each group with the views that it lists, and those that are reached from them.
export const GROUPS = {
  overview: { listed: ["overview"], reached: [] },
  reports: { listed: ["profit-and-loss", "balance-sheet", "cash-flow", "trial-balance"], reached: [] },
  receivables: {
    listed: ["receivables", "invoices", "payments", "customer-credits", "customers"],
    reached: ["invoice", "payment", "refund", "refund-payment", "customer-credit", "customer"],
  },
  payables: {
    listed: ["payables", "bills", "bill-payments", "vendor-credits", "vendors"],
    reached: ["bill", "bill-payment", "vendor-credit", "vendor-refund", "vendor-refund-payment", "vendor"],
  },
  bank: { listed: ["bank", "bank-lines", "payouts"], reached: ["bank-transaction", "payout"] },
  tax: { listed: ["tax", "tax-returns"], reached: ["tax-return", "tax-lines"] },
  entries: { listed: ["entries", "events"], reached: ["entry", "lines", "opening-balance", "revaluation"] },
};
export const VIEWS = [...Object.values(GROUPS).flatMap(({ listed, reached }) => [...listed, ...reached]), "search", "integrity"];

export const isRecord = (view) => Object.hasOwn(RECORDS, view);

// Gives the name of the group that a view belongs to; search and checks belong to none.
export const groupOf = (view) => Object.keys(GROUPS).find((name) => [...GROUPS[name].listed, ...GROUPS[name].reached].includes(view));

// Gives the path of a record below its business.
export const pathOf = (view, id, holder) => RECORDS[view].replace("{id}", id).replace("{in}", holder);

// Gives the path of an address of the API below its business.
export const pathBelow = (address) => address.split("?")[0].split("/").slice(5).join("/");

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const SHOWN = [
  ...Object.entries(RECORDS).map(([view, path]) => [view, path.replace("{id}", `(?<id>${UUID})`).replace("{in}", `(?<in>${UUID})`)]),
  ["lines", `general-ledger/chart-of-accounts/${UUID}/entries/`],
  ["tax-lines", `(?:reports/vat-summary|tax-returns/${UUID})/entries/`],
  ["entries", "general-ledger/journal-entries/"],
  ["events", "events/"],
  ["invoices", "invoices/"],
  ["bills", "bills/"],
].map(([view, path]) => [view, new RegExp(`^/v1/platform/businesses/${UUID}/${path}$`)]);

// Gives the place that shows what an address of the API names, or nothing where no view shows it.
export function placeOf(address) {
  const [path, words] = address.split("?");
  if (path.endsWith("/reports/profit-and-loss/")) {
    const asked = new URLSearchParams(words);
    return { view: "profit-and-loss", period: "own", from: asked.get("start_date"), to: asked.get("end_date") };
  }
  const [view, pattern] = SHOWN.find(([, each]) => each.test(path)) ?? [];
  if (!view) return undefined;
  return isRecord(view) ? { view, ...pattern.exec(path).groups } : { view, of: address };
}
