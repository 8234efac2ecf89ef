"""Every form of nvidia-smi's output, on small texts of our own."""

import pytest

from perfcite.probes.doctor.nvidia_reading import Gpu, Reading, complete, same_bus
from perfcite.probes.doctor.nvidia_smi_cells import number, problem_in, reasons_of_mask, why_not
from perfcite.probes.doctor.nvidia_smi_document import parse_document
from perfcite.probes.doctor.nvidia_smi_lines import (
    QUERY,
    parse_apps,
    parse_banner,
    parse_csv,
    parse_list,
    parse_output,
    parse_table,
)

TEXT = """
==============NVSMI LOG==============

Driver Version                            : 610.62 [Deprecated; use KMD Version instead]
CUDA Version                              : 13.3 [Deprecated; use CUDA UMD Version instead]
KMD Version                               : 610.62
CUDA UMD Version                          : 13.3

Attached GPUs                             : 2
GPU 00000000:01:00.0
    Product Name                          : NVIDIA L4
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : N/A
    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000001
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Active
    FB Memory Usage
        Total                             : 23034 MiB
        Reserved                          : 300 MiB
        Used                              : 0 MiB
    Utilization
        GPU                               : 7 %
    GPU Power Readings
        Average Power Draw                : 30.50 W
        Current Power Limit               : 72.00 W
    Clocks
        SM                                : 2040 MHz
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4242
            Type                          : C
            Name                          : /home/alice/venv/bin/python
            Used GPU Memory               : 512 MiB
GPU 00000000:02:00.0
    Product Name                          : GPU is lost
    FB Memory Usage
        Total                             : GPU is lost
"""


def test_the_indented_text_gives_the_same_facts_as_the_xml() -> None:
    document = """<?xml version="1.0" ?>
    <!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
    <nvidia_smi_log><kmd_version>610.62</kmd_version><cuda_umd_version>13.3</cuda_umd_version>
    <attached_gpus>2</attached_gpus><gpu id="00000000:01:00.0">
    <product_name>NVIDIA L4</product_name><persistence_mode>Enabled</persistence_mode>
    <mig_mode><current_mig>N/A</current_mig></mig_mode>
    <clocks_event_reasons><clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
    <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
    <clocks_event_reason_hw_thermal_slowdown>Active
    </clocks_event_reason_hw_thermal_slowdown></clocks_event_reasons>
    <fb_memory_usage><total>23034 MiB</total><reserved>300 MiB</reserved><used>0 MiB</used>
    </fb_memory_usage><utilization><gpu_util>7 %</gpu_util></utilization>
    <gpu_power_readings><average_power_draw>30.50 W</average_power_draw>
    <current_power_limit>72.00 W</current_power_limit></gpu_power_readings>
    <clocks><sm_clock>2040 MHz</sm_clock></clocks>
    <processes><process_info><pid>4242</pid><type>C</type>
    <process_name>/home/alice/venv/bin/python</process_name><used_memory>512 MiB</used_memory>
    </process_info></processes></gpu></nvidia_smi_log>"""
    text, xml = parse_document(TEXT, "q"), parse_document(document, "x")
    assert text.gpus
    assert xml.gpus
    assert text.gpus[0].row() == xml.gpus[0].row()
    assert (text.driver, text.cuda) == (xml.driver, xml.cuda) == ("610.62", "13.3")
    row = text.gpus[0].row()
    assert row["clocks_event_reasons"] == ["sw_power_cap", "hw_thermal_slowdown"]
    assert row["processes"] == [{"pid": 4242, "name": "python", "memory_mib": 512}]


def test_a_lost_gpu_is_lost_and_its_values_are_unknown() -> None:
    gpus = parse_document(TEXT, "q").gpus
    assert gpus
    assert gpus[1].facts["state"] == "lost"
    assert gpus[1].facts["memory_total_mib"]["reason"] == "driver_error: GPU is lost"


def test_a_cut_off_xml_gives_the_gpus_before_the_cut() -> None:
    whole = '<gpu id="0:1:0.0"><product_name>NVIDIA L4</product_name></gpu>'
    reading = parse_document(f"<nvidia_smi_log>{whole}<gpu id='0:2:0.0'><product_na", "x")
    assert [g.value("name") for g in reading.gpus or []] == ["NVIDIA L4"]


