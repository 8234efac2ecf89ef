"""MCP over standard input and output, for the client that started us.

A client may ask `server/discover` and still open with `initialize`; the SDK would bind the connection
to the first request's era and refuse the second. Here `server/discover` is answered without deciding,
and the first other request decides.
"""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..probes import command


async def serve(server: MCPServer[Any]) -> None:
    """Serve until standard input ends."""
    low = server._lowlevel_server  # the SDK has no public way to feed it our own stream
    async with stdio_server() as (read, write):
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pump() -> None:
            decided = False
            async with send:
                async for item in read:
                    message = getattr(item, "message", None)
                    if not decided and isinstance(message, JSONRPCRequest):
                        if message.method == "server/discover":
                            await write.send(SessionMessage(_discovered(low, message)))
                            continue
                        decided = True
                    # A server that has ended takes no more messages.
                    with suppress(anyio.BrokenResourceError):
                        await send.send(item)

        async with anyio.create_task_group() as group:
            group.start_soon(pump)
            await low.run(receive, write, low.create_initialization_options())
            group.cancel_scope.cancel()
    command.kill_all()


def _discovered(low: Any, message: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
    meta = (message.params or {}).get("_meta") or {}
    wanted = meta.get(PROTOCOL_VERSION_META_KEY)
    if wanted not in MODERN_PROTOCOL_VERSIONS:
        return JSONRPCError(
            jsonrpc="2.0",
            id=message.id,
            error=ErrorData(
                code=UNSUPPORTED_PROTOCOL_VERSION,
                message="Unsupported protocol version",
                data={"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": wanted},
            ),
        )
    capabilities = low.get_capabilities(protocol_version=wanted)
    result: dict[str, Any] = {
        "supportedVersions": list(MODERN_PROTOCOL_VERSIONS),
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "capabilities": capabilities.model_dump(by_alias=True, mode="json", exclude_none=True),
        "_meta": {SERVER_INFO_META_KEY: low.server_info_stamp},
    }
    if low.instructions:
        result["instructions"] = low.instructions
    return JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)


@asynccontextmanager
async def signals(_: Any) -> AsyncIterator[dict[str, Any]]:
    """End at once on a signal, with every child's tree: a lifespan for stdio, where the SDK has none.

    The children die in the handler itself. Waiting for tasks to unwind first would take seconds, and
    clients send SIGKILL about two seconds after SIGTERM.
    """
    import asyncio
    import os

    def die(number: int) -> None:
        command.kill_all()
        os._exit(128 + number)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        with suppress(NotImplementedError, ValueError):  # Windows, or not the main thread
            loop.add_signal_handler(number, die, number)
    try:
        yield {}
    finally:
        command.kill_all()
