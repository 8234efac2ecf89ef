"""Entry: the command line, and the object that `mcp run` and `mcp dev` look for in this file.

Absolute imports, because those two load the file by path; `mcp` is made on demand, so that the
command line never imports the SDK.
"""

import sys
from typing import Any


def main() -> None:
    """Run the command line and exit with its status."""
    from perfcite.server.commandline import run

    sys.exit(run(sys.argv[1:]))


def __getattr__(name: str) -> Any:
    if name in ("mcp", "server", "app"):
        from perfcite.server.serving import for_stdio

        return for_stdio()
    raise AttributeError(name)


if __name__ == "__main__":
    main()
