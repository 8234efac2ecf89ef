"""What an interpreter holds, from one listing of its path. A script for a child, never imported.

Run as `PYTHON -I python_query.py QUESTION`, where QUESTION is JSON: {"modules": {distribution: module},
"home": directory or ""}. It imports nothing but the standard library and starts nothing: importing
torch takes seconds, and `importlib.metadata` sees neither duplicates nor empty dist-info.

The answer is JSON after the character U+001E, since sitecustomize and .pth files print to standard
output even under -I: {"python": …, "dists": […], "modules": {…}, "owners": {…}, "kernels": […]}.
Source: https://packaging.python.org/specifications/recording-installed-packages/ and PEP 610.
"""

# Python 3.6 and later run this file, not only ours.
# ruff: noqa: UP006, UP031, UP035, UP045

import base64
import hashlib
import json
import os
import re
import sys
import sysconfig
from typing import Any, Dict, List, Optional, Tuple

METADATA_LIMIT = 65536
RECORD_LIMIT = 8 * 1024 * 1024
EXTENSIONS = (".so", ".pyd")

Listings = List[Tuple[str, List[str]]]
LIBRARIES = ("rocblas", "hipblaslt")


def main() -> None:
    """Answer the question on the command line."""
    question = json.loads(sys.argv[1])
    wanted: Dict[str, str] = question["modules"]
    places = search_path(question.get("home") or "")
    listings = [(place, listing(place)) for place in places]
    dists = find_dists(listings, wanted)
    modules = {m: find_module(listings, m) for m in sorted(set(wanted.values()) - {""})}
    answer = {
        "python": describe(),
        "dists": [{k: v for k, v in d.items() if k != "path"} for d in dists],
        "modules": {m: found for m, found in modules.items() if found},
        "owners": owners(dists, wanted, listings),
        "kernels": kernels(listings),
    }
    sys.stdout.write("\x1e" + json.dumps(answer) + "\n")
    sys.stdout.flush()


def describe() -> Dict[str, Any]:
    """Describe this interpreter."""
    gil = getattr(sys, "_is_gil_enabled", None)
    uname = getattr(os, "uname", None)
    return {
        "executable": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "virtual_environment": sys.prefix != sys.base_prefix
        or os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
        "machine": uname().machine if uname else os.environ.get("PROCESSOR_ARCHITECTURE"),
        "debug": hasattr(sys, "gettotalrefcount"),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": bool(gil()) if gil else True,
    }


def search_path(home: str) -> List[str]:
    """Give the directories of sys.path once each: lib64 is often a link to lib.

    -I leaves out the user's site-packages, which a plain start would search before the system's.
    """
    path = list(sys.path)
    if home and sys.prefix == sys.base_prefix:
        import site

        os.environ["HOME"] = home
        sites = [i for i, p in enumerate(path) if p.endswith(("site-packages", "dist-packages"))]
        path.insert(sites[0] if sites else len(path), site.getusersitepackages())
    found: Dict[str, str] = {}
    for place in path:
        if place and os.path.isdir(place):
            found.setdefault(os.path.realpath(place), place)
    return list(found.values())


def listing(place: str) -> List[str]:
    """List a directory; empty where it cannot be read."""
    try:
        return sorted(os.listdir(place))
    except OSError:
        return []


def normalised(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def find_dists(listings: Listings, wanted: Dict[str, str]) -> List[Dict[str, Any]]:
    """Find the wanted distributions, all copies of each."""
    found = []
    for index, (place, names) in enumerate(listings):
        for name in names:
            stem, ending = os.path.splitext(name)
            if ending not in (".dist-info", ".egg-info"):
                continue
            guess = normalised(stem.split("-")[0])
            if guess in wanted:
                found.append(read_dist(place, name, index, guess))
    return found


def read_dist(place: str, name: str, index: int, guess: str) -> Dict[str, Any]:
    """Read one dist-info or egg-info: its directory's name may disagree with its metadata."""
    path = os.path.join(place, name)
    text = read(os.path.join(path, "METADATA"), METADATA_LIMIT)
    text = text or read(os.path.join(path, "PKG-INFO"), METADATA_LIMIT)
    text = text or (read(path, METADATA_LIMIT) if os.path.isfile(path) else None) or ""
    head = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
    fields: Dict[str, str] = {}
    for line in head.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.lower(), value.strip())
    editable, commit = direct_url(os.path.join(path, "direct_url.json"))
    in_tree = name.endswith(".egg-info") and not place.endswith(("site-packages", "dist-packages"))
    return {
        "name": normalised(fields.get("name") or guess),
        "version": fields.get("version"),
        "place": index,
        "directory": name,
        "editable": editable or in_tree,
        "commit": commit,
        "path": path,
    }


