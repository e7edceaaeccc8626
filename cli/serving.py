"""What `accounting serve` becomes: a process without what has read its command line.

That holds 9 MB (typer, and pydantic below it), and a server runs for months.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn


def become_server(**options: Any) -> NoReturn:
    """Put the server in the place of this process, with these arguments of `settings.load`."""
    told = json.dumps(options, default=str)
    os.environ["PYTHONSAFEPATH"] = "1"  # Else the current folder comes before what is installed.
    os.execv(sys.executable, [sys.executable, "-m", __name__, told])


def main() -> None:
    """Be the server; what an operator can mend is told as by every command."""
    from server import settings
    from server.process.serving import serve

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
