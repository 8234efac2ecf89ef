"""Commands for people about the store: verify, seal, report, export, import, prune. No agent's tool."""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..evidence.errors import InputError
from ..evidence.store import Store

_AGE = re.compile(r"(\d{1,6})\s*(h|d|w)")
_SIZE = re.compile(r"(\d{1,9})\s*([KMGT]?i?B?)", re.IGNORECASE)
_ID_IN_TEXT = re.compile(r"ev(?:\\)?_([a-z2-7]{16})(?![a-z0-9])", re.IGNORECASE)
Run = Callable[[argparse.Namespace, Store], int]


def add(commands: Any) -> None:
    """Add the commands to the parser; each sets `keeping`, a function of options and store."""
    verify = _command(
        commands,
        "verify",
        "Verify evidence",
        "Re-hash records and artifacts, follow inputs to their roots, add markers that were lost; "
        "exit 1 if anything is wrong.",
        _verify,
    )
    verify.add_argument("ids", nargs="*", metavar="ID", help="all records when none is named")
    verify.add_argument("--seal", metavar="LINE", help="also check against a line of perfcite seal")
    _command(
        commands,
        "seal",
        "Seal the store",
        "Write a manifest that sha256sum -c checks, chained to the one before; keep the printed line "
        "elsewhere.",
        _seal,
    )
    export = _command(
        commands,
        "export",
        "Export evidence",
        "Write records with all that they were derived from to one tar file (gzip by its name).",
        _export,
    )
    export.add_argument("file", metavar="FILE")
    export.add_argument("ids", nargs="*", metavar="ID", help="all records when none is named")
    export.add_argument(
        "--cited-in", metavar="TEXT", help="the records a text cites, without artifacts"
    )
    importing = _command(
        commands, "import", "Import evidence", "Take records from an export.", _import
    )
    importing.add_argument("file", metavar="FILE")
    report = _command(
        commands,
        "report",
        "Write a report",
        "Write records as one self-contained HTML page for a reviewer.",
        _report,
    )
    report.add_argument("ids", nargs="+", metavar="ID")
    report.add_argument("-o", "--output", required=True, metavar="FILE.html")
    prune = _command(
        commands,
        "prune",
        "Prune artifacts",
        "Remove artifacts, never records, by age or until a total size remains.",
        _prune,
    )
    prune.add_argument("--older-than", metavar="AGE", help="24h, 30d or 8w")
    prune.add_argument("--keep", metavar="SIZE", help="bytes to keep at most: 500MB, 2GiB")


def _command(commands: Any, name: str, title: str, description: str, run: Run) -> Any:
    sub = commands.add_parser(name, help=title, description=description, allow_abbrev=False)
    sub.set_defaults(keeping=run)
    return sub


def _verify(options: argparse.Namespace, store: Store) -> int:
    chosen = [store.resolve(i) for i in options.ids] or list(store.ids())
    wrong = 0
    for identifier, problem in store.problems(chosen):
        wrong += problem is not None
        if problem:
            print(f"{identifier}: {problem}")
        elif options.ids:
            print(f"{identifier}: ok")
    sealed = []
    if options.seal:
        from ..evidence.seal import seal_problems

        sealed = seal_problems(store, options.seal)
        for line in sealed:
            print(line)
    if not options.ids:
        _restore(store)
    against = " against the seal" if options.seal else ""
    print(f"{len(chosen)} records{against}, {wrong + len(sealed)} do not verify")
    print(f"assurance: {assurance(options.seal)}")
    return 1 if wrong or sealed else 0


def assurance(seal: str | None) -> str:
    """Say what verifying proves, and what it cannot."""
    if seal:
        return "sealed: the records existed, unaltered, when the line was kept elsewhere"
    return (
        "same user: an id proves that these are the bytes that were cited, not that the numbers "
        "were measured"
    )


def _restore(store: Store) -> None:
    from ..evidence.errors import StoreError

    try:
        added = store.restore_markers()
    except StoreError:
        return  # a store that cannot be written is listed from its records
    if added:
        print(f"{added} lost markers added again")


def _seal(options: argparse.Namespace, store: Store) -> int:
    from ..evidence.seal import seal

    made = seal(store)
    print(made.line())
    print(f"{made.records} records sealed; keep the line above elsewhere", file=sys.stderr)
    return 0


def _export(options: argparse.Namespace, store: Store) -> int:
    from ..evidence.bundle import export, lineage

    if options.cited_in:
        chosen = [f"ev_{i.lower()}" for i in _ID_IN_TEXT.findall(_text(options.cited_in))]
        if not chosen:
            raise InputError(f"{options.cited_in} cites no evidence id")
    else:
        chosen = [store.resolve(i) for i in options.ids] or list(store.ids())
    moved = export(
        store,
        lineage(store, dict.fromkeys(chosen)),
        Path(options.file),
        with_artifacts=not options.cited_in,
    )
    print(f"{moved.records} records, {moved.artifacts} artifacts in {options.file}")
    for name in moved.left_out:
        print(f"left out: {name}")
    return 0


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _import(options: argparse.Namespace, store: Store) -> int:
    from ..evidence.bundle import import_into

    moved = import_into(store, Path(options.file))
    print(f"{moved.records} new records, {moved.artifacts} new artifacts")
    return 0


def _report(options: argparse.Namespace, store: Store) -> int:
    from .report import write_report

    written = write_report(store, options.ids, Path(options.output))
    print(f"{len(written)} records in {options.output}")
    return 0


def _prune(options: argparse.Namespace, store: Store) -> int:
    from ..evidence.pruning import prune

    if options.older_than is None and options.keep is None:
        raise InputError("prune: say what may go: --older-than 30d, or --keep 2GiB")
    count, size = prune(
        store,
        older_than_s=_seconds(options.older_than) if options.older_than else None,
        keep_bytes=_bytes(options.keep) if options.keep else None,
    )
    print(f"{count} artifacts removed, {size} bytes; their records stay")
    return 0


def _seconds(text: str) -> float:
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise InputError(f"--older-than: {text[:40]!r} is no age; 24h, 30d or 8w")
    return int(match[1]) * {"h": 3600.0, "d": 86400.0, "w": 604800.0}[match[2]]


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--keep: {text[:40]!r} is no size; 500MB or 2GiB")
    unit = match[2].upper()
    base = 1024 if "I" in unit else 1000
    return int(match[1]) * int(base ** " KMGT".index((unit or " ")[0] if unit != "B" else " "))
