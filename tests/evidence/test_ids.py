import shutil
import subprocess
from pathlib import Path

import pytest

from perfcite.evidence.errors import InputError
from perfcite.evidence.ids import MAX_INT, canonical_bytes, evidence_id, normalise

LINE = "sha256sum {} | cut -c1-20 | tr a-f A-F | basenc --base16 -d | basenc --base32 | tr A-Z a-z"


def test_coreutils_give_the_same_id(tmp_path: Path) -> None:
    if shutil.which("basenc") is None:
        pytest.skip("no basenc here")
    content = canonical_bytes({"b": 1, "a": [1.5, "é"]})
    (tmp_path / "r").write_bytes(content)
    done = subprocess.run(
        LINE.format(tmp_path / "r"), shell=True, capture_output=True, text=True, check=True
    )
    assert "ev_" + done.stdout.strip() == evidence_id(content)


def test_canonical_bytes_are_sorted_and_tight() -> None:
    assert canonical_bytes({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), MAX_INT + 1, -MAX_INT - 1, {1: "key"}, "\ud800"]
)
def test_what_other_readers_would_change_is_refused(value: object) -> None:
    with pytest.raises(InputError):
        canonical_bytes({"data": {"x": [value]}})


def test_ids_are_read_as_people_type_them() -> None:
    assert normalise("EV_K4TJIM") == "ev_k4tjim"
    assert normalise("[ev\\_k4tjimcqqdbwpbfb]") == "ev_k4tjimcqqdbwpbfb"
    assert normalise("0c8s77") == "ev_ocbs77"
    assert normalise("ev_1m3scf") == "ev_lm3scf"


@pytest.mark.parametrize("text", ["", "ev_", "ev_abc", "ev_k4tjim!", "ev_" + "a" * 17, "x" * 5000])
def test_what_is_no_id_is_refused_in_one_short_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        normalise(text)
    assert len(str(caught.value)) < 200
