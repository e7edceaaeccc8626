"""A collector of traces: a server on loopback that receives OTLP over HTTP and keeps the spans."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Collector:
    """A server that keeps each span with the attributes of its sender."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(self.path, body)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def take(self, path: str, body: bytes) -> None:
        """Store the spans of a request."""
        assert path == "/v1/traces"
        sent = ExportTraceServiceRequest.FromString(body)
        for resource in sent.resource_spans:
            self.resources.append(attributes_of(resource.resource))
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def trace(self, trace_id: str) -> list[Any]:
        """Return the spans of a trace, ordered by their beginnings."""
        found = [span for span in self.spans if span.trace_id.hex() == trace_id]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


def attributes_of(told: Any) -> dict[str, Any]:
    """Return the attributes of a span or a resource."""
    return {
        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
        for each in told.attributes
    }
