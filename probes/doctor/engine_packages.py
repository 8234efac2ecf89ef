"""Judge what an interpreter holds: versions, and installs that are not what they seem. Pure.

The input is the answer of python_query.py. A version comes from METADATA, never from a directory's
name, and is unknown where two copies disagree and no recorded hash decides.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...evidence.payloads import Fix
from .engine_table import ENGINES, MODULES, Engine
from .section import Section, absent, unknown

Dist = Mapping[str, Any]
_PLACEHOLDER = "0.0.0"


def judge(answer: Mapping[str, Any], section: Section, python: str) -> None:
    """Add `engines` facts and findings; `python` is the interpreter as it is shown to people."""
    dists: Sequence[Dist] = answer["dists"]
    modules: Mapping[str, Mapping[str, Any]] = answer["modules"]
    owners = _owners(answer)
    engines: dict[str, Any] = {}
    for key, engine in ENGINES.items():
        found = [d for d in dists if d["name"] in engine.distributions]
        engines[key] = _engine(key, engine, found, modules, owners, section, python)
    engines["torch"] = _torch(engines["torch"], answer.get("kernels") or [])
    for module, claim in answer["owners"].items():
        _report_owners(section, module, _claimants(dists, claim), claim["actual"], python)
    section.facts["engines"] = engines


def _engine(
    key: str,
    engine: Engine,
    found: Sequence[Dist],
    modules: Mapping[str, Mapping[str, Any]],
    owners: Mapping[str, str],
    section: Section,
    python: str,
) -> dict[str, Any]:
    importable = _importable(key, engine, found, modules)
    if not found:
        if importable:
            return _source_tree(key, engine, modules, section)
        return absent("not_installed")
    order = list(engine.distributions)
    names = sorted({str(d["name"]) for d in found}, key=order.index)
    name = next((n for n in names if owners.get(engine.module) == n), names[0])
    copies = [d for d in found if d["name"] == name]
    _report_duplicates(section, name, copies, python)
    for dist in found:
        _report_editable(section, dist)
    return {
        "version": _version(section, name, copies, importable),
        "distribution": name,
        "distributions": {str(d["name"]): d["version"] for d in found},
        "editable": any(d["editable"] for d in copies),
        "importable": importable,
    }


def _importable(
    key: str,
    engine: Engine,
    found: Sequence[Dist],
    modules: Mapping[str, Mapping[str, Any]],
) -> bool:
    wanted = {engine.module, *(MODULES[d["name"]] for d in found)} - {""}
    kinds = {modules[m]["kind"] for m in wanted if m in modules}
    # a bare directory imports as an empty namespace; only mlx is one on purpose
    return bool(kinds - {"namespace"}) or (key == "mlx" and bool(kinds) and bool(found))


def _version(section: Section, name: str, copies: Sequence[Dist], importable: bool) -> Any:
    versions = {d["version"] for d in copies}
    if len(versions) > 1:
        first = [d for d in copies if d["place"] == copies[0]["place"]]
        if len({d["version"] for d in first}) > 1:
            return unknown(f"duplicate metadata: {', '.join(sorted(map(str, versions)))}")
    version = copies[0]["version"]
    if version is None:
        return unknown("parse_error: METADATA is missing or empty")
    if version == _PLACEHOLDER and not importable:
        section.find(
            "engine.placeholder",
            "note",
            f"{name} {version} holds a name on the package index and no code",
            evidence=[f"{copies[0]['directory']}/METADATA: Version: {version}"],
            affects=("running",),
            fix=Fix(
                summary="install the real package from its project's own source",
                commands=(f"pip uninstall {name}",),
                verify=f"pip show {name}",
            ),
        )
        return absent(f"{version} is a placeholder")
    return version


def _source_tree(
    key: str, engine: Engine, modules: Mapping[str, Mapping[str, Any]], section: Section
) -> dict[str, Any]:
    version = modules[engine.module]["version"]
    section.find(
        "engine.source_tree_no_metadata",
        "note",
        f"{engine.module} can be imported but has no installed metadata: a source tree"
        + (f" that calls itself {version}" if version else ", so its version is unknown"),
        evidence=[f"{engine.module}/: present", "*.dist-info: absent"],
        affects=("comparison",),
        fix=Fix(
            summary="install it from its checkout so that its version is recorded",
            commands=("pip install -e .",),
            verify=f"python -c 'import importlib.metadata as m; print(m.version(\"{key}\"))'",
        ),
    )
    return {
        "version": version or unknown("no metadata"),
        "distribution": absent(),
        "editable": False,
        "importable": True,
    }


def _report_duplicates(section: Section, name: str, copies: Sequence[Dist], python: str) -> None:
    """Warn of two copies in one directory; one that another directory shadows is worth a note."""
    if len(copies) < 2:
        return
    same_place = len({d["place"] for d in copies}) < len(copies)
    listed = ", ".join(str(d["version"]) for d in copies)
    section.find(
        "engine.duplicate_metadata",
        "warning" if same_place else "note",
        f"{name} is recorded {len(copies)} times in this interpreter ({listed}): "
        + ("which one runs is unclear" if same_place else "the first on its path runs"),
        evidence=[f"{d['directory']}: Version: {d['version']}" for d in copies],
        affects=("comparison", "running"),
        fix=Fix(
            summary="remove every copy, then install one",
            commands=(f"{python} -m pip uninstall -y {name}", f"{python} -m pip install {name}"),
            verify=f"{python} -m pip show {name}",
        ),
    )


def _report_editable(section: Section, dist: Dist) -> None:
    if not dist["editable"]:
        return
    section.find(
        "engine.editable",
        "note",
        f"{dist['name']} {dist['version']} is an editable install: its code is what the checkout "
        "holds now, whatever the version says",
        evidence=[f"{dist['directory']}: editable"],
        affects=("comparison",),
        fix=Fix(
            summary="note the checkout's commit beside the numbers",
            commands=("git -C CHECKOUT describe --always --dirty",),
        ),
    )


def _owners(answer: Mapping[str, Any]) -> dict[str, str]:
    """Give, for contested modules, the one distribution whose recorded hash is the file's."""
    owners = {}
    for module, claim in answer["owners"].items():
        names = [
            str(answer["dists"][row["index"]]["name"])
            for row in claim["claims"]
            if row["hash"] and row["hash"] == claim["actual"]
        ]
        if len(set(names)) == 1:
            owners[module] = names[0]
    return owners


