"""Where a fix for an NVIDIA problem can be made: this host, the container's launch, or Windows.

Advice that cannot work is worse than none: inside a container only its launch options help, and under
WSL the driver is Windows' own. `Place` picks; the judging modules only say what each place would do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...evidence.payloads import Fix
from .host import Host


@dataclass(frozen=True)
class Place:
    """The kind of machine that advice is for."""

    container: str | None = None  # "yes", "uncertain" or None
    windows: bool = False  # WSL, or Windows itself
    linux: bool = True

    def fix(
        self,
        summary: str,
        commands: Sequence[str] = (),
        *,
        container: str | None = None,
        launch: Sequence[str] = (),
        windows: str | None = None,
        windows_commands: Sequence[str] = (),
        verify: str = "nvidia-smi",
        needs_root: bool = True,
        needs_reboot: bool = False,
        where: str = "host root",
    ) -> Fix:
        """Give the advice for this place.

        `container` and `launch` say what starting the container differently can do; None: only
        whoever runs the host can help, and the summary then says so. `windows` likewise.
        """
        if self.windows:
            text = windows or f"on the Windows host: {summary}"
            return Fix(
                summary=text, commands=tuple(windows_commands), where="Windows host", verify=verify
            )
        if self.container == "yes":
            text = container or f"not from inside this container. Whoever runs its host: {summary}"
            place = "container launch" if container else "host"
            return Fix(summary=text, commands=tuple(launch), where=place, verify=verify)
        if self.container == "uncertain" and container:
            # Both may be true, so both are said; the commands name the container's runtime.
            summary = f"{summary}; if this is a container: {container}"
            commands = (*commands, *launch)
        return Fix(
            summary=summary,
            commands=tuple(commands),
            where=where,
            needs_root=needs_root,
            needs_reboot=needs_reboot,
            verify=verify,
        )


def place_of(host: Host, platform: str) -> Place:
    """Tell the place from what the host part found."""
    return Place(
        container=host.container,
        windows=host.wsl or platform == "windows",
        linux=platform == "linux" and not host.wsl,
    )
