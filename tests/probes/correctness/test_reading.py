"""What may stand in a recording, and how everything else is refused: by file and line, briefly."""

import gzip
import json
from typing import Any

import pytest

from perfcite.evidence.errors import InputError
from perfcite.probes.correctness import lines
from perfcite.probes.correctness.check import Criteria, FileSource, check

from .conftest import Judge, Recorder

GOOD = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1,2.0,3]", "token 1 is 2.0"),
        ('[1,"2",3]', 'token 1 is "2"'),
        ("[1,true,3]", "token 1 is true"),
        ("[1,null,3]", "token 1 is null"),
        ("[1,-100,3]", "padding label"),
        ("[1,2147483648]", "token 1 is 2147483648"),
        ("[1,9007199254740993]", "token 1 is 9007199254740993"),
        ("[1,99999999999999999999]", "token 1 is 1e+20"),
        ("[1,1e400]", "infinity"),
        ("[1,NaN]", "NaN"),
        ("[1e2]", "token 0 is 100.0"),
        ("[[1,2],[3]]", "not JSON Lines"),
        ("[1,2", "ends early"),
        ("[01]", "not JSON"),
        ("[1,,2]", "not JSON"),
        ("[1,]", "not JSON"),
        ("7", "neither a list of token ids nor an object"),
        ('"1 2 3"', "neither a list of token ids nor an object"),
        ("data: {}", "stream=false"),
        ('{"token_ids":[1]}', 'rename "token_ids"'),
        ('{"text":"a"}', 'no "tokens"'),
        ('{"tokens":"1 2"}', '"tokens" is a string'),
        ('{"tokens":null}', '"tokens" is null'),
        ('{"tokens":{"0":1}}', '"tokens" is an object'),
        ('{"tokens":[1],"tokens":[1]}', 'the key "tokens" stands twice'),
        ('{"tokens":[1],"meta":{"a":1,"a":2}}', 'the key "a" stands twice'),
        ('{"tokens":[1],"id":1.5}', '"id" is a fraction'),
        ('{"tokens":[1],"id":["a"]}', '"id" is a list'),
        ('{"tokens":[1],"prompt_len":-1}', '"prompt_len" is -1'),
        ('{"kind":"tokens","more":[1,2],"tokens":[true]}', "token 0 is true"),
        ('{"more":{"tokens":[1,2]},"tokens":[true]}', "token 0 is true"),
        ('{"text":"\\"tokens\\":[1]","tokens":[true]}', "token 0 is true"),
    ],
)
def test_what_is_no_list_of_ids_is_refused_by_file_and_line(
    judge: Judge, line: str, says: str
) -> None:
    with pytest.raises(InputError) as error:
        judge([[7], [8]], [[7], line])
    message = str(error.value)
    assert "candidate.jsonl line 2: " in message
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_a_wrong_line_is_found_on_either_side_and_on_both(judge: Judge, side: str) -> None:
    bad = [[1, 2], "[true]"]
    with pytest.raises(InputError, match="line 2"):
        judge(bad if side == "reference" else GOOD, bad if side == "candidate" else GOOD)
    with pytest.raises(InputError, match=r"reference.jsonl line 2"):
        judge(bad, bad)


@pytest.mark.parametrize("bad", ["[1,true]", "[1,,2]", "[01]", "[1,3000000000]", "[1 2]", "[-1]"])
def test_a_wrong_line_is_found_deep_in_a_file_where_blocks_are_read(judge: Judge, bad: str) -> None:
    many: list[Any] = [[n, n + 1, 5] for n in range(3000)]
    with pytest.raises(InputError, match="line 2501"):
        judge([*many[:2500], bad, *many], [*many[:2500], bad, *many])
    with pytest.raises(InputError, match=r"candidate.jsonl line 2501"):
        judge(many, [*many[:2500], bad, *many[2501:]])


def test_a_line_that_starts_as_the_reference_does_is_read_as_strictly(judge: Judge) -> None:
    for bad in ("[1,2,3,]", "[1,2,true]", "[1,2,3000000000]", "[1,2,-3]", "[1,2,[3]]", "[1,2,3.5]"):
        with pytest.raises(InputError, match=r"candidate.jsonl line 1"):
            judge(["[1,2,3,4]"], [bad])


