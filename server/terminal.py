"""What a person sees: doctor in groups with marks and fixes, progress after one second, JSON on request."""

import sys
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import orjson

from .definition import Answer, Tool

_MARKS = {"error": "✗", "warning": "!", "limitation": "○", "note": "·"}
_ASCII = {"error": "x", "warning": "!", "limitation": "o", "note": "-", "ok": "+"}
_GROUPS = (
    ("Host", ("host", "env")),
    ("CPU profilers", ("perf", "pyspy")),
    ("NVIDIA", ("nvidia", "nsys", "ncu")),
    ("AMD", ("amd",)),
    ("Apple", ("apple",)),
    ("Tools", ("tool",)),
    ("Engines", ("engine", "python", "llamacpp")),
)


class ProgressLine:
    """Shows what is being done on a terminal's standard error, once it has taken a second."""

    def __init__(self) -> None:
        """Start the clock."""
        self._started = time.monotonic()
        self._shown = False

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    async def report(self, done: float, total: float | None, message: str) -> None:
        """Show one step."""
        seconds = time.monotonic() - self._started
        if seconds < 1 or not sys.stderr.isatty():
            return
        part = f" {done:.0f}/{total:.0f}" if total else ""
        sys.stderr.write(f"\r\x1b[K{message}{part} ({seconds:.0f} s)")
        sys.stderr.flush()
        self._shown = True


def show(tool: Tool, answer: Answer, *, as_json: bool) -> None:
    """Print an answer: the whole record as JSON, or text for a person."""
    if as_json:
        whole: Any = answer.structured
        if answer.stored is not None:
            whole = {"evidence_id": answer.stored.evidence_id, **answer.stored.plain()}
        text = orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()
    elif tool.name == "doctor" and answer.stored is not None:
        record = answer.stored.plain()
        text = "\n".join(doctor_lines(record, answer.stored.evidence_id, _marks()))
    else:
        text = answer.terminal or answer.text
    print(text)


def _marks() -> Mapping[str, str]:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return {**_MARKS, "ok": "✓"} if encoding.startswith("utf8") else _ASCII


def doctor_lines(
    record: Mapping[str, Any], identifier: str, marks: Mapping[str, str]
) -> Iterable[str]:
    """Write doctor's record as groups of one-line findings with the fix beneath each."""
    findings = record["data"]["findings"]
    yield record["summary"]
    for title, prefixes in _GROUPS:
        here = [f for f in findings if f["code"].split(".")[0] in prefixes]
        if not here and not _present(record["data"]["facts"], prefixes):
            continue
        yield ""
        yield title
        if not here:
            yield f"  {marks['ok']} nothing to report"
        for finding in here:
            yield from _finding_lines(finding, marks)
    if record["data"].get("since"):
        yield ""
        yield f"Changed since {record['data']['since']}"
        for change in record["data"]["changes"]:
            yield f"  {marks['warning']} {change['fact']}: {change['before']} -> {change['after']}"
        if not record["data"]["changes"]:
            yield f"  {marks['ok']} nothing"
    yield ""
    yield "Can measure"
    for name, can in record["data"]["can"].items():
        mark = {"yes": marks["ok"], "no": marks["error"]}.get(can["answer"], "?")
        yield f"  {mark} {name.replace('_', ' ')}: {can['answer']} ({can['how']}), {can['why']}"
    yield ""
    yield _closing(findings, record, identifier)


def _present(facts: Mapping[str, Any], prefixes: Iterable[str]) -> bool:
    return any(facts.get(p) for p in prefixes)


def _finding_lines(finding: Mapping[str, Any], marks: Mapping[str, str]) -> Iterable[str]:
    yield f"  {marks[finding['severity']]} {finding['what']} [{finding['code']}]"
    fix = finding.get("fix")
    if not fix:
        return
    where = f" ({fix['where']}{', as root' if fix['needs_root'] else ''})"
    yield f"      fix: {fix['summary']}{where}"
    for command in fix["commands"]:
        yield f"        {command}"


def _closing(findings: Iterable[Any], record: Mapping[str, Any], identifier: str) -> str:
    counts = dict.fromkeys(_MARKS, 0)
    for finding in findings:
        counts[finding["severity"]] += 1
    told = ", ".join(f"{n} {s}{'s' if n != 1 else ''}" for s, n in counts.items() if n)
    missing = f"; missing: {', '.join(record['missing'])}" if record["missing"] else ""
    return f"{told or 'no issues found'}{missing}. Evidence: {identifier}"
