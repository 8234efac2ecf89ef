"""Turn a wrong call into one line that names the argument and a next call that works."""

import difflib
import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from ..evidence.errors import InputError, NextCall, PerfciteError, StoreError
from .definition import Arguments, Tool, looks_like_path, shorten, write_call

ERROR_LIMIT = 300


def parse_arguments(tool: Tool, given: Mapping[str, Any]) -> Arguments:
    """Validate arguments.

    Raises:
        InputError: every problem in one line; `then` is the same call mended, where that is known.
    """
    try:
        return tool.arguments.model_validate(dict(given))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        told = [_tell(tool, dict(p)) for p in problems[:3]]
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise InputError("; ".join(told) + more, then=_mended(tool, given)) from None


def error_line(error: PerfciteError, tool: Tool) -> str:
    """Write an error for an agent: at most 300 bytes, `Next:` always whole."""
    # A store that cannot be written can mostly still be read.
    kept = NextCall("list_evidence") if isinstance(error, StoreError) else tool.fallback
    call = error.then or kept
    following = f"Next: {write_call(call, 'mcp')}"
    if len(following.encode()) > 200:  # an echoed value may be as long as the caller likes
        following = f"Next: {write_call(tool.fallback, 'mcp')}"
    return sentence(cut_bytes(str(error), ERROR_LIMIT - 2 - len(following.encode()))) + following


def sentence(text: str) -> str:
    """End a text so that another sentence can follow."""
    return text + (" " if text.endswith((".", "?", "!")) else ". ")


def cut_bytes(text: str, limit: int) -> str:
    """Cut the middle out of a text so that its UTF-8 form fits."""
    size = limit
    cut = text
    while len(cut.encode()) > limit:
        cut = shorten(text, size)
        size -= 4
    return cut


def terminal_line(error: PerfciteError, tools: Mapping[str, Tool]) -> str:
    """Write an error for a person: what is wrong, then the command to try."""
    line = f"perfcite: {error}"
    if error.then is not None and error.then.tool in tools:
        line = f"{sentence(line)}Next: {write_call(error.then, 'terminal', tools)}"
    return line


def _tell(tool: Tool, problem: dict[str, Any]) -> str:
    name = ".".join(str(part) for part in problem["loc"]) or "arguments"
    kind = problem["type"]
    known = list(tool.arguments.model_fields)
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known) or 'none'}"
        return f"{tool.name} has no argument {shorten(name, 40)}: {hint}"
    if kind == "missing":
        return f"{name} is required by {tool.name}"
    value = shorten(str(problem.get("input")), 40)
    return f"{name}: {_plain(problem)}, not {value!r}"


def _plain(problem: dict[str, Any]) -> str:
    message: str = problem["msg"]
    for before, after in (
        ("Input should be a valid ", "must be a "),
        ("Input should be a finite number", "must be a finite number"),
        ("Input should be ", "must be "),
        ("Value error, ", ""),
    ):
        message = message.replace(before, after)
    message = message.replace(", unable to parse string as a number", "").split(", got")[0]
    return message.replace("a integer", "an integer").split(", unable to parse")[0]


def _mended(tool: Tool, given: Mapping[str, Any]) -> NextCall | None:
    """The same call with mistyped names and choices put right, if that validates."""
    known = tool.arguments.model_fields
    schema = tool.schema(whole=True)["properties"]
    mended: dict[str, Any] = {}
    for name, value in given.items():
        near = [name] if name in known else difflib.get_close_matches(name, known, 1, 0.5)
        if not near or near[0] in mended:
            continue
        choices = schema[near[0]].get("enum")
        if choices and value not in choices:
            value = next(iter(difflib.get_close_matches(str(value), choices, 1, 0.4)), None)
        if isinstance(value, str | int | float | bool) and _usable(known[near[0]], value):
            mended[near[0]] = value
    for attempt in (mended, {k: v for k, v in mended.items() if _accepts(tool, k, v)}):
        try:
            tool.arguments.model_validate(attempt)
        except ValidationError:
            continue
        return NextCall(tool.name, attempt)
    return None


def _usable(field: FieldInfo, value: Any) -> bool:
    """A suggested call must work: a path in it has to be there."""
    marks = field.json_schema_extra
    if not isinstance(marks, Mapping) or not (marks.get("runs") or marks.get("file")):
        return True
    text = str(value)
    return os.path.exists(text) or (bool(marks.get("file")) and not looks_like_path(text))


def _accepts(tool: Tool, name: str, value: Any) -> bool:
    try:
        tool.arguments.model_validate({name: value})
    except ValidationError as error:
        return all(p["loc"][:1] != (name,) for p in error.errors())
    return True
