// Verification of webhooks, as Standard Webhooks describes.
import type { WebhookMessage, WebhookPing } from "./contract.js";

const TOLERANCE_SECONDS = 300;

/** Headers as fetch has them, or as node:http has them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** A request that is no webhook of this API, or is older than 5 minutes. Answer it with 400. */
export class InvalidWebhook extends Error {
  override readonly name = "InvalidWebhook";
}

/**
 * Verify a request, and return its message; `data` is the event, unless `type` is "ping".
 *
 * `body` is the body as it was received, and `secret` that of the endpoint. Throws InvalidWebhook if no
 * signature matches, or if the request was sent over 5 minutes ago.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookMessage | WebhookPing> {
  const content = Object(await verifiedContent(body, headers, secret));
  const { type, timestamp, data } = content;
  if (typeof type !== "string" || typeof timestamp !== "string" || Object(data) !== data) {
    throw new InvalidWebhook("The body is no message of this API.");
  }
  return content;
}

/** Return the JSON of a body whose signature and time are right; `now` is in milliseconds. */
export async function verifiedContent(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  now: number = Date.now(),
): Promise<unknown> {
  const key = await keyOf(secret);
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures) throw new InvalidWebhook("A header is missing.");
  // A text that is no number is not less than anything.
  const isNow = Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  if (!isNow) throw new InvalidWebhook("The time of the request is over 5 minutes off.");
  const text = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), text);
  for (const each of signatures.split(" ")) {
    const signature = each.startsWith("v1,") ? decoded(each.slice(3)) : undefined;
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) return jsonIn(text);
  }
  throw new InvalidWebhook("No signature matches.");
}

/** Return the key in a secret; throws an Error if the secret is not base64, which is no fault of a request. */
function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = decoded(secret.replace(/^whsec_/, ""));
  if (!bytes?.length) throw new Error("The secret of the webhook endpoint is not right.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function jsonIn(text: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new InvalidWebhook("The body is not JSON.");
  }
}
