"""The long forms of nvidia-smi: `-q -x` (XML) and `-q` (indented text), read by one table of names.

The two carry the same tree: folded to lower case with underscores, most labels of the text are the
tags of the XML. Fields move between drivers (power since 535, reasons since 535, versions since 610),
so each fact lists every place it was seen at, the newest first.

Source: https://docs.nvidia.com/deploy/nvidia-smi/ and nvsmi_device_v9 to v13 documents.
"""

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from .nvidia_reading import Gpu, Process, Reading, Slice
from .nvidia_smi_cells import number, reason_name, switch, unusable, why_not, word
from .section import unknown, value_of

FIELDS: tuple[tuple[str, Callable[[str], Any], tuple[str, ...]], ...] = (
    ("name", word, ("product_name",)),
    ("memory_total_mib", number, ("fb_memory_usage/total",)),
    ("memory_used_mib", number, ("fb_memory_usage/used",)),
    ("memory_reserved_mib", number, ("fb_memory_usage/reserved",)),
    ("pstate", word, ("performance_state",)),
    ("persistence", switch, ("persistence_mode",)),
    ("clock_sm_mhz", number, ("clocks/sm_clock", "clocks/sm")),
    ("clock_mem_mhz", number, ("clocks/mem_clock", "clocks/memory")),
    ("clock_sm_max_mhz", number, ("max_clocks/sm_clock", "max_clocks/sm")),
    ("clock_mem_max_mhz", number, ("max_clocks/mem_clock", "max_clocks/memory")),
    (
        "power_w",
        number,
        (
            "gpu_power_readings/instant_power_draw",
            "gpu_power_readings/instantaneous_power_draw",
            "gpu_power_readings/average_power_draw",
            "gpu_power_readings/power_draw",
            "power_readings/power_draw",
        ),
    ),
    (
        "power_limit_w",
        number,
        (
            "gpu_power_readings/current_power_limit",
            "gpu_power_readings/enforced_power_limit",
            "power_readings/enforced_power_limit",
            "power_readings/power_limit",
        ),
    ),
    (
        "power_limit_default_w",
        number,
        ("gpu_power_readings/default_power_limit", "power_readings/default_power_limit"),
    ),
    ("temperature_c", number, ("temperature/gpu_temp", "temperature/gpu_current_temp")),
    ("utilization_pct", number, ("utilization/gpu_util", "utilization/gpu")),
    ("mig", switch, ("mig_mode/current_mig", "mig_mode/current")),
    ("compute_mode", word, ("compute_mode",)),
    ("compute_capability", word, ("cuda_compute_capability", "compute_capability")),
    ("virtualization", word, ("gpu_virtualization_mode/virtualization_mode",)),
    ("licence", word, ("vgpu_software_licensed_product/license_status",)),
    ("display_active", switch, ("display_active",)),
    (
        "clock_app_mhz",
        number,
        ("applications_clocks/graphics_clock", "applications_clocks/graphics"),
    ),
    (
        "clock_app_default_mhz",
        number,
        ("default_applications_clocks/graphics_clock", "default_applications_clocks/graphics"),
    ),
    ("remap_pending", switch, ("remapped_rows/remapped_row_pending", "remapped_rows/pending")),
    (
        "retirement_pending",
        switch,
        (
            "retired_pages/pending_retirement",
            "retired_pages/pending_blacklist",
            "retired_pages/pending_page_blacklist",
        ),
    ),
)
_REASONS = ("clocks_event_reasons", "clocks_throttle_reasons")


def looks_like_document(text: str) -> bool:
    """Tell whether an output is one of the two long forms, or a part of one."""
    return "<nvidia_smi_log" in text or "NVSMI LOG" in text or _is_query_text(text)


def parse_document(text: str, source: str) -> Reading:
    """Read an `-q -x` or `-q` output; a cut-off one gives what came before the cut."""
    root = _xml(text) if "<nvidia_smi_log" in text else _tree(text)
    reading = Reading(source)
    if root is None:
        return reading
    reading.driver = _version(root, "kmd_version", "driver_version")
    reading.cuda = _version(root, "cuda_umd_version", "cuda_version")
    attached = number(_text(root, "attached_gpus") or "")
    reading.attached = attached if isinstance(attached, int) else None
    blocks = root.findall("gpu")
    if not blocks and any(root.find(path.split("/")[0]) is not None for path in _GPU_LEVEL):
        blocks = [root]  # a part of a text, without the line that starts a GPU
    if blocks or reading.attached is not None:
        reading.gpus = [_gpu(block, index) for index, block in enumerate(blocks)]
    return reading


_GPU_LEVEL = ("product_name", "gpu_virtualization_mode", "vgpu_software_licensed_product")


def _gpu(block: Element, index: int) -> Gpu:
    gpu = Gpu(
        index=index,
        uuid=_plain(_text(block, "uuid") or _text(block, "gpu_uuid")),
        bus_id=_plain(block.get("id") or _text(block, "pci/pci_bus_id")),
    )
    for name, convert, paths in FIELDS:
        fact = _fact(block, convert, paths)
        if fact is not None:
            gpu.facts[name] = fact
    reasons = _active_reasons(block)
    if reasons is not None:
        gpu.facts["clocks_event_reasons"] = reasons
    gpu.facts["state"] = _state(block)
    gpu.processes = _processes(block)
    gpu.slices = _slices(block)
    return gpu


