"""MCP over streamable HTTP, for a team: loopback by default, Host and Origin checked, bearer token.

Answers go as server-sent events: with plain JSON responses a cancelled request would keep running.
"""

import hmac
import ipaddress
import os
import re
import signal
import socket
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
_AUTHORITY = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
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
    listening = _listen(host, port)
    app: _Asgi = server.streamable_http_app(host=host, transport_security=_security(host, hosts))
    app = _with_names(app, _names(host, hosts))
    if token is not None:
        app = _with_token(app, token)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE_S)
    print(f"perfcite: serving MCP at http://{host}:{port}/mcp", file=sys.stderr, flush=True)
    with listening:
        _Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is said.

    Raises:
        InputError: the address or port cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(f"--host {host} --port {port}: {error}; choose another --port") from None
    return listening


class _Server(uvicorn.Server):
    """Kills every child in the signal handler itself; waiting for requests to end takes too long."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        command.kill_all()
        if self.should_exit and sig == signal.SIGINT:
            os._exit(128 + sig)
        super().handle_exit(sig, frame)


def _names(host: str, hosts: tuple[str, ...]) -> frozenset[str]:
    names = {host, *hosts} | ({"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else set())
    return frozenset((f"[{n}]" if ":" in n and not n.startswith("[") else n).lower() for n in names)


def _security(host: str, hosts: tuple[str, ...]) -> TransportSecuritySettings:
    names = sorted(_names(host, hosts))
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for n in names for form in (n, f"{n}:*")],
        allowed_origins=[
            form
            for n in names
            for scheme in ("http", "https")
            for form in (f"{scheme}://{n}", f"{scheme}://{n}:*")
        ],
    )


def _with_names(app: _Asgi, names: frozenset[str]) -> _Asgi:
    """Check Host and Origin whole: the SDK's patterns end in `*` and take what follows a colon."""

    def known(authority: str) -> bool:
        found = _AUTHORITY.fullmatch(authority)
        return found is not None and found["name"].lower() in names

    async def guarded(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {k: v.decode("latin-1") for k, v in scope["headers"]}
            origin = headers.get(b"origin")
            scheme, _, authority = (origin or "").partition("://")
            if not known(headers.get(b"host", "")):
                return await _refuse(send, 421, "Host is not one that this server answers to")
            if origin is not None and (scheme not in ("http", "https") or not known(authority)):
                return await _refuse(send, 403, "Origin is not one that this server answers to")
        await app(scope, receive, send)
        return None

    return guarded


async def _refuse(send: Any, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
    head = [(b"content-type", b"text/plain"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": why.encode() + b"\n"})


def _with_token(app: _Asgi, token: str) -> _Asgi:
    wanted = token.encode()

    async def guarded(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            scheme, _, credentials = given.partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(credentials.strip(), wanted):
                why = "a bearer token is needed: Authorization: Bearer ..."
                return await _refuse(send, 401, why, (b"www-authenticate", b"Bearer"))
        await app(scope, receive, send)
        return None

    return guarded
