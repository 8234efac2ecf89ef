"""A machine under a directory: its links are followed inside of it, whatever this host holds there."""

import os
from pathlib import Path

import pytest

from perfcite.probes.system import System


def machine(tmp_path: Path, **links: str) -> System:
    """A root with etc/name and links by name, beside a file that is none of its own."""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "name").write_text("theirs\n")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "name").write_text("ours\n")
    for name, target in links.items():
        (root / name).symlink_to(target)
    return System(root=str(root), environ={"PATH": "/nowhere"}, cwd=str(tmp_path))


@pytest.mark.parametrize(
    "target", ["/etc/name", "etc/name", "../etc/name", "../../../../etc/name", "/../etc/name"]
)
def test_a_link_is_followed_inside_of_the_root(tmp_path: Path, target: str) -> None:
    system = machine(tmp_path, name=target)
    assert system.read("/name") == "theirs\n"
    assert system.exists("/name")


def test_what_only_this_host_has_is_not_there(tmp_path: Path) -> None:
    system = machine(tmp_path, cpuinfo="/proc/cpuinfo", proc="/proc")
    assert system.read("/cpuinfo") is None
    assert system.why_unreadable("/cpuinfo") == "absent"
    assert not system.exists("/cpuinfo")
    assert system.lexists("/cpuinfo")
    assert system.link_target("/cpuinfo") == "/proc/cpuinfo"
    assert system.names("/proc") == []
    assert system.read("/../etc/passwd") is None


def test_a_linked_directory_is_looked_through_inside_of_the_root(tmp_path: Path) -> None:
    system = machine(tmp_path, conf="/etc", again="/conf")
    assert system.names("/again") == ["name"]
    assert system.read("/again/name") == "theirs\n"
    assert system.is_dir("/again")


def test_a_loop_of_links_is_not_there(tmp_path: Path) -> None:
    system = machine(tmp_path, a="/b", b="/a")
    assert system.read("/a") is None
    assert not system.exists("/a")


def test_a_program_behind_a_link_is_the_machines_own(tmp_path: Path) -> None:
    system = machine(tmp_path)
    root = Path(system.root)
    for folder in ("opt/tool", "usr/bin"):
        (root / folder).mkdir(parents=True)
    (root / "opt/tool/nsys").write_text("#!/bin/sh\n")
    (root / "opt/tool/nsys").chmod(0o755)
    (root / "usr/bin/nsys").symlink_to("/opt/tool/nsys")
    (root / "usr/bin/sh").symlink_to("/bin/sh")
    assert [system.shown(p) for p in system.programs("nsys")] == ["/opt/tool/nsys"]
    assert system.programs("sh") == []


def test_a_link_that_stays_inside_keeps_its_name(tmp_path: Path) -> None:
    system = machine(tmp_path, name="etc/name")
    assert system.real("/name") == os.path.join(system.root, "name")
