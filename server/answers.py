"""A record as an answer: small, complete on both channels, the rest named and reachable.

Most clients show the model one channel only, so `structured` and `text` each carry the id, the verdict,
the numbers and what limits them. The text is written from the structured part, so they cannot differ.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from ..evidence.citing import number, phrase
from ..evidence.payloads import SEVERITIES
from ..evidence.records import one_line
from ..evidence.store import Stored
from .definition import Answer, shorten

HARD_CAP = 40_000
DEFAULT_BUDGET = 8_000
BUDGETS = {"environment": 3_000, "correctness": 2_200, "profiler_probe": 2_000}
_LIMITATIONS_SHOWN = 5
_MORE_ROOM = 260  # for what `more` says on either channel
_EXIT = {"PASS": 0, "FAIL": 1, "UNPROVEN": 3, None: 0}

OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "evidence_id": {"type": "string"},
        "kind": {"type": "string"},
        "summary": {"type": "string"},
        "verdict": {"type": "string", "enum": ["PASS", "FAIL", "UNPROVEN"]},
        "reason": {"type": "string"},
        "metrics": {"type": "array", "items": {"type": "object"}},
        "missing": {"type": "array", "items": {"type": "string"}},
        "limitations": {"type": "array", "items": {"type": "string"}},
        "data": {"type": "object"},
        "more": {"type": "object"},
    },
    "required": ["evidence_id", "kind", "summary"],
}


def of_record(stored: Stored, *, damaged: bool = False) -> Answer:
    """Answer with a record that was just kept, within the budget of its kind.

    `damaged`: it is derived from what does not verify, so it cannot be shown again.
    """
    record = stored.record
    budget = BUDGETS.get(record.kind, DEFAULT_BUDGET)
    structured: dict[str, Any] = {
        "evidence_id": stored.evidence_id,
        "kind": record.kind,
        "summary": record.summary,
    }
    if record.verdict:
        structured["verdict"] = record.verdict
    if record.reason:
        structured["reason"] = shorten(record.reason, 500)
    metrics = []
    for metric in record.metrics:
        shown = {"name": metric.name, "value": metric.value, "unit": metric.unit}
        shown |= {"statistic": metric.statistic}
        cited = phrase(metric, stored.evidence_id)
        metrics.append(shown | ({"cite_as": cited} if cited else {}))
    _put(structured, "metrics", metrics)
    cut: list[str] = []
    _put_lines(structured, "missing", record.missing, 12, cut)
    _put_lines(structured, "limitations", record.limitations, _LIMITATIONS_SHOWN, cut)
    decisive = _DECIDES.get(record.kind, dict)(record.data)
    _fit(structured, decisive, record.data, cut, stored.evidence_id, budget)
    if damaged:
        structured.pop("more", None)
    return Answer(structured, text_of(structured, budget), stored, _EXIT[record.verdict])


def _put(structured: dict[str, Any], name: str, value: Any) -> None:
    if value:
        structured[name] = value


def _put_lines(
    structured: dict[str, Any], name: str, lines: tuple[str, ...], limit: int, cut: list[str]
) -> None:
    _put(structured, name, [one_line(line, 220) for line in lines[:limit]])
    if len(lines) > limit or any(len(line) > 220 for line in lines):
        cut.append(name)


def _fit(
    structured: dict[str, Any],
    decisive: dict[str, Any],
    whole: Mapping[str, Any],
    cut: list[str],
    identifier: str,
    budget: int,
) -> None:
    """Add parts of `data` in their order while both channels stay within the budget."""
    more: dict[str, Any] = {"resource": f"evidence://{identifier}"}
    room = budget - _MORE_ROOM
    data: dict[str, Any] = {}
    structured["data"] = data
    structured["more"] = more
    for key, value in decisive.items():
        taken, complete = _take(key, value, data, structured, room)
        if taken is not None:
            data[key] = taken
        if not complete:
            cut.append(f"data.{key}")
    if any(k not in data for k in whole):
        listed = [c for c in cut if c == "data.first_divergence" or not c.startswith("data.")]
        cut = [*listed, "data"]
    if cut:
        more["sections"] = list(dict.fromkeys(cut))
    for name in ("data", "more"):
        if not structured[name]:
            del structured[name]


def _take(
    key: str, value: Any, data: dict[str, Any], structured: dict[str, Any], room: int
) -> tuple[Any, bool]:
    def fits(candidate: Any) -> bool:
        data[key] = candidate
        size = max(size_of(structured), len(text_of(structured).encode()))
        del data[key]
        return size <= room

    if fits(value):
        return value, True
    if isinstance(value, list):
        kept: list[Any] = []
        for item in value:
            if not fits([*kept, item]):
                break
            kept.append(item)
        return (kept or None), False
    if isinstance(value, dict):
        for limit in (160, 80, 40):
            shorter = _shorten_strings(value, limit)
            if fits(shorter):
                return shorter, False
    return None, False


def _shorten_strings(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return shorten(value, limit)
    if isinstance(value, dict):
        return {k: _shorten_strings(v, limit) for k, v in value.items()}
    return [_shorten_strings(v, limit) for v in value] if isinstance(value, list) else value


def size_of(structured: Any) -> int:
    """Bytes of a value as compact JSON."""
    return len(orjson.dumps(structured))


def _environment(data: Mapping[str, Any]) -> dict[str, Any]:
    findings = data.get("findings", [])
    counts = {s: sum(f["severity"] == s for f in findings) for s in SEVERITIES}
    return {
        "can": {name: _without_null(can) for name, can in data.get("can", {}).items()},
        "counts": counts,
        **({"changes": data["changes"]} if data.get("since") else {}),
        "findings": [_finding(f) for f in findings],
        **({"profilers": _profilers(data["profilers"])} if data.get("profilers") else {}),
    }


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    shown = {k: finding[k] for k in ("code", "severity", "what")}
    fix = finding.get("fix") or {}
    first = next(iter(fix.get("commands") or ()), None) or fix.get("summary")
    return shown | ({"fix": first} if first else {})


def _probe(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"profilers": _profilers(data.get("profilers", {}))}


def _profilers(profilers: Mapping[str, Any]) -> dict[str, Any]:
    shown = {}
    for name, result in profilers.items():
        keep = ("version", "error", "cause", "fix", "captured", "seconds", "returncode")
        row = {"ran": result["ran"], "capture_ok": result["capture_ok"]}
        for key in keep:
            value = result.get(key)
            if value is not None and not (key == "error" and result.get("cause")):
                row[key] = round(value, 2) if isinstance(value, float) else value
        shown[name] = row
    return shown


def _correctness(data: Mapping[str, Any]) -> dict[str, Any]:
    order = ("sequences", "divergences", "divergence_histogram", "exercised", "criterion")
    first = data.get("first_divergence") or []
    shown = {k: data[k] for k in order if data.get(k) is not None}
    if "exercised" in shown:
        shown["exercised"] = _without_null(shown["exercised"])
    if "divergence_histogram" in shown:  # stored keys are sorted as text
        bins = shown["divergence_histogram"]
        shown["divergence_histogram"] = {k: bins[k] for k in sorted(bins, key=_bin_start)}
    rest = {k: data[k] for k in ("near_tie_density", "control", "worst") if data.get(k)}
    return shown | rest | ({"first_divergence": first} if first else {})


def _comparison(data: Mapping[str, Any]) -> dict[str, Any]:
    rows = []
    for row in data.get("metrics", []):
        keep = ("name", "statistic", "unit", "baseline", "candidate", "ratio", "verdict", "why")
        rows.append({k: row[k] for k in keep if row.get(k) is not None})
    shown: dict[str, Any] = {"comparable": data.get("comparable"), "metrics": rows}
    return shown | {"differences": [_without_null(d) for d in data.get("differences", [])]}


def _citations(data: Mapping[str, Any]) -> dict[str, Any]:
    worst = ("tampered", "not_found", "contradicted", "unsupported", "supported", "unchecked")
    claims = sorted(data.get("claims", []), key=lambda c: worst.index(c["verdict"]))
    keep = ("quote", "evidence_id", "verdict", "metric", "recorded", "why", "line")
    shown = [{k: c[k] for k in keep if c.get(k) is not None} for c in claims]
    bad = [_without_null(i) for i in data.get("ids", []) if i.get("status") != "verified"]
    return {"assurance": data.get("assurance"), "claims": shown, "ids": bad}


def _bin_start(name: str) -> int:
    digits = name.partition("-")[0].rstrip("+")
    return int(digits) if digits.isdigit() else 1 << 30


def _without_null(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if v is not None}


_DECIDES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "environment": _environment,
    "profiler_probe": _probe,
    "correctness": _correctness,
    "comparison": _comparison,
    "citation_check": _citations,
}


def text_of(structured: Mapping[str, Any], budget: int = HARD_CAP) -> str:
    """Write the same facts as one short text."""
    lines = [structured["summary"], f"evidence: {structured['evidence_id']}"]
    if structured.get("verdict"):
        lines[1] += f" (verdict {structured['verdict']})"
    if structured.get("reason"):
        lines.append(f"reason: {structured['reason']}")
    lines += [_metric_line(m) for m in structured.get("metrics", [])]
    if structured.get("missing"):
        lines.append("missing: " + "; ".join(structured["missing"]))
    lines += [f"limitation: {line}" for line in structured.get("limitations", [])]
    lines += _data_lines(structured.get("data", {}))
    more = structured.get("more", {})
    if more.get("sections"):
        identifier = structured["evidence_id"]
        lines.append(
            f'more: get_evidence(evidence_id="{identifier}", section=…) with '
            + ", ".join(more["sections"])
        )
    if more.get("resource"):
        lines.append(f"whole record: {more['resource']}")
    text = "\n".join(lines)
    while len(text.encode()) > budget and len(lines) > 4:
        del lines[-3]
        text = "\n".join(lines)
    return text


def _metric_line(metric: Mapping[str, Any]) -> str:
    head = f"{metric['name']} ({metric['statistic']}): "
    if metric["value"] is None:
        return head + "not measured"
    return head + str(metric.get("cite_as") or number(metric["value"]))


def _data_lines(data: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in data.items():
        if key == "can":
            lines += [f"can {n}: {c['answer']} ({c['how']}), {c['why']}" for n, c in value.items()]
        elif key == "findings":
            lines += [_finding_line(f) for f in value]
        elif key == "profilers":
            lines += [f"{name}: {_pairs(row)}" for name, row in value.items()]
        elif isinstance(value, dict):
            lines.append(f"{key}: {_pairs(value)}")
        else:
            lines.append(f"{key}: {_compact(value)}")
    return lines


def _finding_line(finding: Mapping[str, Any]) -> str:
    line = f"{finding['severity']} {finding['code']}: {finding['what']}"
    return line + (f" Fix: {finding['fix']}" if finding.get("fix") else "")


def _pairs(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={_compact(v)}" for k, v in row.items())


def _compact(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()
