"""A receiver of webhooks: `python receiver.py PORT FILE`, with WEBHOOK_SECRET in the environment.

It verifies each request and appends its event to FILE, a JSON text on each line. Only then it
answers, and a repeated event is kept once. A program that handles the events reads FILE.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from accounting_sdk import InvalidWebhook, models, verify_webhook

MOST_BYTES = 1_000_000


class Inbox:
    """The received events, in a file, of which the first `end` bytes are whole lines.

    A crash or a full disk can cut off a line. Its event was not answered, so it is sent again.
    """

    def __init__(self, path: Path) -> None:
        self.lock = Lock()
        self.path = path
        path.touch()
        content = path.read_bytes()
        self.end = content.rfind(b"\n") + 1
        self.ids = {json.loads(line)["id"] for line in content[: self.end].splitlines()}

    def keep(self, event: models.Event) -> None:
        """Append an event behind the last whole line, unless it is there already."""
        line = json.dumps(event.to_dict()).encode() + b"\n"
        with self.lock:
            if str(event.id) in self.ids:
                return
            with self.path.open("ab") as file:
                file.truncate(self.end)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            self.end += len(line)
            self.ids.add(str(event.id))


class Receiver(BaseHTTPRequestHandler):
    """A handler of the requests to the endpoint."""

    inbox: Inbox
    secret: str
    timeout = 15  # Seconds to wait for a part of a request.

    def do_POST(self) -> None:
        """Answer 204 once the event is kept, 400 if the request is no webhook, 413 for too much."""
        try:
            length = int(self.headers.get("Content-Length", 0))
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BYTES:
            self.send_error(400 if length < 0 else 413)
            return
        body = self.rfile.read(length)
        try:
            message = verify_webhook(body, dict(self.headers), self.secret)
        except InvalidWebhook as error:
            self.send_error(400, str(error))
            return
        if isinstance(message, models.WebhookMessage):
            self.inbox.keep(message.data)
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    port, file = sys.argv[1:]
    Receiver.inbox = Inbox(Path(file))
    Receiver.secret = os.environ["WEBHOOK_SECRET"]
    with ThreadingHTTPServer(("127.0.0.1", int(port)), Receiver) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
