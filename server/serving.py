"""Put a server together: which tools, which store, what its callers may do."""

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence.errors import InputError
from ..evidence.store import Store
from ..probes.system import System
from .definition import Guard, Progress, Session, Tool
from .tools import BY_NAME, TOOLS

if TYPE_CHECKING:
    from mcp.server import MCPServer


def choose(names: str | None, read_only: bool) -> tuple[Tool, ...]:
    """Narrow what is offered to the named tools and, with `read_only`, to those that change nothing.

    Raises:
        InputError: a name is unknown, or nothing is left.
    """
    wanted = [n.strip() for n in names.split(",") if n.strip()] if names else list(BY_NAME)
    unknown = [n for n in wanted if n not in BY_NAME]
    if unknown:
        raise InputError(f"--tools: no tool {unknown[0]!r}; known are {', '.join(BY_NAME)}")
    tools = tuple(t for t in TOOLS if t.name in wanted and (t.read_only or not read_only))
    if not tools:
        raise InputError("--tools and --read-only leave no tool to offer")
    return tools


def session_maker(store: Store, guard: Guard) -> Callable[[Progress], Session]:
    """Give each call a session over one store; the environment is read anew each time."""

    def make(progress: Progress) -> Session:
        return Session(store, System(scratch=store.keys.scratch()), progress, guard)

    return make


def for_stdio(store: str | None = None, tools: Sequence[Tool] = TOOLS) -> "MCPServer[Any]":
    """Make the server for one client that started us and is trusted as the user."""
    _log_to_stderr()
    from .app import build
    from .stdio import signals

    return build(session_maker(Store.open(store), Guard()), tools=tools, lifespan=signals)


def run_stdio(store: str | None, tools: Sequence[Tool]) -> None:
    """Serve MCP over standard input and output until it ends."""
    server = for_stdio(store, tools)
    import anyio

    from .stdio import serve

    anyio.run(serve, server)


def run_http(
    store: str | None,
    tools: Sequence[Tool],
    *,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    roots: Sequence[str],
    allow_commands: bool,
) -> None:
    """Serve MCP over HTTP; callers are confined to `roots` and may name no program by default."""
    _log_to_stderr()
    guard = Guard(allow_commands, tuple(_root(r) for r in roots))
    opened = Store.open(store)
    from .app import build
    from .web import serve, token_for

    token_for(host)  # refuse before anything is loaded further
    serve(build(session_maker(opened, guard), tools=tools), host, port, hosts)


def _root(given: str) -> Path:
    path = Path(given).expanduser()
    if not given or not path.is_dir():
        raise InputError(f"--root: {given!r} is not a folder")
    return path.resolve()


def _log_to_stderr() -> None:
    # Before the SDK is imported: it would put a wide, coloured handler on the root logger.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