def test_a_long_line_is_not_echoed(judge: Judge) -> None:
    with pytest.raises(InputError) as error:
        judge(GOOD, [[1, 2, 3], json.dumps(["secret text " * 500])])
    assert len(str(error.value).replace(error.value.args[0].split(" line")[0], "")) < 200


def test_nesting_beyond_the_bound_is_refused_not_a_crash(judge: Judge) -> None:
    with pytest.raises(InputError, match="nested deeper than the bound"):
        judge(GOOD, ["[" * 100_000 + "]" * 100_000, [4, 5, 6]])
    deep = '{"tokens":[1],"more":' + '{"a":' * 900 + "1" + "}" * 900 + "}"
    assert judge([deep], [deep]).verdict in ("PASS", "UNPROVEN")


def test_a_byte_order_mark_crlf_and_blank_lines_at_the_end_are_read(judge: Judge) -> None:
    assert (
        judge(b"[1,2,3]\n[4,5,6]\n", b"\xef\xbb\xbf[1,2,3]\r\n[4, 5, 6]\r\n\r\n \n").verdict
        == "PASS"
    )


def test_a_blank_line_inside_is_refused_for_it_may_be_a_lost_generation(judge: Judge) -> None:
    with pytest.raises(InputError, match=r"candidate.jsonl line 2: a blank line inside"):
        judge(GOOD, ["[1,2,3]", "", "[4,5,6]"])


def test_a_line_is_cut_at_line_feeds_alone(judge: Judge) -> None:
    line = json.dumps({"tokens": [1], "text": "a\u2028b\u0085c"}, ensure_ascii=False)
    assert judge([line], [line]).verdict == "PASS"


