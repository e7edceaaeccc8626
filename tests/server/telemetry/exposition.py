"""The numbers of /metrics by name and labels."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Metric, generate_latest, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.parser import text_string_to_metric_families

from server.telemetry.metrics import PrometheusCounts

Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


@contextmanager
def counted_in(folder: Path) -> Iterator[PrometheusCounts]:
    """Count in a folder during a block, in multiprocess mode."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
        patch.setattr(values, "ValueClass", values.MultiProcessValue())  # type: ignore[no-untyped-call]
        yield PrometheusCounts()


def samples_of(text: str) -> Samples:
    """Parse the exposed text: `{"accounting_workers": {(): 2.0}}`."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def exposed(collector: Any) -> Samples:
    """Return the samples of a collector, through the text of a scrape."""
    registry = CollectorRegistry()
    registry.register(collector)
    return samples_of(generate_latest(registry).decode())


def total(samples: Samples, name: str, **labels: str) -> float:
    """Return the sum of the samples of a name that have these labels."""
    wanted = set(labels.items())
    return sum(value for told, value in samples.get(name, {}).items() if wanted <= set(told))


def counted_by_each(folder: Path, operation: str) -> list[float]:
    """Return how often each worker has answered an operation, read from its own file.

    `folder` is the TMPDIR of the server.
    """
    found = []
    for file in sorted(folder.glob("accounting-metrics-*/counter_*.db")):
        told = MmapedDict.read_all_values_from_file(str(file))
        found.append(sum(value for key, value, *_ in told if f'"{operation}"' in key))
    return found


def names_of(metrics: Iterable[Metric]) -> set[str]:
    """Return the name of every sample that the metrics have."""
    return {sample.name for metric in metrics for sample in metric.samples}
