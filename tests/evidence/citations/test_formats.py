"""What a CI job and a terminal show."""

from perfcite.evidence.citations.formats import github, table
from tests.evidence.citations.conftest import Shelf


def test_wrong_numbers_are_errors_and_uncited_ones_warnings(shelf: Shelf) -> None:
    result = shelf.check("8.57 ms [{base}]\n\nIt takes 8.47 ms.\n")
    one, two = github(result, "docs/pr.md")
    assert one.startswith("::error file=docs/pr.md,line=1,col=1::8.57 ms: contradicted")
    assert two.startswith("::warning file=docs/pr.md,line=3,col=10::8.47 ms: unsupported")


def test_annotations_are_escaped(shelf: Shelf) -> None:
    line = github(shelf.check("87 % occupancy [{prof}]"), "a:b,c%\nd.md")[0]
    assert line.startswith("::error file=a%3Ab%2Cc%25%0Ad.md,line=1,col=1::87 %25: contradicted")
    assert "\n" not in line


def test_a_bad_id_is_annotated_once(shelf: Shelf) -> None:
    text = "8.47 ms [ev_aaaabbbbccccdddd]. See ev_bbbbccccddddeeee too."
    lines = github(shelf.check(text), "x.md")
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error"]
    assert "ev_bbbbccccddddeeee not found" in lines[1]


def test_a_flagged_ratio_is_a_warning(shelf: Shelf) -> None:
    lines = github(shelf.check("1.76x faster than L40S [{other}][{base}]"), "x.md")
    assert len(lines) == 1
    assert lines[0].startswith("::warning")
    assert "not_comparable: gpu, host, sm_clock_mhz" in lines[0]


def test_a_clean_text_has_no_annotation(shelf: Shelf) -> None:
    assert github(shelf.check("8.47 ms [{base}]"), "x.md") == []


def test_the_table_shows_each_claim_and_each_bad_id(shelf: Shelf) -> None:
    shown = table(shelf.check("8.47 ms [{base}], 9.99 ms [{opt}]; see ev_aaaabbbbccccdddd"))
    lines = shown.splitlines()
    assert lines[0].split() == ["line", "quote", "verdict", "record", "why"]
    assert sum("contradicted" in line for line in lines[1:4]) == 1
    assert any("not_found" in line for line in lines)
    assert "assurance: same user" in shown
