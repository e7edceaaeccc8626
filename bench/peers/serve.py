"""`python -m bench.peers.serve NAME PORT`: one peer under uvicorn, with our loop and parser."""

import sys
from typing import Any

import uvicorn


def build(name: str) -> Any:
    """Build the peer of that name."""
    if name == "bare":
        from bench.peers.bare import application

        return application
    if name == "connexion":
        from bench.peers.connexion_app import create_app as create_connexion_app

        return create_connexion_app()
    from bench.peers.fastapi_app import create_app

    return create_app()


if __name__ == "__main__":
    uvicorn.run(
        build(sys.argv[1]),
        host="127.0.0.1",
        port=int(sys.argv[2]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