@pytest.mark.parametrize("last", [b"[4,5,6]\n", b"[4,5,6]"])
def test_the_last_line_needs_no_line_feed(judge: Judge, last: bytes) -> None:
    assert judge(b"[1,2,3]\n" + last, GOOD).data.sequences == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x00\x01\x02\x03" * 20, "binary file"),
        (b"PK\x03\x04....", "zip archive"),
        (b"BZh91AY", "bzip2"),
        ("[1,2]\n".encode("utf-16"), "UTF-16"),
        (b'{"tokens":[1],"text":"\xff\xfe"}\n', "not UTF-8"),
        (b"tokens,logprobs\n1,2\n", "not JSON"),
        (b"\x1f\x8b\x08\x00garbage", "damaged"),
    ],
)
def test_a_file_of_another_kind_is_named_as_that(judge: Judge, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        judge(GOOD, content)
    assert "candidate.jsonl" in str(error.value)


def test_gzip_is_known_by_its_first_bytes_and_hashed_as_it_lies_on_disk(judge: Judge) -> None:
    packed = gzip.compress(b"[1,2,3]\n") + gzip.compress(b"[4,5,6]\n")
    found = judge(GOOD, packed)
    assert found.verdict == "PASS"
    assert found.inputs[1].bytes == len(packed)
    with pytest.raises(InputError, match="damaged"):
        judge(GOOD, packed[:-9])


def test_zstd_without_a_module_for_it_is_one_clear_error(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(lines, "import_module", nothing)
    with pytest.raises(InputError, match="zstd-compressed"):
        judge(GOOD, b"\x28\xb5\x2f\xfd" + b"rest")


def test_an_order_that_differs_is_read_by_position_from_a_compressed_file_too(judge: Judge) -> None:
    rows = [{"id": f"p{n}", "tokens": [n, n + 1]} for n in range(50)]
    packed = gzip.compress("".join(json.dumps(r) + "\n" for r in reversed(rows)).encode())
    found = judge(rows, packed)
    assert (found.verdict, found.data.pairing["rule"]) == ("PASS", "id")


def test_a_missing_file_a_directory_and_a_pipe_are_refused(record: Recorder, tmp_path: Any) -> None:
    here = record("here.jsonl", GOOD)
    for path, says in (
        (tmp_path / "gone.jsonl", "no such file"),
        (tmp_path, "is a directory"),
        ("/dev/null", "not a regular file"),
        ("bad\0name", "cannot be read"),
    ):
        with pytest.raises(InputError, match=says):
            check(here, FileSource(path), Criteria())


def test_a_file_that_is_written_to_meanwhile_is_refused(record: Recorder, tmp_path: Any) -> None:
    left, right = record("a.jsonl", GOOD), record("b.jsonl", GOOD)

    def grow(done: int, total: int) -> None:
        with open(tmp_path / "b.jsonl", "a") as file:
            file.write("[9]\n")

    with pytest.raises(InputError, match=r"b.jsonl changed"):
        check(left, right, Criteria(), tick=grow)


def test_lines_and_files_are_bounded(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 1000)
    monkeypatch.setattr(lines, "CHUNK", 256)
    with pytest.raises(InputError, match=r"line 1: longer than the bound"):
        judge(GOOD, [list(range(2000))])
    monkeypatch.setattr(lines, "SIZE_LIMIT", 500)
    with pytest.raises(InputError, match="over the bound"):
        judge([[1]] * 400, [[1]] * 400)


def test_progress_counts_bytes_and_may_cancel(record: Recorder) -> None:
    left, right = record("a.jsonl", GOOD), record("b.jsonl", GOOD)
    seen: list[tuple[int, int]] = []
    check(left, right, Criteria(), tick=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (left.size + right.size, left.size + right.size)

    class Cancelled(Exception):
        pass

    def cancel(done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        check(left, right, Criteria(), tick=cancel)


@pytest.mark.parametrize(
    ("logprobs", "says"),
    [
        ([-0.1], "1 log-probabilities for 2 tokens"),
        ([None, -0.1, -0.2], "prompt's first null"),
        ([-0.1, "x"], "log-probability 1 is a string"),
        ([-0.1, True], "log-probability 1 is a boolean"),
        ([-0.1, -9999.0], "minus infinity"),
        ([-0.1, -3.4028234663852886e38], "minus infinity"),
        ([0.9, 0.8], "probabilities instead of logarithms"),
        ([-0.1, 0.5], "above 0"),
        ({"0": -0.1}, '"logprobs" is an object'),
        ([[-0.1], [-0.2]], "is a list"),
    ],
)
def test_unsound_logprobs_leave_a_note_and_block_only_what_needs_them(
    judge: Judge, logprobs: Any, says: str
) -> None:
    good = [{"tokens": [5, 6], "logprobs": [-0.1, -0.2]}]
    bad = [{"tokens": [5, 6], "logprobs": logprobs}]
    free = judge(good, bad)
    assert free.verdict == "PASS"
    assert any(says in text for text in free.limitations)
    asked = judge(good, bad, logprob_tol=0.5)
    assert asked.verdict == "UNPROVEN"
    assert says in asked.reason
    assert "line 1" in asked.reason


def test_a_value_barely_above_zero_or_a_minus_zero_is_a_logprob(judge: Judge) -> None:
    rows = [{"tokens": [5, 6, 7], "logprobs": [1e-7, -0.0, 0]}]
    assert judge(rows, rows, logprob_tol=0.0).verdict == "PASS"


def test_null_logprobs_are_skipped_but_leave_a_tolerance_unproven(judge: Judge) -> None:
    left = [{"tokens": [5, 6], "logprobs": [None, -0.2]}]
    right = [{"tokens": [5, 6], "logprobs": [-0.1, -0.3]}]
    free = judge(left, right)
    assert [m.value for m in free.metrics if m.name == "max_logprob_abs_diff"] == [
        pytest.approx(0.1)
    ]
    asked = judge(left, right, logprob_tol=0.5)
    assert asked.verdict == "UNPROVEN"
    assert "1 of 2 agreeing positions (50 %)" in asked.reason


def test_zstd_is_read_frame_by_frame_and_a_cut_file_is_damaged(judge: Judge) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = b"".join(zstandard.ZstdCompressor().compress(t) for t in (b"[1,2,3]\n", b"[4,5,6]\n"))
    assert judge(GOOD, packed).verdict == "PASS"
    for cut in (packed[:-3], packed[:6], packed + b"garbage"):
        with pytest.raises(InputError, match="damaged"):
            judge(GOOD, cut)
