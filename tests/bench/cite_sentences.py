"""Print expected against given verdicts over the handed sentences, and the time for a long text.

Usage: python -m tests.bench.cite_sentences FOLDER, where FOLDER holds sentences.json and store/.
"""

import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from perfcite.evidence.citations.check import check_citations
from perfcite.evidence.store import Store

WORDS = 10_000


def main(folder: Path) -> None:
    """Work on a copy of the store: it must not be written."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(folder / "store", Path(name) / "store")
        store = Store.open(Path(name) / "store")
        cases = json.loads((folder / "sentences.json").read_text())["sentences"]
        table: Counter[tuple[str, str]] = Counter()
        for case in cases:
            claims = check_citations(case["text"], store).data.claims
            for wanted in case["expect"]:
                given = [c.verdict for c in claims if c.quote == wanted["quote"]] or ["unchecked"]
                hit = wanted["verdict"] in given
                table[wanted["verdict"], wanted["verdict"] if hit else given[0]] += 1
        print("| expected | given | claims |\n| --- | --- | --- |")
        for (wanted, given), count in sorted(table.items()):
            print(f"| {wanted} | {given} | {count} |")
        right = sum(n for (w, g), n in table.items() if w == g)
        false = sum(n for (w, g), n in table.items() if g == "supported" != w)
        print(f"\n{right} of {table.total()} right, {false} falsely supported")
        text = long_text([case["text"] for case in cases])
        started = time.perf_counter()
        found = check_citations(text, store)
        spent = time.perf_counter() - started
        print(
            f"{len(text.split())} words, {text.count('ev_')} ids, {len(found.data.claims)} claims: "
            f"{spent:.2f} s (goal 0.5 s)"
        )


def long_text(sentences: list[str]) -> str:
    """Make a text of 10,000 words with about 200 ids: the sentences among plain prose."""
    prose = "The kernel was rewritten so that each warp loads its tile once and reuses it. " * 4
    parts: list[str] = []
    words = ids = number = 0
    while words < WORDS:
        sentence = sentences[number % len(sentences)] if ids < 200 else ""
        parts += [sentence, prose + "\n\n"]
        ids += sentence.count("ev_")
        words += len(sentence.split()) + len(prose.split())
        number += 1
    return " ".join(parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
