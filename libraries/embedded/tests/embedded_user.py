"""A process that uses the server below a folder until it is killed or told to stop.

Usage: embedded_user.py HOME [durable]. It prints one line of JSON once the server answers.
"""

import json
import os
import sys
from pathlib import Path

from libraries.embedded import places, wire
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS

if __name__ == "__main__":
    postgres = EmbeddedPostgres(Path(sys.argv[1]), {} if "durable" in sys.argv else TEST_SETTINGS)
    postgres.start()
    postgres.create_database()
    server = wire.listener_pid(places.socket_path(postgres.home))
    report = {"server": server, "url": postgres.url(), "user": os.geteuid()}
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
