"""Write docs/tools.md from the declarations: `python -m perfcite.server.reference [--check]`."""

import sys
from collections.abc import Iterable
from pathlib import Path

from ..evidence.errors import NextCall
from .definition import Tool, write_call
from .tools import BY_NAME, INSTRUCTIONS, TOOLS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tools.md"


def page() -> str:
    """Give the whole page."""
    lines = [
        "# Tools",
        "",
        "Generated: `python -m perfcite.server.reference`. Do not edit; a test compares.",
        "",
        "Every tool is an MCP tool and a command. What the server tells an agent first:",
        "",
        f"> {INSTRUCTIONS}",
    ]
    for tool in TOOLS:
        lines += ["", *_section(tool)]
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip() + "\n"


def _section(tool: Tool) -> Iterable[str]:
    yield f"## {tool.name}"
    yield ""
    yield tool.description
    yield ""
    yield f"Also for: {tool.also_for}."
    yield ""
    yield f"Command: `perfcite {_usage(tool)}`. Read-only: {'yes' if tool.read_only else 'no'}."
    schema = tool.schema(whole=True)
    if schema["properties"]:
        yield ""
        yield "| argument | type | default | meaning |"
        yield "| --- | --- | --- | --- |"
    for name, argument in schema["properties"].items():
        kind = argument.get("type", "")
        if argument.get("enum"):
            kind = ", ".join(argument["enum"])
        elif kind == "array":
            kind = f"list of {argument.get('items', {}).get('type', 'string')}"
        required = name in schema.get("required", [])
        default = "required" if required else f"{argument.get('default', 'absent')}"
        name = f"{name} (command line)" if name in tool.cli_only else name
        yield f"| {name} | {kind} | {default} | {argument.get('description', '')} |"
    yield ""
    for example in tool.examples:
        call = NextCall(tool.name, {k: v for k, v in example.items() if not isinstance(v, list)})
        yield f"`{write_call(call, 'mcp')}` or `{write_call(call, 'terminal', BY_NAME)}`"
        yield ""


def _usage(tool: Tool) -> str:
    words = [tool.command, *(name.upper() for name in tool.positionals)]
    words += [
        f"[--{name.replace('_', '-')}]"
        for name in tool.arguments.model_fields
        if name not in tool.positionals
    ]
    return " ".join(words)


def main() -> int:
    """Write the page, or with --check say whether it is current."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text("utf-8") == text else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
