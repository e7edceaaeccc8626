"""The files for operators: the rules of alerts, and the dashboard."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

OPS = Path(__file__).parents[2] / "docs" / "ops"
RULES = OPS / "alerts.yml"
DASHBOARD = OPS / "dashboard.json"
NAME = re.compile(r"\baccounting_\w+")


def alerts() -> list[dict[str, Any]]:
    """Return every alert."""
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries() -> list[tuple[str, str]]:
    """Return every query of the dashboard for all servers, with the title of its panel."""
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return [
        (
            panel["title"],
            target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m"),
        )
        for panel in panels
        for target in panel.get("targets", [])
    ]
