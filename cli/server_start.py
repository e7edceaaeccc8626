"""The server process of `accounting serve`, which replaces the process of the command line.

The command line holds 9 MB of memory (typer, and pydantic below it), and a server runs for months.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn


def become_server(**options: Any) -> NoReturn:
    """Replace this process with the server; `options` are the arguments of `settings.load`."""
    told = json.dumps(options, default=str)
    os.environ["PYTHONSAFEPATH"] = "1"  # Otherwise the current folder shadows installed modules.
    os.execv(sys.executable, [sys.executable, "-m", __name__, told])


def main() -> None:
    """Run the server; errors that an operator can fix are printed as by every command."""
    from server.config import settings
    from server.process.startup import serve

    options = json.loads(sys.argv[1])
    for file in ("tls_cert", "tls_key"):
        options[file] = None if options[file] is None else Path(options[file])
    try:
        serve(settings.load(**options))
    except Exception as error:
        from cli.failures import end_with

        end_with(error)


if __name__ == "__main__":
    main()
