"""What a tool is: declared once, read by the MCP server, the command line, the reference and the tests."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from ..evidence.errors import InputError, NextCall
from ..evidence.store import Store, Stored
from ..probes.system import System

Progress = Callable[[float, float | None, str], Awaitable[None]]


class Arguments(BaseModel):
    """A tool's arguments: flat, unknown ones refused. A field may be marked `runs` or `file`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, given: Any) -> Any:
        """Numbers may come as text, as models write them; true is not 1."""
        for name, value in given.items() if isinstance(given, dict) else ():
            field = cls.model_fields.get(name)
            if (
                isinstance(value, bool)
                and field is not None
                and "bool" not in str(field.annotation)
            ):
                raise ValueError(f"{name} must not be {str(value).lower()}")
        return given


@dataclass(frozen=True)
class Guard:
    """What this transport lets a caller do. Standard input trusts its client as the user."""

    allow_commands: bool = True
    roots: tuple[Path, ...] | None = None  # None: any file

    def check(self, tool: "Tool", arguments: Arguments) -> None:
        """Refuse what is off here.

        Raises:
            InputError: a program would be run, or a file lies outside the roots.
        """
        for name, info in type(arguments).model_fields.items():
            value = getattr(arguments, name)
            if value is None:
                continue
            marks = info.json_schema_extra
            marks = marks if isinstance(marks, Mapping) else {}
            if marks.get("runs") and not self.allow_commands:
                raise InputError(
                    f"{name}: programs named by a caller are off over HTTP; the operator can start "
                    "the server with --allow-commands",
                    then=NextCall(tool.name) if not _required(tool) else tool.fallback,
                )
            if marks.get("file"):
                self._check_file(name, str(value), tool)

    def _check_file(self, name: str, value: str, tool: "Tool") -> None:
        if self.roots is None or not looks_like_path(value):
            return
        try:
            real = Path(value).expanduser().resolve()
        except (ValueError, OSError, RuntimeError):
            raise InputError(f"{name}: no such path", then=tool.fallback) from None
        if not any(real.is_relative_to(root) for root in self.roots):
            allowed = ", ".join(map(str, self.roots)) or "none (start the server with --root DIR)"
            raise InputError(
                f"{name}: {shorten(value, 60)} is outside the folders that may be read: {allowed}",
                then=tool.fallback,
            )


@dataclass(frozen=True)
class Session:
    """What a call works with: the store, the machine, progress, and what is allowed."""

    store: Store
    system: System
    progress: Progress
    guard: Guard = Guard()
    sysroot: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a call returns: both channels stand alone. `stored` is the whole record for `--json`."""

    structured: dict[str, Any]
    text: str
    stored: Stored | None = None
    exit_code: int = 0
    terminal: str | None = None  # what a person reads instead of `text`


@dataclass(frozen=True)
class Tool:
    """One tool. `run` measures through probes/ and keeps one record, or reads the store."""

    name: str
    command: str
    title: str
    description: str
    also_for: str
    arguments: type[Arguments]
    run: Callable[[Any, Session], Awaitable[Answer]]
    output: Mapping[str, Any]
    fallback: NextCall
    read_only: bool = True
    idempotent: bool = True
    positionals: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = field(default=())
    cli_only: tuple[str, ...] = ()

    @property
    def full_description(self) -> str:
        """What an agent reads: what and when, what comes back, and words to be found by."""
        return f"{self.description}\nAlso for: {self.also_for}."

    def schema(self, *, whole: bool = False) -> dict[str, Any]:
        """Give the input schema: flat, self-contained, nothing that a client is known to refuse.

        Rarely used arguments (`cli_only`) are left out of what an agent reads unless `whole`.
        """
        properties = {}
        for name, found in self.arguments.model_json_schema().get("properties", {}).items():
            if whole or name not in self.cli_only:
                properties[name] = _flat(found)
        required = [n for n, f in self.arguments.model_fields.items() if f.is_required()]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return schema | {"additionalProperties": False}


def _flat(found: Mapping[str, Any]) -> dict[str, Any]:
    """Drop titles, marks and null arms: optional means absent."""
    flat = {k: v for k, v in found.items() if k not in ("title", "anyOf", "runs", "file")}
    arms = [arm for arm in found.get("anyOf", []) if arm != {"type": "null"}]
    for arm in arms[:1]:
        flat = {**arm, **flat}
    if flat.get("default", 0) is None:
        del flat["default"]
    return {k: v for k, v in flat.items() if k not in _BOUNDS}


# Some clients drop bounds, others refuse them: they stand in the description and in code.
_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength", "minLength"}
    | {"maxItems", "minItems", "pattern", "format"}
)


def _required(tool: Tool) -> bool:
    return any(f.is_required() for f in tool.arguments.model_fields.values())


def looks_like_path(value: str) -> bool:
    """Tell a path from an evidence id: an id has no separator, no dot, and starts with ev_."""
    return not value.strip().lower().startswith("ev_") or any(c in value for c in "/\\.")


def shorten(text: str, limit: int) -> str:
    """Cut a long value in its middle."""
    if len(text) <= limit:
        return text
    head = (limit - 1) * 2 // 3
    return text[:head] + "…" + text[len(text) - (limit - 1 - head) :]


Channel = Literal["mcp", "terminal"]


def write_call(call: NextCall, channel: Channel, commands: Mapping[str, Tool] | None = None) -> str:
    """Write the next call as an agent makes it, or as a person types it."""
    import json
    import shlex

    if channel == "mcp":
        arguments = ", ".join(
            f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in call.arguments.items()
        )
        return f"{call.tool}({arguments})"
    tool = (commands or {}).get(call.tool)
    words = ["perfcite", tool.command if tool else call.tool]
    positional = tool.positionals if tool else ()
    words += [shlex.quote(str(call.arguments[p])) for p in positional if p in call.arguments]
    for key, value in call.arguments.items():
        if key not in positional:
            flag = f"--{key.replace('_', '-')}"
            words.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
    return " ".join(words)
