"""The machine under examination: its files, environment, programs. Injectable, so cases can be replayed.

`System()` is this machine. `System(root=DIR)` describes the machine whose files lie under DIR: every
absolute path is looked up there and nothing is asked of the running kernel (`live` is False).
"""

import errno
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from . import command, sysroot
from .command import Completed

Platform = Literal["linux", "darwin", "windows"]
Unreadable = Literal["absent", "no_permission", "error"]
READ_LIMIT = 1024 * 1024
BIN_DIRECTORIES = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return os.sep


def this_platform() -> Platform:
    """Name the running operating system."""
    if sys.platform == "darwin":
        return "darwin"
    return "windows" if sys.platform == "win32" else "linux"


@dataclass(frozen=True)
class System:
    """One machine, real or laid out under `root`. Paths in and out are the machine's own.

    `environ` and PATH are always the caller's. All reading is bounded and never raises.
    """

    root: str = "/"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    platform: Platform = field(default_factory=this_platform)
    cwd: str = field(default_factory=_here)
    scratch: Path | None = None

    @property
    def live(self) -> bool:
        """Whether the running kernel may be asked (affinity, uname, statvfs, load)."""
        return self.root == "/"

    def real(self, path: str, *, follow: bool = True) -> str:
        """Where a path of the machine lies on this host; its links stay inside `root`."""
        return path if self.live else sysroot.inside(self.root, path, follow=follow)

    def placed(self, path: str) -> str:
        """Give a path of this host as it is reached: one under `root` follows the machine's links."""
        mine = not self.live and path.startswith(self.root.rstrip("/") + "/")
        return self.real(self.shown(path)) if mine else path

    def shown(self, path: str) -> str:
        """Name a path of this host as the machine would: without the sysroot prefix."""
        prefix = self.root.rstrip("/")
        return path if self.live or not path.startswith(prefix + "/") else path[len(prefix) :]

    def read(self, path: str) -> str | None:
        """Read a text file (1 MiB at most); None where there is none or it cannot be read."""
        try:
            with open(self.real(path), "rb") as file:
                return file.read(READ_LIMIT).decode("utf-8", "replace")
        except OSError:
            return None

    def word(self, path: str) -> str | None:
        """Read a one-word file such as those in /sys; None where unreadable or empty."""
        text = self.read(path)
        return text.strip() or None if text is not None else None

    def why_unreadable(self, path: str) -> Unreadable:
        """Say why `read` gave None."""
        try:
            with open(self.real(path), "rb") as file:
                file.read(1)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return "absent"
            return "no_permission" if error.errno in (errno.EACCES, errno.EPERM) else "error"
        return "error"

    def names(self, path: str) -> list[str]:
        """List a directory, sorted; empty where there is none."""
        try:
            return sorted(os.listdir(self.real(path)))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Tell whether a path is there, following links."""
        return os.path.exists(self.real(path))

    def lexists(self, path: str) -> bool:
        """Tell whether a path is there, be it a dangling link."""
        return os.path.lexists(self.real(path, follow=False))

    def is_dir(self, path: str) -> bool:
        """Tell whether a path is a directory."""
        return os.path.isdir(self.real(path))

    def link_target(self, path: str) -> str | None:
        """Read a symbolic link; None where it is none."""
        try:
            return os.readlink(self.real(path, follow=False))
        except OSError:
            return None

    def programs(self, name: str, extra: Sequence[str] = ()) -> list[str]:
        """Find every copy of a program: PATH first, then the usual bin directories, then `extra`.

        `extra` are directories of the machine (a glob's matches). Paths are of this host, each
        directory once; a file counts when it is executable by mode, whatever it holds.
        """
        on_path = [d for d in self.environ.get("PATH", "").split(os.pathsep) if d]
        elsewhere = [self.real(d) for d in (*BIN_DIRECTORIES, *extra)]
        names = [name, f"{name}.exe", f"{name}.bat"] if self.platform == "windows" else [name]
        found: dict[str, str] = {}
        for directory in (*on_path, *elsewhere):
            for candidate in (self.placed(os.path.join(directory, n)) for n in names):
                if _is_program(candidate):
                    # /bin is /usr/bin on merged systems: one directory, not two copies
                    found.setdefault(_directory_key(candidate), candidate)
        return list(found.values())

    def on_path(self, name: str) -> str | None:
        """Find the copy of a program that a shell would run; None where there is none."""
        for directory in self.environ.get("PATH", "").split(os.pathsep):
            candidate = self.placed(os.path.join(directory, name))
            if directory and _is_program(candidate):
                return candidate
        return None

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 5.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        keep: int = command.KEEP_LIMIT,
    ) -> Completed:
        """Run a probing command in a private HOME and TMPDIR, removed afterwards.

        `env` adds to the caller's environment. Deadline in seconds; `keep` characters of each
        stream come back (a document that is parsed whole needs more than the default).
        """
        with command.private_scratch(self.scratch) as scratch:
            environment = command.probe_environment(self.environ, scratch) | dict(env or {})
            return await command.run(
                argv,
                timeout_s=timeout_s,
                env=environment,
                cwd=cwd or self.cwd,
                keep=keep,
                scratch=scratch,
                sweep=False,
            )


def _is_program(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def _directory_key(path: str) -> str:
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
