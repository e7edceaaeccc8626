"""The command line `accounting`: serve, migrate, check books, and fill a demo business."""


def main() -> None:
    """Run the command line.

    The import is inside the function: each process that a server starts imports this script again
    and does not need it.
    """
    from cli.main import main as run

    run()
