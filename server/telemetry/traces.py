"""Traces by OpenTelemetry: a span for each package that a request passes through.

The span of the whole request is below the one that the caller's `traceparent` names. In it are
`security`, `validation`, `handlers`, `persistence` (one for each run of a writing) and `sql` (one
for each round trip, with the texts of its statements and no values). Target and sampling are
settings of OpenTelemetry, which its library reads itself.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from persistence.engine.sql import Query
from server.telemetry.request_watch import Lines, shape_of

CLOSING_SECONDS: Final = 3.0
"""Seconds that an ending worker waits for its last spans to be sent."""

_PARENT: Final = TraceContextTextMapPropagator()


class SentTraces:
    """The traces of one worker, sent in batches by a thread of the library."""

    def __init__(self) -> None:
        ours = {"service.name": "accounting", "service.version": version("accounting-platform")}
        told = OTELResourceDetector().detect()
        self._provider = TracerProvider(resource=Resource(ours).merge(told))
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("accounting")

    def begin(self, request_id: str, lines: Lines) -> "SentTrace":
        """Begin the trace of a request."""
        given = {
            name.decode(): value.decode("latin-1")
            for name, value in lines
            if name in (b"traceparent", b"tracestate")
        }
        span = self._tracer.start_span(
            "request",
            context=_PARENT.extract(given),
            kind=SpanKind.SERVER,
            attributes={"accounting.request_id": request_id},
        )
        return SentTrace(self._tracer, span)

    def close(self) -> None:
        """Send the remaining spans; wait `CLOSING_SECONDS` for the collector at most."""
        sending = Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(CLOSING_SECONDS)


class SentTrace:
    """The spans of one request; a new span is a child of the last open one."""

    __slots__ = ("_open", "_tracer")

    def __init__(self, tracer: Tracer, whole: Span) -> None:
        self._tracer = tracer
        self._open = [whole]

    @contextmanager
    def in_package(self, name: str) -> Iterator[None]:
        """Open a span for a block."""
        span = self._tracer.start_span(name, context=set_span_in_context(self._open[-1]))
        self._open.append(span)
        try:
            yield
        finally:
            self._open.remove(span)
            span.end()

    def asked(self, queries: Sequence[Query], seconds: float) -> None:
        """Add the span of a round trip that has just ended."""
        now = time.time_ns()
        span = self._tracer.start_span(
            "sql",
            context=set_span_in_context(self._open[-1]),
            kind=SpanKind.CLIENT,
            start_time=now - int(seconds * 1e9),
            attributes={
                "db.system.name": "postgresql",
                "db.operation.batch.size": len(queries),
                "db.query.text": ";\n".join(shape_of(query) for query in queries),
            },
        )
        span.end(now)

    def end(self, operation: str, status: int, facts: Mapping[str, Any]) -> None:
        """End the span of the whole request, under the name of its operation."""
        whole = self._open[0]
        whole.update_name(operation)
        whole.set_attribute("http.response.status_code", status)
        for name, fact in facts.items():
            whole.set_attribute(f"accounting.{name}", fact)
        if status >= 500:
            whole.set_status(StatusCode.ERROR)
        whole.end()
