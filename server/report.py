"""`perfcite report`: records as one self-contained page for a reviewer. No script, no network."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import orjson

from .. import __version__
from ..evidence.citing import number, phrase
from ..evidence.errors import InputError, NotFound
from ..evidence.layout import record_key
from ..evidence.payloads import SEVERITIES
from ..evidence.records import Metric
from ..evidence.store import Store, Stored

_RAW_LIMIT = 200_000
STYLE = Path(__file__).with_name("report.css")


def write_report(store: Store, given: Sequence[str], target: Path) -> list[str]:
    """Write a page about records, each verified first; give their ids.

    Raises:
        InputError: the file is there already or cannot be written; an id that is not there.
    """
    records = [_open(store, identifier) for identifier in given]
    if target.exists():
        raise InputError(f"{target} is there already; name another file with -o")
    try:
        target.write_text(page(store, records), "utf-8")
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    return [stored.evidence_id for stored, _ in records]


def _open(store: Store, given: str) -> tuple[Stored, str | None]:
    identifier, content, problem = store.unverified(given)
    return Stored(identifier, content), problem


def page(store: Store, records: Sequence[tuple[Stored, str | None]]) -> str:
    """Give the whole page as HTML."""
    shown = {stored.evidence_id for stored, _ in records}
    body = "\n".join(_record(store, stored, problem, shown) for stored, problem in records)
    title = records[0][0].record.summary if len(records) == 1 else f"{len(records)} records"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · perfcite</title>
<style>{STYLE.read_text("utf-8")}</style></head>
<body><header><h1>Evidence report</h1><p>{_contents(records)}</p></header>
<main>{body}{_by_hand(records)}</main>
<footer>Written by perfcite {escape(__version__)}. An id proves that these are the bytes that were
cited; it does not prove that the numbers were measured.</footer></body></html>
"""


def _contents(records: Sequence[tuple[Stored, str | None]]) -> str:
    links = [
        f'<a href="#{s.evidence_id}"><code>{s.evidence_id}</code></a> {_badge(s, p)}'
        for s, p in records
    ]
    return " · ".join(links)


def _badge(stored: Stored, problem: str | None) -> str:
    if problem:
        return '<b class="badge fail">does not verify</b>'
    verdict = stored.record.verdict
    if verdict is None:
        return f'<b class="badge">{escape(stored.record.kind)}</b>'
    return f'<b class="badge {verdict.lower()}">{verdict}</b>'


def _record(store: Store, stored: Stored, problem: str | None, shown: set[str]) -> str:
    record = stored.record
    parts = [
        f'<section id="{stored.evidence_id}"><h2>{_badge(stored, problem)} {escape(record.summary)}</h2>',
        _facts(stored, problem),
        f"<p>{escape(record.reason)}</p>" if record.reason else "",
        _metrics(stored),
        _lines("Missing", record.missing),
        _lines("Limitations", record.limitations),
        _findings(record.data.get("findings") or []),
        _profilers(record.data.get("profilers") or {}),
        _lineage(store, stored, shown),
        _artifacts(stored),
        _raw(stored),
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def _facts(stored: Stored, problem: str | None) -> str:
    record = stored.record
    arguments = orjson.dumps(record.tool.arguments).decode()
    rows = [
        ("id", f"<code>{stored.evidence_id}</code>"),
        ("verified", escape(f"no: {problem}") if problem else "yes: bytes, artifacts and inputs"),
        ("called", f"<code>{escape(record.tool.name)} {escape(arguments)}</code>"),
        ("made", f"{escape(record.created_at)} by perfcite {escape(record.tool.version)}"),
        ("claim", escape(record.claim_class)),
        ("where", escape(_identity(record.identity.model_dump(exclude_none=True)))),
    ]
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in rows) + "</dl>"


def _identity(identity: Mapping[str, Any]) -> str:
    told = []
    for key, value in identity.items():
        if isinstance(value, dict):
            told.append(f"{key}: " + ", ".join(f"{k} {v}" for k, v in value.items()))
        else:
            told.append(f"{key}: {value}")
    return "; ".join(told) or "unknown"


def _metrics(stored: Stored) -> str:
    if not stored.record.metrics:
        return ""
    rows = []
    for metric in stored.record.metrics:
        value = "not measured" if metric.value is None else f"{number(metric.value)} {metric.unit}"
        cited = phrase(metric, stored.evidence_id) or ""
        count = "" if metric.n is None else str(metric.n)
        rows.append(
            f"<tr><td>{escape(metric.name)}</td><td>{escape(metric.statistic)}</td>"
            f'<td class="number">{escape(value)}</td><td class="number">{count}</td>'
            f"<td>{_interval(metric)}</td><td><code>{escape(cited)}</code></td></tr>"
        )
    head = "<tr><th>metric<th>statistic<th>value<th>n<th>interval<th>cite as</tr>"
    return f"<h3>Metrics</h3><table>{head}{''.join(rows)}</table>"