@pytest.mark.parametrize(
    "power",
    [
        "<power_readings><power_draw>21.58 W</power_draw></power_readings>",
        "<gpu_power_readings><power_draw>21.58 W</power_draw></gpu_power_readings>",
        (
            "<gpu_power_readings><average_power_draw>N/A</average_power_draw>"
            "<instant_power_draw>21.58 W</instant_power_draw></gpu_power_readings>"
        ),
        (
            "<gpu_power_readings><power_draw> N/A </power_draw>"
            "<average_power_draw>21.58 W</average_power_draw></gpu_power_readings>"
        ),
    ],
)
def test_power_is_found_wherever_a_driver_puts_it(power: str) -> None:
    gpus = parse_document(f"<nvidia_smi_log><gpu id='a'>{power}</gpu></nvidia_smi_log>", "x").gpus
    assert gpus
    assert gpus[0].value("power_w") == 21.58


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("[N/A]", "not_supported"),
        ("N/A", "not_supported"),
        ("[Not Supported]", "not_supported"),
        ("Requested functionality has been deprecated", "not_supported"),
        ("[Function Not Found]", "not_supported"),
        ("[Insufficient Permissions]", "no_permission"),
        ("ERR!", "driver_error: ERR!"),
        ("[Unknown Error]", "driver_error: Unknown Error"),
        ("[GPU requires reset]", "driver_error: GPU requires reset"),
        ("[Some New Trouble]", "driver_error: Some New Trouble"),
        ("0 %", None),
        ("0 MiB", None),
    ],
)
def test_a_cell_without_a_value_says_why(cell: str, reason: str | None) -> None:
    assert why_not(cell) == reason
    fact = number(cell)
    assert fact == 0 if reason is None else fact["reason"] == reason


def test_a_mask_names_its_bits_and_keeps_those_without_a_name() -> None:
    assert reasons_of_mask(0x48) == ["hw_slowdown", "hw_thermal_slowdown"]
    assert reasons_of_mask(0x1001) == ["gpu_idle", "0x1000"]
    assert reasons_of_mask(0) == []


@pytest.mark.parametrize(
    ("output", "status", "problem"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", 18, "library_mismatch"),
        ("Failed to initialize NVML: Unknown Error", 255, "unknown_error"),
        ("Failed to initialize NVML: Insufficient Permissions", 4, "no_permission"),
        ("Failed to initialize NVML: GPU access blocked by the operating system", 17, "blocked"),
        ("No devices were found", 6, "no_devices"),
        ("No devices were found. Please make sure /dev/nvidia* files are …", 6, "no_permission"),
        ("something in another language", 9, "driver_not_loaded"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 12, "library_missing"),
        ("GPU 0: NVIDIA L4 (UUID: GPU-1)", 0, None),
    ],
)
def test_known_sentences_and_statuses_are_problems(
    output: str, status: int, problem: str | None
) -> None:
    found = problem_in(output, status)
    assert (found[0] if found else None) == problem


@pytest.mark.parametrize("blank", ["", " "])
def test_a_gpu_without_a_handle_is_named_with_and_without_the_blank(blank: str) -> None:
    line = f"Unable to determine the device handle for GPU{blank}0000:BA:00.0: Unknown Error"
    assert parse_output(line + "\n", 255, "nvidia-smi").lost == [line]


