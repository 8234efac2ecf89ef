"""The command line, made from the same tool declarations as the MCP server. Never imports the SDK."""

import argparse
import contextlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import anyio

from .. import __version__
from ..evidence.errors import InputError, PerfciteError
from ..evidence.redaction import redact
from ..evidence.store import Store
from ..probes import command
from ..probes.system import System
from . import storekeeping
from .definition import Answer, Session, Tool, shorten
from .steering import parse_arguments, terminal_line
from .terminal import ProgressLine, show
from .tools import BY_NAME, TOOLS


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def run(argv: Sequence[str]) -> int:
    """Run one command and give its exit status (design: 0, 1, 2, 3, 4)."""
    _die_with_children()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a mark that cannot be shown must not lose the rest
            stream.reconfigure(errors="replace")
    try:
        status = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output went away; that is its choice
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        print(f"perfcite: the output cannot be written: {error.strerror}", file=sys.stderr)
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 2
    return status


def _run(argv: Sequence[str]) -> int:
    try:
        options = _parser().parse_args(argv)
        if options.command == "serve":
            return _serve(options)
        if hasattr(options, "keeping"):
            return int(options.keeping(options, Store.open(options.store)))
        return _tool(options)
    except PerfciteError as error:
        print(terminal_line(error, BY_NAME), file=sys.stderr)
        return error.exit_code
    except BaseExceptionGroup as group:
        known = [e for e in _leaves(group) if isinstance(e, PerfciteError)]
        if not known:
            return _crashed(_leaves(group)[0])
        print(terminal_line(known[0], BY_NAME), file=sys.stderr)
        return known[0].exit_code
    except KeyboardInterrupt:
        return 130
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect of ours; a traceback helps nobody by default
        return _crashed(error)


def _crashed(error: BaseException) -> int:
    """Tell a defect in one line; its traceback on request."""
    if os.environ.get("PERFCITE_DEBUG"):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {shorten(str(redact(str(error))), 120)}"
    print(
        f"perfcite: a defect in perfcite ({what}); PERFCITE_DEBUG=1 shows where. Please report it",
        file=sys.stderr,
    )
    return 70  # EX_SOFTWARE


def _leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def _tool(options: argparse.Namespace) -> int:
    tool: Tool = options.declared
    given = {
        name: getattr(options, name)
        for name in tool.arguments.model_fields
        if getattr(options, name, None) is not None
    }
    arguments = parse_arguments(tool, given)
    store = Store.open(options.store)
    sysroot = getattr(options, "sysroot", None)
    if sysroot is not None and not os.path.isdir(sysroot):
        raise InputError(f"--sysroot: {sysroot} is not a folder")
    with ProgressLine() as progress:
        session = Session(
            store,
            System(root=os.path.abspath(sysroot) if sysroot else "/", scratch=store.keys.scratch()),
            progress.report,
            sysroot=sysroot,
        )
        answer: Answer = anyio.run(tool.run, arguments, session)
    show(tool, answer, as_json=options.json)
    return answer.exit_code


def _serve(options: argparse.Namespace) -> int:
    from . import serving

    tools = serving.choose(options.tools, options.read_only)
    if options.http:
        serving.run_http(
            options.store,
            tools,
            host=options.host,
            port=options.port,
            hosts=tuple(options.allow_host),
            roots=options.root,
            allow_commands=options.allow_commands,
        )
    else:
        serving.run_stdio(options.store, tools)
    return 0


def _die_with_children() -> None:
    """End at once on a signal, every child's tree first; SIGTERM would orphan them otherwise."""

    def die(number: int, _: Any) -> None:
        command.kill_all()
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
            signal.signal(number, die)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="perfcite",
        description="Measure instead of guess: profiling evidence that can be cited and checked.",
        epilog="Exit status: 0 done or PASS, 1 FAIL, 2 bad input, 3 UNPROVEN, 4 the store failed.",
    )
    parser.add_argument("--version", action="version", version=f"perfcite {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for tool in TOOLS:
        _add_tool(commands, tool)
    storekeeping.add(commands)
    _add_serve(commands)
    for sub in {id(p): p for p in commands.choices.values()}.values():  # aliases share a parser
        sub.add_argument(
            "--store", metavar="PLACE", help="default $PERFCITE_STORE, else the user's data"
        )
    return parser


def _add_tool(commands: Any, tool: Tool) -> None:
    sub = commands.add_parser(
        tool.command,
        aliases=[tool.name] if tool.name != tool.command else [],
        help=tool.title,
        description=tool.description,
        allow_abbrev=False,
    )
    for name, schema in tool.schema(whole=True)["properties"].items():
        _add_option(sub, tool, name, schema)
    if tool.name == "doctor":
        sub.add_argument(
            "--sysroot", metavar="DIR", help="describe the machine whose files lie under DIR"
        )
    sub.add_argument("--json", action="store_true", help="print the whole record")
    sub.set_defaults(declared=tool)


def _add_option(sub: Any, tool: Tool, name: str, schema: dict[str, Any]) -> None:
    text = schema.get("description", "").replace("%", "%%")
    if name in tool.positionals:
        required = name in tool.schema(whole=True).get("required", [])
        sub.add_argument(name, help=text, nargs=None if required else "?")
    elif schema.get("type") == "boolean":
        sub.add_argument(_flag(name), dest=name, action="store_true", default=None, help=text)
    elif schema.get("type") == "array":
        sub.add_argument(
            _flag(name), dest=name, type=_comma_list, action="extend", metavar="A,B", help=text
        )
    else:
        sub.add_argument(_flag(name), dest=name, metavar=name.upper(), help=text)


def _comma_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no port")
    return int(text)


def _add_serve(commands: Any) -> None:
    sub = commands.add_parser(
        "serve", help="Serve MCP", description="Serve MCP over standard input and output, or HTTP."
    )
    sub.add_argument("--http", action="store_true", help="streamable HTTP instead of stdio")
    sub.add_argument("--host", default="127.0.0.1", help="address to bind to")
    sub.add_argument("--port", type=_port, default=8765, help="0 to 65535")
    sub.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="further Host names"
    )
    sub.add_argument(
        "--root", action="append", default=[], metavar="DIR", help="folder that HTTP may read"
    )
    sub.add_argument(
        "--allow-commands", action="store_true", help="HTTP callers may name programs to run"
    )
    sub.add_argument("--tools", metavar="A,B", help="offer these tools only")
    sub.add_argument("--read-only", action="store_true", help="offer only what changes nothing")
