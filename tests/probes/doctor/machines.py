"""Machines for doctor's tests: files and programs, and what an examination of them holds."""

from collections.abc import Mapping, Sequence
from typing import Any

from perfcite.evidence.payloads import Finding
from perfcite.probes.doctor import host
from perfcite.probes.doctor.host import Host
from perfcite.probes.doctor.section import Section, value_of
from perfcite.probes.system import Platform
from tests.replay import ReplaySystem, Rules

VM = "flags\t\t: fpu hypervisor\n"
USER = "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
ROOT = "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"
DOCKER_ROOT = "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"


def machine(
    files: Mapping[str, Any] | None = None,
    programs: Rules | None = None,
    env: Mapping[str, str] | None = None,
    platform: Platform = "linux",
) -> ReplaySystem:
    return ReplaySystem(files=files, executables=programs, env=env, platform=platform)


def read_host(files: Mapping[str, Any], env: Mapping[str, str] | None = None) -> Host:
    return host.read(machine(files, env=env))


def answer(stdout: str = "", **more: Any) -> Sequence[Mapping[str, Any]]:
    """One rule for a program: whatever it is asked, it says this."""
    return [{"stdout": stdout, **more}]


def codes(section: Section) -> dict[str, str]:
    """The findings' codes with their severity."""
    return {f.code: f.severity for f in section.findings}


def finding(section: Section, code: str) -> Finding:
    return next(f for f in section.findings if f.code == code)


def fact(section: Section, path: str) -> Any:
    """A fact's value at a dotted path."""
    value: Any = section.facts
    for name in path.split("."):
        value = value_of(value)[name]
    return value_of(value)
