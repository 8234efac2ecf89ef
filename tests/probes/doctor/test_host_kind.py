"""Container, virtual machine, WSL, emulation: what decides which fixes can work."""

import pytest

from tests.probes.doctor.machines import VM, codes, fact, read_host

OVERLAY = "1 0 0:5 / / rw - overlay overlay rw\n"
DISK = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"


def test_a_marker_with_nothing_against_it_is_a_container() -> None:
    assert read_host({"/.dockerenv": ""}).container == "yes"
    assert read_host({"/run/.containerenv": "engine=podman\n"}).container == "yes"


def test_an_overlay_root_alone_is_a_container_on_bare_metal() -> None:
    assert read_host({"/proc/self/mountinfo": OVERLAY}).container == "yes"


def test_the_path_of_a_runtime_in_the_control_group_is_a_marker() -> None:
    path = "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-0123456789ab.scope\n"
    assert read_host({"/proc/self/cgroup": path}).container == "yes"


def test_the_docker_daemon_itself_is_not_in_a_container() -> None:
    assert read_host({"/proc/self/cgroup": "0::/system.slice/docker.service\n"}).container is None


def test_a_marker_in_a_virtual_machine_with_a_disk_is_uncertain() -> None:
    files = {"/.dockerenv": "", "/proc/cpuinfo": VM, "/proc/self/mountinfo": DISK}
    assert read_host(files).container == "uncertain"


def test_a_disk_on_bare_metal_says_nothing_against_a_container() -> None:
    files = {"/.dockerenv": "", "/proc/cpuinfo": "flags : fpu\n", "/proc/self/mountinfo": DISK}
    assert read_host(files).container == "yes"


def test_process_one_on_top_of_a_virtual_machines_groups_is_uncertain() -> None:
    files = {"/.dockerenv": "", "/proc/cpuinfo": VM, "/proc/1/cgroup": "0::/\n"}
    assert read_host(files).container == "uncertain"


def test_a_container_with_its_own_group_namespace_in_a_cloud_machine_is_one() -> None:
    files = {
        "/.dockerenv": "",
        "/proc/cpuinfo": VM,
        "/proc/1/cgroup": "0::/\n",
        "/proc/self/mountinfo": OVERLAY,
    }
    assert read_host(files).container == "yes"


def test_no_marker_is_absent_and_no_files_is_unknown() -> None:
    seen = read_host({"/proc/self/mountinfo": DISK}).section.facts["host"]["container"]
    unseen = read_host({}).section.facts["host"]["container"]
    assert (seen["state"], unseen["state"]) == ("absent", "unknown")


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"/sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, "vmware"),
        ({"/sys/class/dmi/id/product_name": "VirtualBox\n"}, "virtualbox"),
        ({"/sys/class/dmi/id/sys_vendor": "QEMU\n"}, "kvm"),
        ({"/sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "kvm"),
        ({"/sys/hypervisor/type": "xen\n"}, "xen"),
        ({}, "other"),
    ],
)
def test_a_hypervisor_is_named(files: dict[str, str], kind: str) -> None:
    assert read_host({"/proc/cpuinfo": VM, **files}).vm == kind


def test_bare_metal_of_a_cloud_is_no_virtual_machine() -> None:
    files = {
        "/proc/cpuinfo": "vendor_id : GenuineIntel\nflags : fpu avx\n",
        "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
        "/sys/class/dmi/id/product_name": "m5.metal\n",
    }
    assert read_host(files).vm is None


def test_wsl_2_is_a_limitation_and_known_to_the_other_parts() -> None:
    here = read_host({"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"})
    assert here.wsl
    assert codes(here.section)["host.wsl2"] == "limitation"


def test_wsl_1_is_told_apart() -> None:
    here = read_host({"/proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"})
    assert "host.wsl1" in codes(here.section)


def test_a_virtual_machine_is_a_note() -> None:
    assert codes(read_host({"/proc/cpuinfo": VM}).section)["host.virtualized"] == "note"


def test_rosetta_for_linux_makes_timings_meaningless() -> None:
    here = read_host({"/proc/cpuinfo": "vendor_id\t: VirtualApple\nflags\t: fpu\n"})
    assert codes(here.section)["host.emulated"] == "error"


def test_a_rootless_containers_capabilities_do_not_count_on_the_host() -> None:
    status = "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"
    here = read_host({"/proc/self/status": status, "/proc/self/uid_map": "0 1000 1\n"})
    assert here.capable(21)
    assert here.capable_on_host(21) is False


def test_the_effective_set_counts_and_not_the_bounding_one() -> None:
    status = "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"
    here = read_host({"/proc/self/status": status})
    assert (here.capable(21), here.euid) == (False, 1000)


def test_without_a_status_file_capabilities_are_unknown() -> None:
    here = read_host({})
    assert here.capable(21) is None
    assert fact(here.section, "host.cap_eff") is None


def test_an_overlay_with_a_runtimes_layers_is_a_container_in_a_cloud_machine() -> None:
    layers = "lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1/1/fs"
    files = {
        "/proc/cpuinfo": VM,
        "/proc/1/cgroup": "0::/\n",
        "/proc/self/mountinfo": f"1 0 0:5 / / rw - overlay overlay rw,{layers}\n",
    }
    assert read_host(files).container == "yes"


def test_a_live_systems_overlay_in_a_virtual_machine_is_uncertain() -> None:
    files = {
        "/proc/cpuinfo": VM,
        "/proc/1/cgroup": "0::/\n",
        "/proc/self/mountinfo": "1 0 0:5 / / rw - overlay /cow rw,lowerdir=/filesystem.squashfs\n",
    }
    assert read_host(files).container == "uncertain"