@pytest.mark.parametrize(
    ("text", "smi", "driver", "cuda"),
    [
        (
            "| NVIDIA-SMI 555.42.03   Driver Version: 555.85   CUDA Version: 12.5     |",
            *("555.42.03", "555.85", "12.5"),
        ),
        (
            "| NVIDIA-SMI 610.62      KMD Version: 610.62   CUDA UMD Version: 13.3     |",
            *("610.62", "610.62", "13.3"),
        ),
        (
            (
                "NVIDIA-SMI version  : 610.57.04\nNVML version        : 610.57\n"
                'DRIVER version      : Deprecated, see "KMD version" instead\n'
                "KMD version         : 610.57.04\nCUDA UMD version    : 13.3\n"
            ),
            *("610.57.04", "610.57.04", "13.3"),
        ),
        (
            "| NVIDIA-SMI 580.105.06  Driver Version: 580.105.06  CUDA Version: N/A |",
            "580.105.06",
            "580.105.06",
            None,
        ),
        ("NVIDIA-SMI has failed because it couldn't communicate", None, None, None),
    ],
)
def test_versions_are_read_under_their_old_and_new_names(
    text: str, smi: str | None, driver: str | None, cuda: str | None
) -> None:
    banner = parse_banner(text, "nvidia-smi")
    assert (banner.smi_version, banner.driver, banner.cuda) == (smi, driver, cuda)


def test_a_list_names_gpus_and_their_instances() -> None:
    gpus = parse_list(
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
        "  MIG 3g.20gb     Device  0: (UUID: MIG-2)\n"
        "GPU 1: Orin (nvgpu) (UUID: GPU-3)\n"
    )
    assert [g.value("name") for g in gpus] == ["NVIDIA A100-SXM4-40GB", "Orin (nvgpu)"]
    assert gpus[0].slices
    assert (gpus[0].slices[0].profile, gpus[0].slices[0].uuid) == ("3g.20gb", "MIG-2")


def test_a_csv_is_read_by_its_header_whatever_was_asked() -> None:
    gpus = parse_csv("clocks_event_reasons.active, memory.total [MiB]\n0x0000000000000004, 23034\n")
    assert gpus[0].value("clocks_event_reasons") == ["sw_power_cap"]
    assert gpus[0].value("memory_total_mib") == 23034


def test_a_csv_without_its_header_is_read_only_where_it_fits_the_question() -> None:
    assert parse_csv("0, NVIDIA L4, 23034, 12\n", QUERY)[0].value("memory_used_mib") == 12
    assert parse_csv("7325, 24564, 78\n", QUERY) == []
    assert parse_csv("NVIDIA L4, 8.9\n", QUERY) == []
    assert parse_csv("some text, with a comma\n", ()) == []


def test_processes_keep_their_file_name_only() -> None:
    apps = parse_apps(
        "pid, process_name, used_gpu_memory [MiB]\n"
        "42, C:\\Users\\alice\\ffmpeg.exe, [N/A]\n43, [Insufficient Permissions], 10 MiB\n"
    )
    assert apps
    assert [(p.pid, p.name, p.memory_mib) for _, p in apps] == [
        (42, "ffmpeg.exe", None),
        (43, None, 10),
    ]


def test_a_table_is_read_with_two_lines_a_gpu_and_with_three() -> None:
    gpus = parse_table(
        "|   0  Tesla V100-SXM2...  On   | 00000004:04:00.0 Off |                    0 |\n"
        "| N/A   29C    P0    37W / 300W |      0MiB / 16130MiB |      0%      Default |\n"
        "+-------------------------------+----------------------+----------------------+\n"
        "|   1  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |     N/A |\n"
        "| N/A   40C    P8              4W /  N/A  | Not Supported          |      0%  Default |\n"
        "|                                         |                        |      N/A |\n"
    )
    assert [g.value("memory_total_mib") for g in gpus] == [16130, None]
    assert gpus[1].facts["memory_total_mib"]["reason"] == "not_supported"
    assert (gpus[1].value("temperature_c"), gpus[1].value("power_w")) == (40, 4)


def test_two_sources_complete_each_other_by_pci_address() -> None:
    first = Reading("a", gpus=[Gpu(0, bus_id="00000000:01:00.0", facts={"name": "A"})])
    second = Reading(
        "b",
        gpus=[
            Gpu(0, bus_id="0000:02:00.0", facts={"pstate": "P8"}),
            Gpu(1, bus_id="0000:01:00.0", facts={"pstate": "P0", "name": "B"}),
        ],
    )
    complete(first, second)
    assert first.gpus
    assert first.gpus[0].facts == {"name": "A", "pstate": "P0"}
    assert same_bus("0000000F:01:00.0", "000f:01:00.0")
