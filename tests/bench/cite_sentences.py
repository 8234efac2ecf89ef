"""The handed sentences, expected against given, as a table. Not collected by pytest.

Usage: python -m tests.bench.cite_sentences [FOLDER], where FOLDER holds sentences.json and store; the store
is copied first, since it must not be written. Ends with the share that is right, false support, and how many
numbers with one changed digit are still called supported.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from perfcite.evidence.citations.check import check_citations
from perfcite.evidence.store import Store
from tests.conftest import SHARED
from tests.evidence.citations.test_sentences import surviving


def rows(folder: Path, store: Store) -> list[tuple[str, str, str, str]]:
    """Give sentence, quote, expected and given verdict; `-` where there is none."""
    found = []
    for case in json.loads((folder / "sentences.json").read_text())["sentences"]:
        given = {c.quote: str(c.verdict) for c in check_citations(case["text"], store).data.claims}
        for expected in case["expect"]:
            quote, verdict = expected["quote"], expected["verdict"]
            found.append((case["text"], quote, verdict, given.pop(quote, "-")))
        found += [(case["text"], quote, "-", verdict) for quote, verdict in given.items()]
    return found


def main() -> int:
    """Print the table; 1 where fewer than 98 % are right or anything is falsely supported."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SHARED / "cases/citations")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(folder / "store", Path(scratch) / "store")
        store = Store.open(Path(scratch) / "store")
        table = rows(folder, store)
        cases = json.loads((folder / "sentences.json").read_text())["sentences"]
        mutants, alive = surviving([case["text"] for case in cases], store)
    print("| | quote | expected | given |")
    print("| --- | --- | --- | --- |")
    for _, quote, expected, given in table:
        print(f"| {'ok' if expected == given else 'WRONG'} | {quote} | {expected} | {given} |")
    right = sum(expected == given for _, _, expected, given in table)
    wrong_support = sum(e != g == "supported" for _, _, e, g in table)
    print(f"\n{right} of {len(table)} right, {wrong_support} falsely supported")
    print(f"{alive} of {mutants} numbers with a changed digit still supported")
    return int(right < 0.98 * len(table) or wrong_support > 0)


if __name__ == "__main__":
    sys.exit(main())
