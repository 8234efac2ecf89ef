"""Imports go down only: server on probes on evidence; `mcp` is imported in server alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
ALLOWED = {"evidence": {"evidence"}, "probes": {"probes", "evidence"}}
ALLOWED["server"] = {"server", "probes", "evidence"}
COMMAND_LINE = ("commandline", "definition", "answers", "lookup", "measuring", "steering")
SDK_FREE = (*COMMAND_LINE, "terminal", "tools", "__main__", "serving", "__init__")


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Give each import as (room or outside package, whole name), relative ones resolved."""
    inside = path.relative_to(CHECKOUT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = list(inside[: len(inside) - node.level])
                whole = base + (node.module or "").split(".")
                names = [whole[0]] if whole[0] else [a.name for a in node.names]
                for name in names:
                    yield name, ".".join(filter(None, whole))
            elif (node.module or "").startswith("perfcite."):
                yield str(node.module).split(".")[1], str(node.module)
            else:
                yield str(node.module).split(".")[0], str(node.module)


@pytest.mark.parametrize("room", ["evidence", "probes", "server"])
def test_no_room_imports_from_above(room: str) -> None:
    for path in sorted((CHECKOUT / room).rglob("*.py")):
        for target, whole in imports(path):
            if target in ALLOWED:
                assert target in ALLOWED[room], f"{path.relative_to(CHECKOUT)} imports {whole}"
            if room != "server":
                assert target not in ("mcp", "mcp_types"), f"{path} imports {whole}"


def test_the_command_line_never_imports_the_sdk() -> None:
    for name in SDK_FREE:
        path = CHECKOUT / "server" / f"{name}.py"
        tree = ast.parse(path.read_text())
        top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        names = [n.module or "" for n in top if isinstance(n, ast.ImportFrom)]
        names += [a.name for n in top if isinstance(n, ast.Import) for a in n.names]
        assert not [n for n in names if n.split(".")[0] in ("mcp", "mcp_types", "uvicorn")], name


def test_processes_are_started_in_one_module_only() -> None:
    for room in ALLOWED:
        for path in sorted((CHECKOUT / room).rglob("*.py")):
            starts = {whole for target, whole in imports(path) if target == "subprocess"}
            if path.name != "command.py":
                assert not starts, f"{path.relative_to(CHECKOUT)} starts processes"
