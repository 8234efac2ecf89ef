"""The MCP server: the declared tools, resources and prompts on the SDK, with our own errors.

The SDK's defaults would hide errors from the agent (silently ignored arguments, validation text, bare
crash messages, unknown tools as results): `DeclaredTool` and `middleware` replace them.
"""

import difflib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from .. import __version__
from ..evidence.errors import PerfciteError
from . import prompts, resources
from .definition import Answer, Progress, Session, Tool, shorten
from .steering import cut_bytes, error_line, parse_arguments
from .tools import INSTRUCTIONS, SERVER_NAME, TOOLS

HEARTBEAT_S = 5.0
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_log = logging.getLogger("perfcite")

MakeSession = Callable[[Progress], Session]


class DeclaredTool(SdkTool):
    """One of our tools in the SDK's clothes: its own schema, validation and errors."""

    _tool: Tool = PrivateAttr()
    _make_session: MakeSession = PrivateAttr()

    @classmethod
    def make(cls, tool: Tool, make_session: MakeSession) -> "DeclaredTool":
        """Wrap a declaration."""

        async def unused() -> CallToolResult:
            raise NotImplementedError  # `run` below is what the SDK calls

        wrapped = cls.from_function(
            unused,
            name=tool.name,
            title=tool.title,
            description=tool.full_description,
            annotations=ToolAnnotations(
                title=tool.title,
                read_only_hint=tool.read_only,
                destructive_hint=False,
                idempotent_hint=tool.idempotent,
                open_world_hint=False,
            ),
        )
        assert isinstance(wrapped, cls)
        wrapped.parameters = tool.schema()
        wrapped.fn_metadata.output_schema = dict(tool.output)
        wrapped._tool = tool
        wrapped._make_session = make_session
        return wrapped

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Call the tool; every failure is a result that says what to do next."""
        try:
            parsed = parse_arguments(self._tool, arguments)
            async with _heartbeat(context, self._tool) as progress:
                session = self._make_session(progress)
                session.guard.check(self._tool, parsed)
                answer = await self._tool.run(parsed, session)
        except MCPError:
            raise
        except PerfciteError as error:
            return failure(error_line(error, self._tool))
        except Exception as error:  # noqa: BLE001 - the door where nothing may escape
            known = _known(error)
            if known is not None:
                return failure(error_line(known, self._tool))
            # The agent never sees an exception's text: it may hold anything.
            _log.exception("%s failed", self._tool.name)
            return failure(
                f"{self._tool.name} failed inside the server ({_kind(error)}); the arguments "
                "are fine and nothing was kept. The server's log has the rest. Next: list_evidence()"
            )
        return success(answer)


def _known(error: BaseException) -> PerfciteError | None:
    """Find our own error inside the group that a task group makes of it."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            found = inner if isinstance(inner, PerfciteError) else _known(inner)
            if found is not None:
                return found
    return None


def _kind(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


def success(answer: Answer) -> CallToolResult:
    """Give both channels."""
    return CallToolResult(
        content=[TextContent(type="text", text=answer.text)],
        structured_content=answer.structured,
    )


def failure(line: str) -> CallToolResult:
    """Give an error as one text: some clients drop everything else of an error."""
    return CallToolResult(is_error=True, content=[TextContent(type="text", text=line)])


@asynccontextmanager
async def _heartbeat(context: Context[Any, Any], tool: Tool) -> AsyncIterator[Progress]:
    """Give a progress function that keeps speaking while the tool is silent.

    Clients give up on silence. Progress must increase, so it counts messages; what the tool said of
    its own progress stands in the message.
    """
    count = 0
    last = f"{tool.name} is running"

    async def report(done: float, total: float | None, message: str) -> None:
        nonlocal last, count
        last = f"{message} ({done:.0f} of {total:.0f})" if total else message
        count += 1
        await context.report_progress(count, None, last)

    async def beat() -> None:
        nonlocal count
        while True:
            await anyio.sleep(HEARTBEAT_S)
            count += 1
            await context.report_progress(count, None, last)

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        yield report
        group.cancel_scope.cancel()


def middleware_for(tools: Sequence[Tool]) -> Callable[..., Any]:
    """Refuse unknown tools and cursors as protocol errors that name what there is."""
    names = [tool.name for tool in tools]

    async def middleware(ctx: Any, call_next: Any) -> Any:
        params = ctx.params or {}
        if ctx.method == "tools/call" and params.get("name") not in names:
            name = shorten(str(params.get("name")), 40)
            near = difflib.get_close_matches(name, names, 1, 0.4)
            following = near[0] if near else "doctor"
            message = f"Unknown tool: {name!r}; known are {', '.join(names)}. Next: {following}()"
            raise MCPError(code=INVALID_PARAMS, message=cut_bytes(message, 300))
        if ctx.method in _LISTS and params.get("cursor"):
            raise MCPError(
                code=INVALID_PARAMS,
                message="Unknown cursor: this list has one page. Next: ask again without cursor",
            )
        if ctx.method == "prompts/get":
            prompts.check(str(params.get("name")), params.get("arguments") or {})
        return await call_next(ctx)

    return middleware


def build(
    make_session: MakeSession,
    *,
    tools: Sequence[Tool] = TOOLS,
    lifespan: Any = None,
) -> MCPServer[Any]:
    """Make the server; `make_session` gives each call its store and machine."""
    hint = CacheHint(ttl_ms=300_000, scope="public")
    server: MCPServer[Any] = MCPServer(
        SERVER_NAME,
        title=SERVER_NAME,
        version=__version__,
        description="Profiling evidence that an agent can cite and a person can check.",
        instructions=INSTRUCTIONS,
        tools=[DeclaredTool.make(tool, make_session) for tool in tools],
        middleware=[middleware_for(tools)],
        log_level="WARNING",
        lifespan=lifespan,
        cache_hints={
            "tools/list": hint,
            "prompts/list": hint,
            "resources/list": hint,
            "resources/templates/list": hint,
        },
    )
    resources.add(server, lambda: make_session(_silent).store)
    prompts.add(server)
    return server


async def _silent(done: float, total: float | None, message: str) -> None:
    return None
