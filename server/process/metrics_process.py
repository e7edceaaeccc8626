"""The process that answers scrapes of Prometheus."""


def answer(*told: object) -> None:
    """Answer scrapes in that process; only it imports the module, not the master."""
    from server.telemetry.metrics_endpoint import answer_scrapes

    answer_scrapes(*told)  # type: ignore[arg-type]
