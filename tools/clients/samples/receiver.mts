// A receiver of webhooks: `node receiver.mjs PORT FILE`, with WEBHOOK_SECRET in the environment.
//
// It verifies each request and appends its event to FILE, a JSON text on each line. Only then it answers, and a
// repeated event is kept once. A program that handles the events reads FILE.
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { InvalidWebhook, type models, verifyWebhook } from "accounting-sdk";

const MOST_BYTES = 1_000_000;
const [port = "0", file = "events"] = process.argv.slice(2);
const secret = process.env.WEBHOOK_SECRET ?? "";

// A crash or a full disk can cut off a line. Its event was not answered, so it is sent again: the next event is
// written behind the last whole line, which ends at `end`.
const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
let end = content.lastIndexOf("\n") + 1;
const lines = content.subarray(0, end).toString().split("\n").filter(Boolean);
const ids = new Set(lines.map((line) => JSON.parse(line).id));

/** Append an event behind the last whole line, unless it is there already. */
function keep(event: models.Event): void {
  if (ids.has(event.id)) return;
  const line = Buffer.from(`${JSON.stringify(event)}\n`);
  const opened = openSync(file, "a");
  try {
    ftruncateSync(opened, end);
    writeFileSync(opened, line);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  end += line.length;
  ids.add(event.id);
}

/** A body of more than MOST_BYTES. */
class TooLarge extends Error {}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new TooLarge("The body is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  try {
    const message = await verifyWebhook(await bodyOf(request), request.headers, secret);
    if (message.type !== "ping") keep(message.data);
    response.writeHead(204).end();
  } catch (error) {
    const status = error instanceof TooLarge ? 413 : error instanceof InvalidWebhook ? 400 : 500;
    response.writeHead(status, { Connection: "close" }).end(String(error));
  }
});
server.listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