def _fact(block: Element, convert: Callable[[str], Any], paths: tuple[str, ...]) -> Any:
    """Take the first place that holds a value, else why the first of them holds none."""
    reason = None
    for path in paths:
        text = _text(block, path)
        if text is None:
            continue
        fact = convert(text)
        if value_of(fact) is not None:
            return fact
        reason = reason or fact
    return reason


def _active_reasons(block: Element) -> Any:
    section = next((s for s in map(block.find, _REASONS) if s is not None), None)
    if section is None:
        return None
    if not len(section):
        return unknown(why_not(section.text or "") or "parse_error")
    active = []
    for element in section.iter():
        name = reason_name(element.tag)
        if name and (element.text or "").strip() == "Active":
            active.append(name)
    return active


def _state(block: Element) -> str:
    for element in block.iter():
        state = unusable(element.text or "")
        if state is not None:
            return state
    return "ok"


def _processes(block: Element) -> list[Process] | None:
    section = block.find("processes")
    if section is None or (not len(section) and why_not(section.text or "None") is not None):
        # An empty XML element is an empty list; `N/A` is not.
        return None if section is None or (section.text or "").strip() else []
    listed = [*section.findall("process_info"), *section.findall("process_id")]
    return [_process(element) for element in listed]


def _process(element: Element) -> Process:
    pid = number(_text(element, "pid") or element.text or "")
    memory = number(_text(element, "used_memory") or _text(element, "used_gpu_memory") or "")
    kind = (_text(element, "type") or "C").strip()
    return Process(
        pid=value_of(pid),
        name=program_name(_text(element, "process_name") or _text(element, "name")),
        memory_mib=value_of(memory),
        kind="graphics" if kind == "G" else "mps" if kind.startswith("M") else "compute",
    )


def program_name(text: str | None) -> str | None:
    """Keep a process's file name only: the path may name a user, the arguments a secret."""
    if text is None or why_not(text) is not None:
        return None
    return re.split(r"[/\\]", text.strip())[-1] or None


def _slices(block: Element) -> list[Slice] | None:
    mode = switch(_text(block, "mig_mode/current_mig") or _text(block, "mig_mode/current") or "")
    if mode is not True:
        return None
    found = [*block.findall("mig_devices/mig_device"), *block.findall("mig_device")]
    if not found and block.find("mig_devices") is None and block.find("mig_device") is None:
        return None
    slices = []
    for position, element in enumerate(found):
        index = value_of(number(_text(element, "index") or ""))
        memory = _text(element, "fb_memory_usage/total")
        memory = memory or _text(element, "shared_fb_memory_usage/total")
        slices.append(
            Slice(
                index=index if isinstance(index, int) else position,
                memory_total_mib=number(memory or ""),
            )
        )
    return slices


def _text(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None or found.text is None else found.text.strip()


def _plain(text: str | None) -> str | None:
    return None if text is None or why_not(text) is not None else text


def _version(root: Element, *names: str) -> str | None:
    for name in names:
        found = re.match(r"\d+(?:\.\d+)+", _text(root, name) or "")
        if found:
            return found.group()
    return None


def _xml(text: str) -> Element | None:
    """Parse the XML; where it is cut off, up to the last whole GPU."""
    start = text.find("<nvidia_smi_log")
    whole = text[start:]
    for candidate in (whole, whole[: whole.rfind("</gpu>") + 6] + "</nvidia_smi_log>"):
        try:
            return ElementTree.fromstring(candidate)
        except ElementTree.ParseError:
            continue
    return None


_LINE = re.compile(r"^(\s*)(\S.*?)\s*(?::\s(.*)|:)?$")
_HEAD = re.compile(r"^GPU ([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+\.[0-9A-Fa-f]+)\s*$")


def _is_query_text(text: str) -> bool:
    keys = ("License Status", "Product Name", "Virtualization Mode", "FB Memory Usage")
    return any(re.search(rf"^\s+{key}\b.*", text, re.MULTILINE) for key in keys)


def _tree(text: str) -> Element:
    """Turn the indented `Key : Value` text into the elements that the XML would have."""
    root = Element("nvidia_smi_log")
    open_elements: list[tuple[int, Element]] = [(-1, root)]
    for line in text.splitlines():
        head = _HEAD.match(line)
        found = _LINE.match(line)
        if head:
            element = ElementTree.SubElement(root, "gpu", id=head.group(1))
            open_elements = [(-1, root), (0, element)]
            continue
        if not found or not line.strip() or line.startswith("="):
            continue
        indent = len(found.group(1))
        while open_elements[-1][0] >= indent and len(open_elements) > 1:
            open_elements.pop()
        element = ElementTree.SubElement(open_elements[-1][1], _tag(found.group(2)))
        element.text = found.group(3)
        open_elements.append((indent, element))
    return root


def _tag(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "_"
