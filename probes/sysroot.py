"""Where a path of a machine lies whose files are under a directory: links are followed inside of it.

An absolute target counts from the directory, and `..` does not climb above it, as under chroot(2) and
with openat2(2)'s RESOLVE_IN_ROOT. What a link leads to on this host is another machine's.
"""

import os

_MOST_LINKS = 40  # as the kernel's limit


def inside(root: str, path: str, *, follow: bool = True) -> str:
    """Give the place on this host of the machine's `path`; with `follow` of what it links to.

    The path comes back as it is named, links and all, wherever the kernel would stay under `root`
    by itself: a virtual environment is found by the name of its interpreter, not by what is behind.
    """
    named = root.rstrip("/") + "/" + path.lstrip("/")
    home = os.path.realpath(root)
    reached = os.path.realpath(named if follow else os.path.dirname(named.rstrip("/")))
    if reached == home or reached.startswith(home.rstrip("/") + "/"):
        return named
    return _walk(root.rstrip("/"), path, follow=follow)


def _walk(root: str, path: str, *, follow: bool) -> str:
    waiting = [p for p in reversed(path.split("/")) if p not in ("", ".")]
    reached: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            del reached[-1:]
            continue
        here = "/".join([root, *reached, part])
        if not (waiting or follow) or not os.path.islink(here):
            reached.append(part)
            continue
        links += 1
        if links > _MOST_LINKS:
            return f"{root}/.a loop of links"  # nothing is there, as the kernel's ELOOP says
        target = os.readlink(here)
        if target.startswith("/"):
            reached.clear()
        waiting.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
    return "/".join([root, *reached]) if reached else root + "/"
