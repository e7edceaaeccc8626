"""The command line `accounting`: serve, migrate, prove, and fill a demo business."""


def main() -> None:
    """Run it. Every process that a server starts reads our script again, and needs none of this."""
    from cli.main import main as run

    run()