def direct_url(path: str) -> Tuple[bool, Optional[str]]:
    """Say whether an install is editable, and the commit of one from version control."""
    try:
        document = json.loads(read(path, METADATA_LIMIT) or "{}")
        editable = bool(document.get("dir_info", {}).get("editable"))
        return editable, document.get("vcs_info", {}).get("commit_id")
    except (ValueError, AttributeError):
        return False, None


def find_module(listings: Listings, module: str) -> Optional[Dict[str, Any]]:
    """Say where a module would be imported from, without importing it."""
    first, _, rest = module.partition("/")
    spread = None
    for index, (place, names) in enumerate(listings):
        present = set(names)
        if first in present:
            directory = os.path.join(place, first, *([rest] if rest else []))
            inside = listing(directory)
            if "__init__.py" in inside:
                version = source_version(directory)
                return {"place": index, "kind": "package", "version": version}
            if set(inside) - {"__pycache__"} and spread is None:
                spread = {"place": index, "kind": "namespace", "version": None}
        if not rest and first + ".py" in present:
            return {"place": index, "kind": "file", "version": None}
        if not rest and any(n.startswith(first + ".") and n.endswith(EXTENSIONS) for n in names):
            return {"place": index, "kind": "extension", "version": None}
    if spread is None and any(n.startswith("__editable__") for _, names in listings for n in names):
        return hooked(first)
    return spread


def hooked(module: str) -> Optional[Dict[str, Any]]:
    """Ask the finders that editable installs put in place; a top-level module is not imported."""
    import importlib.util

    try:
        found = importlib.util.find_spec(module)
    except Exception:  # noqa: BLE001  a foreign finder may raise anything
        return None
    if found is None or found.origin is None:
        return None
    directory = os.path.dirname(found.origin)
    return {"place": None, "kind": "package", "version": source_version(directory)}


def source_version(directory: str) -> Optional[str]:
    """Read the version that a source tree states."""
    for name in ("_version.py", "version.py"):
        text = read(os.path.join(directory, name), METADATA_LIMIT)
        found = re.search(
            r"^\s*(?:__version__|version)\s*(?::\s*\w+\s*)?=\s*(?:version\s*=\s*)?['\"]([^'\"]+)['\"]",
            text or "",
            re.MULTILINE,
        )
        if found:
            return found.group(1)
    return None


def owners(
    dists: List[Dict[str, Any]], wanted: Dict[str, str], listings: Listings
) -> Dict[str, Any]:
    """For modules that two distributions claim: the hash each recorded, and that of the file."""
    claims: Dict[str, List[Dict[str, Any]]] = {}
    for dist in dists:
        module = wanted.get(dist["name"])
        if module:
            claims.setdefault(module, []).append(dist)
    found = {}
    for module, claimants in claims.items():
        if len(claimants) > 1:
            rows = [
                {"index": dists.index(d), "hash": recorded(d["path"], module)} for d in claimants
            ]
            found[module] = {"claims": rows, "actual": actual(module, listings)}
    return found


def recorded(path: str, module: str) -> Any:
    """Give the hash of the module's first file in RECORD; False: not in it; None: no RECORD."""
    text = read(os.path.join(path, "RECORD"), RECORD_LIMIT)
    if text is None:
        return None
    names = "|".join(re.escape(n) for n in (module + "/__init__.py", module + ".py"))
    found = re.search(r'^"?(?:%s)"?,(?:sha256=)?([^,\r\n]*)' % names, text, re.MULTILINE)
    return found.group(1) if found else False


def actual(module: str, listings: Listings) -> Optional[str]:
    """Hash the module's first file as RECORD would."""
    for place, _ in listings:
        for name in (module + "/__init__.py", module + ".py"):
            try:
                with open(os.path.join(place, *name.split("/")), "rb") as file:
                    digest = hashlib.sha256(file.read()).digest()
            except OSError:
                continue
            return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")
    return None


def kernels(listings: Listings) -> List[str]:
    """List the AMD targets that the wheel's math libraries have kernels for."""
    roots = []
    for place, names in listings:
        if "torch" in names:
            roots.append(os.path.join(place, "torch"))
        roots += [os.path.join(place, n) for n in names if n.startswith("_rocm_sdk_libraries")]
    targets = set()
    for root in roots:
        for library in LIBRARIES:
            for name in listing(os.path.join(root, "lib", library, "library")):
                targets.update(re.findall(r"gfx[0-9a-f]{3,4}(?![0-9a-f])", name))
    return sorted(targets)


def read(path: str, limit: int) -> Optional[str]:
    """Read text; None where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


if __name__ == "__main__":
    main()
