"""Do the main job as an agent would: connect over MCP, measure, and cite the records by id.

Usage: main_job.py [REFERENCE CANDIDATE]. Needs only what perfcite itself needs.
"""

import sys
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

HERE = Path(__file__).parent


async def show_progress(progress: float, total: float | None, message: str | None) -> None:
    """Say on standard error what is being done."""
    print(f"  … {message}", file=sys.stderr)


async def main(reference: str, candidate: str) -> None:
    """Call the three tools and print each answer's text, then cite them."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "perfcite.server", "serve"])
    calls = [
        ("doctor", {}),
        ("profiler_probe", {}),
        ("check_correctness", {"reference": reference, "candidate": candidate}),
    ]
    cited = []
    async with Client(stdio_client(server)) as client:
        for tool, arguments in calls:
            print(f"\n== {tool}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})")
            result = await client.call_tool(tool, arguments, progress_callback=show_progress)
            print(result.content[0].text)
            if result.is_error:
                sys.exit(2)
            answer = result.structured_content
            cited.append(f"{answer['summary']} [{answer['evidence_id']}]")
    print("\n== cited")
    print("\n".join(cited))


if __name__ == "__main__":
    given = sys.argv[1:] or [str(HERE / "llama_kv_f16.jsonl"), str(HERE / "llama_kv_q8_0.jsonl")]
    anyio.run(main, *given)
