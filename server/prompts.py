"""Three short recipes that name the tools in order and ask for ids in the answer."""

from collections.abc import Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

_KNOWN: dict[str, tuple[tuple[str, bool], ...]] = {
    "investigate_performance": (("question", False),),
    "verify_optimisation": (("reference", True), ("candidate", True)),
    "review_claims": (("text", True),),
}


def check(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse a wrong prompt call in words; the SDK would say only that something went wrong."""
    if name not in _KNOWN:
        message = f"Unknown prompt: {name[:40]!r}; known are {', '.join(_KNOWN)}"
        raise MCPError(code=INVALID_PARAMS, message=message)
    known = [argument for argument, _ in _KNOWN[name]]
    for argument, required in _KNOWN[name]:
        if required and not arguments.get(argument):
            raise MCPError(code=INVALID_PARAMS, message=f"{name}: {argument} is required")
    for argument in arguments:
        if argument not in known:
            message = f"{name} has no argument {argument[:40]!r}; known are {', '.join(known)}"
            raise MCPError(code=INVALID_PARAMS, message=message)


def add(server: MCPServer[Any]) -> None:
    """Register the prompts."""

    @server.prompt(title="Investigate performance")
    def investigate_performance(question: str = "why is this slow?") -> str:
        """Find out what limits performance here, from measurements."""
        return (
            f"Question: {question}\n"
            "1. Call doctor. Act on every error and warning first: they make numbers wrong.\n"
            "2. Call profiler_probe for the profilers you want; use only those with capture_ok true.\n"
            "3. Measure before and after each change, and change one thing at a time.\n"
            "Answer with every number as its cite_as gives it, and repeat the limitations."
        )

    @server.prompt(title="Verify an optimisation")
    def verify_optimisation(reference: str, candidate: str) -> str:
        """Show whether an optimisation keeps what the model generates."""
        return (
            "1. Call doctor, so that the machine is on record.\n"
            f"2. Call check_correctness(reference={reference!r}, candidate={candidate!r}).\n"
            "3. Report the verdict with its reason. UNPROVEN is no PASS: say what would settle it.\n"
            "Answer with the ids of both records, and every number as its cite_as gives it."
        )

    @server.prompt(title="Review claims")
    def review_claims(text: str) -> str:
        """Check a text's performance claims against the evidence that it cites."""
        return (
            "For each number in the text below, find the id beside it and call get_evidence.\n"
            "Say for each: supported, contradicted (with the recorded value), or no evidence cited.\n"
            "Use list_evidence where an id is missing. Answer with the ids.\n\n" + text
        )