def _interval(metric: Metric) -> str:
    """Draw an interval: a line from low to high, a dot at the value, a tick where a ratio is 1."""
    interval = metric.interval
    if interval is None or metric.value is None:
        return ""
    text = f"{number(interval.low)} to {number(interval.high)} ({interval.level:.0%})"
    one = [1.0] if metric.unit in ("ratio", "x") else []
    low, high = min(interval.low, *one, metric.value), max(interval.high, *one, metric.value)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return 6 + 148 * (value - low) / span

    tick = f'<line class="one" x1="{x(1):.1f}" x2="{x(1):.1f}" y1="2" y2="16"/>' if one else ""
    return (
        f'<svg width="160" height="18" role="img" aria-label="{escape(text)}">{tick}'
        f'<line x1="{x(interval.low):.1f}" x2="{x(interval.high):.1f}" y1="9" y2="9"/>'
        f'<circle cx="{x(metric.value):.1f}" cy="9" r="4"/></svg> <small>{escape(text)}</small>'
    )


def _lines(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h3>{title}</h3><ul>{items}</ul>" if items else ""


def _findings(findings: Sequence[Mapping[str, Any]]) -> str:
    if not findings:
        return ""
    items = []
    for severity in SEVERITIES:
        for finding in findings:
            if finding.get("severity") == severity:
                items.append(_finding(finding))
    return f'<h3>Findings</h3><ul class="findings">{"".join(items)}</ul>'


def _finding(finding: Mapping[str, Any]) -> str:
    severity = escape(str(finding.get("severity")))
    fix = finding.get("fix") or {}
    commands = "\n".join(map(str, fix.get("commands") or []))
    told = f'<li class="{severity}"><b>{severity}</b> {escape(str(finding.get("what")))}'
    told += f" <code>{escape(str(finding.get('code')))}</code>"
    told += f"<br><small>{escape('; '.join(map(str, finding.get('evidence') or [])))}</small>"
    if fix:
        told += (
            f"<div>Fix ({escape(str(fix.get('where')))}): {escape(str(fix.get('summary')))}</div>"
        )
        told += f"<pre>{escape(commands)}</pre>" if commands else ""
    return told + "</li>"


def _profilers(profilers: Mapping[str, Mapping[str, Any]]) -> str:
    if not profilers:
        return ""
    words = {True: "ok", False: "failed", None: "not tried"}
    rows = []
    for name, result in profilers.items():
        why = result.get("cause") or result.get("error") or ""
        fix = f" Fix: {result['fix']}" if result.get("fix") else ""
        captured = orjson.dumps(result.get("captured")).decode() if result.get("captured") else ""
        rows.append(
            f"<tr><td>{escape(name)}</td><td>{escape(str(result.get('version') or ''))}</td>"
            f"<td>{words.get(result.get('capture_ok'), '')}</td>"
            f"<td>{escape(captured or str(why) + fix)}</td></tr>"
        )
    head = "<tr><th>profiler<th>version<th>capture<th>measured, or why not</tr>"
    return f"<h3>Profilers</h3><table>{head}{''.join(rows)}</table>"


def _lineage(store: Store, stored: Stored, shown: set[str]) -> str:
    items = []
    for item in stored.record.inputs:
        if item.evidence_id is None:
            items.append(
                f"<li>file <code>{escape(item.path or '?')}</code>, SHA-256 {item.sha256}</li>"
            )
            continue
        name = f"<code>{escape(item.evidence_id)}</code>"
        if item.evidence_id in shown:
            name = f'<a href="#{escape(item.evidence_id)}">{name}</a>'
        items.append(f"<li>{name} {escape(_summary(store, item.evidence_id))}</li>")
    return f"<h3>Derived from</h3><ul>{''.join(items)}</ul>" if items else ""


def _summary(store: Store, identifier: str) -> str:
    try:
        stored, problem = _open(store, identifier)
    except (NotFound, InputError):
        return "(not in this store)"
    return stored.record.summary + (f" (does not verify: {problem})" if problem else "")


def _artifacts(stored: Stored) -> str:
    items = [
        f"<li>{escape(a.name)}: {escape(a.media_type)}, {a.bytes} bytes, SHA-256 {a.sha256}"
        + (" <b>sensitive</b>" if a.sensitive else "")
        + "</li>"
        for a in stored.record.artifacts
    ]
    return f"<h3>Artifacts</h3><ul>{''.join(items)}</ul>" if items else ""


def _raw(stored: Stored) -> str:
    text = orjson.dumps(stored.plain().get("data"), option=orjson.OPT_INDENT_2).decode()
    cut = "\n… (cut)" if len(text) > _RAW_LIMIT else ""
    return (
        "<details><summary>All recorded data</summary>"
        f"<pre>{escape(text[:_RAW_LIMIT])}{cut}</pre></details>"
    )


def _by_hand(records: Sequence[tuple[Stored, str | None]]) -> str:
    lines = [
        f"sha256sum {record_key(s.evidence_id)} | cut -c1-20 | tr a-f A-F | basenc --base16 -d"
        f" | basenc --base32 | tr A-Z a-z    # {s.evidence_id.removeprefix('ev_')}"
        for s, _ in records
    ]
    return (
        "<section><h2>Verify by hand</h2><p>In the store's folder, with coreutils; each line prints the "
        f"id without <code>ev_</code>. <code>perfcite verify</code> does all of it.</p>"
        f"<pre>{escape(chr(10).join(lines))}</pre></section>"
    )