def _claimants(dists: Sequence[Dist], claim: Mapping[str, Any]) -> list[tuple[Dist, Any]]:
    """Keep those that really install the module's first file, or may."""
    rows = [(dists[row["index"]], row["hash"]) for row in claim["claims"]]
    return [(d, h) for d, h in rows if h is not False and not _is_shim(d, h)]


def _is_shim(dist: Dist, recorded: Any) -> bool:
    """From release 12 on pynvml only depends on nvidia-ml-py."""
    major = re.match(r"\d+", dist["version"] or "")
    return dist["name"] == "pynvml" and recorded is None and int(major[0] if major else 0) >= 12


def _report_owners(
    section: Section,
    module: str,
    claimants: Sequence[tuple[Dist, Any]],
    actual: str | None,
    python: str,
) -> None:
    names = sorted({str(d["name"]) for d, _ in claimants})
    if len(names) < 2:
        return
    hashes = {h for _, h in claimants if h}
    harmless = module == "pynvml" or (len(hashes) == 1 and all(h for _, h in claimants))
    owner = next((d["name"] for d, h in claimants if h and h == actual), None)
    section.find(
        "engine.duplicate_owner",
        "note" if harmless else "warning",
        f"{' and '.join(names)} both install the module {module}: "
        + (f"the files are {owner}'s" if owner else "which one's files are there is unclear"),
        evidence=[f"{d['directory']}/RECORD: {module} {h or 'not recorded'}" for d, h in claimants],
        affects=("comparison", "running"),
        fix=Fix(
            summary="remove both, then install the one that is wanted",
            commands=(f"{python} -m pip uninstall -y {' '.join(names)}",),
            verify=f"{python} -m pip list",
        ),
    )


def _torch(fact: dict[str, Any], kernels: Sequence[str]) -> dict[str, Any]:
    """Add what the wheel was built for: the local version says cu130, rocm7.2, cpu or nv25.03."""
    version = fact.get("version")
    if not isinstance(version, str):
        return fact
    built = build_of(version)
    return fact | built | ({"kernels": list(kernels)} if kernels else {})


def build_of(version: str) -> dict[str, str]:
    """Read the build tag of a torch version: cuda and rocm as X.Y, or variant."""
    local = version.partition("+")[2]
    if found := re.search(r"\bcu(\d+)(\d)\b", local):
        return {"cuda": f"{found[1]}.{found[2]}"}
    if found := re.search(r"\brocm(?:sdk)?(\d+(?:\.\d+)*)", local):
        return {"rocm": found[1]}
    if found := re.search(r"\bnv(\d+\.\d+)", local):
        return {"variant": f"NVIDIA container {found[1]}"}
    return {"variant": "cpu"} if re.search(r"\bcpu\b", local) else {}
