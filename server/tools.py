"""The tools, each declared once. MCP schemas, the command line, docs/tools.md and the tests read this."""

from ..evidence.errors import NextCall
from . import answers, checking, citing, comparing, lookup, measuring
from .definition import Tool

SERVER_NAME = "perfcite"
INSTRUCTIONS = (
    "Measure instead of guess. Order of work: doctor (what is this machine, can it profile?), "
    "profiler_probe (does a capture really work?), check_correctness (does the optimised model still "
    "generate the same?). Each call keeps an evidence record and returns its id. Cite every number as "
    "the answer's cite_as gives it: `12.34 ms [ev_…]`. A verdict is PASS, FAIL or UNPROVEN; UNPROVEN is "
    "no PASS. Say what is in missing and limitations. Details: get_evidence(evidence_id, section)."
)

DOCTOR = Tool(
    name="doctor",
    command="doctor",
    title="Doctor",
    description=(
        "Say what this machine is and whether it can profile; call it first, and whenever numbers "
        "make no sense. Returns findings with fixes, what can be measured (GPU timeline and counters, "
        "CPU, Python), GPUs, engines. Changes nothing but keeps an evidence record."
    ),
    also_for=(
        "system information, environment check, GPU shared or throttled, locked clocks, driver and "
        "CUDA versions, vLLM or SGLang version, container CPU quota, counter permission"
    ),
    arguments=measuring.DoctorArguments,
    run=measuring.doctor,
    output=answers.OUTPUT,
    fallback=NextCall("doctor"),
    idempotent=True,
    examples=({},),
)
PROBE = Tool(
    name="profiler_probe",
    command="probe",
    title="Probe the profilers",
    description=(
        "Really profile one tiny program with each profiler (ncu, nsys, perf, py-spy) before relying "
        "on it. Returns capture_ok true, false or null (not tried) for each, with error, cause and "
        "fix. Changes nothing but keeps an evidence record; may take minutes with a GPU."
    ),
    also_for=(
        "does nsys or ncu work here, ERR_NVGPUCTRPERM, no kernels were profiled, perf permission, "
        "ptrace, profiler test"
    ),
    arguments=measuring.ProbeArguments,
    run=measuring.profiler_probe,
    output=answers.OUTPUT,
    fallback=NextCall("profiler_probe"),
    examples=({},),
)
CHECK = Tool(
    name="check_correctness",
    command="check",
    title="Check correctness",
    description=(
        "Does an optimisation change what the model generates? Compares two greedy runs: PASS, FAIL "
        "or UNPROVEN, divergences classed near tie or decisive. Keeps a record."
    ),
    also_for="optimization, quantization, bf16, same output, logprobs",
    arguments=checking.CheckArguments,
    run=checking.check_correctness,
    cli_only=checking.RARE,
    output=answers.OUTPUT,
    fallback=NextCall("list_evidence"),
    positionals=("reference", "candidate"),
    examples=({"reference": "ref.jsonl", "candidate": "cand.jsonl"},),
)
COMPARE = Tool(
    name="compare_evidence",
    command="compare",
    title="Compare evidence",
    description=(
        "Compare two evidence records metric by metric: what got better or worse, with intervals, and "
        "whether the two machines are comparable at all. Returns PASS (nothing worse), FAIL or "
        "UNPROVEN. Keeps an evidence record."
    ),
    also_for=(
        "before and after, speedup between two benchmarks, regression check, significant difference, "
        "A/B performance comparison"
    ),
    arguments=comparing.CompareArguments,
    run=comparing.compare_evidence,
    output=answers.OUTPUT,
    fallback=NextCall("list_evidence"),
    positionals=("baseline", "candidate"),
    examples=({"baseline": "ev_k4tjim", "candidate": "ev_f5f35f"},),
)
CITE = Tool(
    name="check_citations",
    command="cite",
    title="Check citations",
    description=(
        "Check every evidence id and the number beside it in a text, before publishing it. Returns "
        "PASS, FAIL or UNPROVEN and for each claim: supported, contradicted (with the right value), "
        "unsupported, not_found or tampered. Keeps an evidence record."
    ),
    also_for="verify a performance claim, review a pull request, fact check numbers, speedup claims",
    arguments=citing.CiteArguments,
    run=citing.check_citations,
    output=answers.OUTPUT,
    fallback=NextCall("list_evidence"),
    positionals=("path",),
    cli_only=citing.RARE,
    examples=({"text": "12.34 ms [ev_k4tjimcqqdbwpbfb]"},),
)
LIST = Tool(
    name="list_evidence",
    command="list",
    title="List evidence",
    description=(
        "List the kept evidence records, newest first, to find an id again. Returns id, time, kind, "
        "verdict and summary of each. Reads only."
    ),
    also_for="history, earlier results, find a record, what was measured",
    arguments=lookup.ListArguments,
    run=lookup.list_evidence,
    output=lookup.LIST_OUTPUT,
    fallback=NextCall("list_evidence"),
    examples=({}, {"kind": "correctness", "limit": 5}),
)
GET = Tool(
    name="get_evidence",
    command="show",
    title="Show evidence",
    description=(
        "Show one evidence record, or one section of it, after verifying its bytes and inputs. "
        "Returns the fields; long arrays come in pages. Reads only."
    ),
    also_for="details of a result, read a record again, findings, facts, metrics, verify an id",
    arguments=lookup.GetArguments,
    run=lookup.get_evidence,
    output=lookup.GET_OUTPUT,
    fallback=NextCall("list_evidence"),
    positionals=("evidence_id",),
    examples=({"evidence_id": "ev_k4tjim"},),
)
TOOLS: tuple[Tool, ...] = (DOCTOR, PROBE, CHECK, COMPARE, CITE, LIST, GET)
BY_NAME = {tool.name: tool for tool in TOOLS}
