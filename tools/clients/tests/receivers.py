"""The document of webhooks in generators: both make types of what a receiver gets."""

import shutil
from pathlib import Path
from typing import Final

from tools.clients.tests.generators import GENERATED, NODE, TypeScriptClient, run

FOR_RECEIVERS: Final = Path("dist/profiles/accounting.events.yaml")
FOLDER: Final = GENERATED / "receivers"
TYPESCRIPT: Final = """\
import type { WebhookPing, webhooks } from "./events.js";

type Body<Name extends keyof webhooks> =
  webhooks[Name]["post"]["requestBody"]["content"]["application/json"];

export function told(message: Body<"event"> | Body<"ping">): string {
  if (message.type === "ping") return (message satisfies WebhookPing).timestamp;
  if (message.type === "invoice.paid") return message.data.object.id;
  const sequence: number = message.data.sequence;
  return `${message.data.status ?? "none"} ${sequence}`;
}
"""
PYTHON: Final = """\
from uuid import UUID

from accounting_events.models import Event, WebhookMessage


def told(content: dict[str, object]) -> tuple[UUID, int, str]:
    event: Event = WebhookMessage.from_dict(content).data
    return event.object_.id, event.sequence, event.type_
"""


def hold(programs: Path) -> int:
    """Generate types from the document and compile code with them; return how many generators.

    Raises ClientError where one fails, or has no types of an event.
    """
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    hold_typescript()
    hold_python(programs)
    return 2


def hold_typescript() -> None:
    """Generate with openapi-typescript."""
    types = ("--root-types", "--root-types-no-schema-prefix", "-o", FOLDER / "events.ts")
    run(NODE / "openapi-typescript", FOR_RECEIVERS, *types)
    source = FOLDER / "told.mts"
    source.write_text(TYPESCRIPT, encoding="utf-8")
    TypeScriptClient.compile(source)


def hold_python(programs: Path) -> None:
    """Generate with openapi-python-client, with the settings of the SDK."""
    settings = ("--meta", "none", "--fail-on-warning")
    settings += ("--config", "tools/clients/python/generator.yaml")
    words = ("openapi-python-client", "generate", "--path", FOR_RECEIVERS, *settings)
    run(*words, "--output-path", FOLDER / "accounting_events", path=programs)
    source = FOLDER / "told.py"
    source.write_text(PYTHON, encoding="utf-8")
    run(programs / "mypy", "--config-file=", "--strict", source, modules=FOLDER)
