"""Start-up and shutdown of an ASGI application inside this process, without a server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

Application = Callable[[Any, Any, Any], Awaitable[None]]


@asynccontextmanager
async def started(application: Application) -> AsyncIterator[None]:
    """Start an ASGI application and stop it afterwards; raises what its start-up raises."""
    to_application: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    from_application: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
    life = asyncio.ensure_future(application(scope, to_application.get, from_application.put))
    await to_application.put({"type": "lifespan.startup"})
    answer = asyncio.ensure_future(from_application.get())
    await asyncio.wait({life, answer}, return_when=asyncio.FIRST_COMPLETED)
    if life.done() or answer.result()["type"] != "lifespan.startup.complete":
        answer.cancel()
        await life
        raise RuntimeError("the application did not start")
    try:
        yield
    finally:
        await to_application.put({"type": "lifespan.shutdown"})
        await life
