"""Units, numbers, rounding and Markdown, each by itself."""

import pytest

from perfcite.evidence.citations import markup
from perfcite.evidence.citations.matching import Figure, holds, supports
from perfcite.evidence.citations.quantities import find
from perfcite.evidence.citations.units import conversion, recorded_unit, unit_after
from perfcite.evidence.records import UNITS

READ = [
    ("12,341 us", ["12,341 us"]),
    ("from 12.34 to 6.81 ms", ["12.34 ms", "6.81 ms"]),
    ("12.34 ± 0.05 ms", ["12.34 ms", "0.05 ms"]),
    ("1.8-1.9x", ["1.8x", "1.9x"]),
    ("12.34, 12.50 and 13.10 ms", ["12.34 ms", "12.50 ms", "13.10 ms"]),
    ("batch size 32 and 12.34 ms", ["32", "12.34 ms"]),
    ("1.81-fold", ["1.81-fold"]),
    ("1.81 times faster", ["1.81 times"]),
    ("3.2 GB per second", ["3.2 GB per second"]),
    ("12k tokens/s", ["12k tokens/s"]),
    ("3.1×10⁻⁵ and 3.1*10^-5", ["3.1×10⁻⁵", "3.1*10^-5"]),
    ("1 min 23 s", ["1 min 23 s"]),
    ("41 degrees C", ["41 degrees C"]),
    ("H200, A100-80GB, sm_90, bf16, 2.9.0, v1.2, 10:05, 2026-11-30, #12, 64x32, 7B, 3D", []),
    ("the 1990s", []),
    ("ran 8x H200", []),
]


@pytest.mark.parametrize(("text", "quotes"), READ)
def test_numbers_are_read_with_their_units(text: str, quotes: list[str]) -> None:
    assert [q.quote for q in find(text)] == quotes


def test_a_number_that_is_none_of_a_name_is_kept_apart() -> None:
    assert [q.nouns[0][0] for q in find("512 cases, 8 GPUs")] == ["cases", "GPUs"]


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_every_unit_that_records_are_written_in_is_read_back(unit: str) -> None:
    recorded = recorded_unit(unit)
    assert not recorded.dimension.startswith("unit ")
    if unit in ("1", "count", "ratio", "tokens"):
        return  # written without a unit, or as a noun
    written = unit_after(f"12.5 {unit} [", 4, whole=False)
    assert written is not None
    assert conversion(written.unit, recorded) == 1


def test_decimal_and_binary_bytes_are_different_units() -> None:
    factor = conversion(recorded_unit("GB"), recorded_unit("GiB"))
    assert factor == pytest.approx(1.073741824)
    assert conversion(recorded_unit("GB"), recorded_unit("GB/s")) is None


def figure(value: float, step: float, digits: int, hedge: str = "exact") -> Figure:
    return Figure(value, step, digits, hedge)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quoted", "recorded", "fits"),
    [
        (figure(12.34, 0.01, 4), 12.3412, True),
        (figure(12.34, 0.01, 4), 12.345, True),  # half a unit, either way
        (figure(12.35, 0.01, 4), 12.345, True),
        (figure(12.34, 0.01, 4), 12.3451, False),
        (figure(2, 1, 1), 1.8125, False),  # rounds to 2, and is 10 % off
        (figure(0, 0.1, 1), 0.0123, False),
        (figure(0, 1, 1), 0.0, True),
        (figure(2, 1, 1, "nearly"), 1.8125, True),
        (figure(2, 1, 1, "nearly"), 2.3, False),
        (figure(12, 1, 2, "about"), 12.9, True),
        (figure(12, 1, 2, "about"), 13.5, False),
        (figure(12.3, 0.1, 3, "about"), 13.2, False),
        (figure(12, 1, 2, "at least"), 12.3, True),
        (figure(12, 1, 2, "at least"), 11.9, False),
        (figure(12, 1, 2, "at most"), 12.3, False),
        (figure(2, 1, 1, "up to"), 1.81, False),
    ],
)
def test_a_recorded_number_supports_what_it_rounds_to(
    quoted: Figure, recorded: float, fits: bool
) -> None:
    assert supports(quoted, recorded) is fits


def test_a_wide_range_says_nothing() -> None:
    assert holds(figure(12, 1, 2), figure(13, 1, 2), 12.34)
    assert not holds(figure(1, 1, 1), figure(50, 1, 2), 12.34)
    assert not holds(figure(13, 1, 2), figure(12, 1, 2), 12.34)


@pytest.mark.parametrize(
    "source",
    [
        "**8.47** ms `x = 3` [a](http://b.c/d) <br> &nbsp; ~~1 ms~~ \\_ $1\\times$",
        "```\ncode\n```\ntext <!-- hidden --> more\r\n| a | b |\n",
        "[[[a](b)](c) ``a`b`` `` unclosed ` ![p](q)",
    ],
)
def test_markup_keeps_every_offset(source: str) -> None:
    assert len(markup.plain(source).text) == len(source)


def test_code_and_comments_hide_what_they_hold() -> None:
    made = markup.plain("a `b 1 ms` c\n\n```\n2 ms\n```\n<!-- 3 ms -->")
    assert "2 ms" not in made.text
    assert "3 ms" not in made.text
    assert made.text[slice(*made.code[0])] == "b 1 ms"
