"""MCP over streamable HTTP, for a team: loopback by default, Host and Origin checked, bearer token.

Answers go as server-sent events: with plain JSON responses a cancelled request would keep running.
"""

import hmac
import ipaddress
import os
import signal
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from ..evidence.errors import InputError
from ..probes import command

TOKEN_VARIABLE = "PERFCITE_HTTP_TOKEN"
TOKEN_LENGTH = 16
_GRACE_S = 1
_Asgi = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Tell whether an address to bind to is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def token_for(host: str) -> str | None:
    """Give the bearer token that callers must send; None where loopback needs none.

    Raises:
        InputError: the address is not loopback and no token, or a guessable one, is set.
    """
    token = os.environ.get(TOKEN_VARIABLE)
    if token is not None and len(token) < TOKEN_LENGTH:
        raise InputError(f"{TOKEN_VARIABLE} must have at least {TOKEN_LENGTH} characters")
    if token is None and not is_loopback(host):
        raise InputError(
            f"--host {host} is not loopback: set {TOKEN_VARIABLE} to a long random token that callers "
            "send as `Authorization: Bearer …`"
        )
    return token


def serve(server: MCPServer[Any], host: str, port: int, hosts: tuple[str, ...] = ()) -> None:
    """Serve at http://HOST:PORT/mcp until a signal; `hosts` are further names callers may use."""
    token = token_for(host)
    app: _Asgi = server.streamable_http_app(host=host, transport_security=_security(host, hosts))
    if token is not None:
        app = _with_token(app, token)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_GRACE_S
    )
    print(f"perfcite: serving MCP at http://{host}:{port}/mcp", file=sys.stderr, flush=True)
    _Server(config).run()


class _Server(uvicorn.Server):
    """Kills every child in the signal handler itself; waiting for requests to end takes too long."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        command.kill_all()
        if self.should_exit and sig == signal.SIGINT:
            os._exit(128 + sig)
        super().handle_exit(sig, frame)


def _security(host: str, hosts: tuple[str, ...]) -> TransportSecuritySettings:
    names = {host, *hosts} | ({"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else set())
    names = {f"[{n}]" if ":" in n and not n.startswith("[") else n for n in names}
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for n in sorted(names) for form in (n, f"{n}:*")],
        allowed_origins=[
            form
            for n in sorted(names)
            for scheme in ("http", "https")
            for form in (f"{scheme}://{n}", f"{scheme}://{n}:*")
        ],
    )


def _with_token(app: _Asgi, token: str) -> _Asgi:
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                body = b"a bearer token is needed: Authorization: Bearer ...\n"
                await send({"type": "http.response.body", "body": body})
                return
        await app(scope, receive, send)

    return guarded
