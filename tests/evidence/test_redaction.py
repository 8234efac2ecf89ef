import json
import time
from pathlib import Path

import pytest

from perfcite.evidence.redaction import is_secret_name, known_secrets, redact

KEPT = [
    "max_tokens=4096 num_tokens: 128 --max-tokens 512 eos_token_id=2",
    "ev_k4tjimcqqdbwpbfb",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "torch==2.9.0 sglang-kernel 0.4.6.post1 hf_hub_download",
    "unexpected token: end",
    "api_key=None SECRET=${SECRET}",
    "ssh://git@example.org/o/r.git",
    "12.34 ms, 81.03 it/s, 570.86.15",
    "s3://bucket/key?versionId=3",
]
REMOVED = [
    ("PASSWORD=hunter2", "hunter2"),
    ("HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUv,CUDA_VISIBLE_DEVICES=0", "AbCdEf"),
    ("--password hunter2", "hunter2"),
    ('{"apiKey": "zzz9"}', "zzz9"),
    ("redis://:s3cr3t@host:6379/0", "s3cr3t"),
    ("curl -u alice:pw1 http://x", "pw1"),
    ("mysql -u root -phunter2 db", "hunter2"),
    ("Authorization: Bearer aB3dE6gH9jK2mN5pQ8rS", "aB3dE6"),
    ("/home/alice/x /Users/bob/y C:\\Users\\Carol\\z", "alice"),
    ("/export/home/alice/x", "alice"),
    ("/mnt/c/Users/alice/x /var/home/alice/y", "alice"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc", "MIIE"),
]
HOSTILE = ["a_", "eyJ-", "-----BEGIN PRIVATE KEY-----", "https://", "a://", "token=", "--token "]
HOSTILE += ["curl -u ", "mysql -", "sk-", "Cookie: ", "/home/", ",a", "'\"", "C:\\Users", "bearer "]


def test_the_handed_strings_read_as_they_should(shared: Path) -> None:
    cases = json.loads((shared / "cases/redaction/strings.json").read_text())
    for case in cases["strings"] + cases["objects"]:
        assert redact(case["in"]) == case["out"]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_survives(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "secret"), REMOVED)
def test_secrets_and_people_are_removed(text: str, secret: str) -> None:
    once = redact(text)
    assert secret not in once
    assert redact(once) == once


def test_arguments_and_mappings_are_redacted_by_their_names() -> None:
    assert redact(["t.py", "--token", "abc", "--max-tokens", "5"]) == [
        "t.py",
        "--token",
        "[REDACTED:secret]",
        "--max-tokens",
        "5",
    ]
    assert redact({"HF_TOKEN": "x1", "n": 3, "ok": True, "none": None}) == {
        "HF_TOKEN": "[REDACTED:secret]",
        "n": 3,
        "ok": True,
        "none": None,
    }


def test_known_secrets_are_removed_wherever_they_stand() -> None:
    known = known_secrets({"MY_API_KEY": "plainlooking", "PATH": "/usr/bin", "PIN_TOKEN": "1234"})
    assert known == ("plainlooking",)
    assert redact("it said plainlooking twice", known) == "it said [REDACTED:secret] twice"


def test_names_of_secrets_are_told_from_names_of_counts() -> None:
    assert all(
        map(is_secret_name, ["HF_TOKEN", "api-key", "clientSecret", "AWS_SECRET_ACCESS_KEY"])
    )
    more = ["PGPASSWORD", "MYTOKEN", "DB_PASS", "SSHPASS", "OPENAI_KEY", "GITHUB_PAT", "MYAPIKEY"]
    assert all(map(is_secret_name, more))
    assert not any(map(is_secret_name, ["max_tokens", "eos_token", "tokenizer", "key", "KEYS"]))
    assert not any(map(is_secret_name, ["PWD", "OLDPWD", "cache_key", "first_pass", "sort_key"]))


def test_the_working_directory_is_no_secret() -> None:
    environ = {"PWD": "/srv/checkout/perf", "OLDPWD": "/srv/other/place", "MAX_TOKENS": "12345678"}
    assert known_secrets(environ) == ()
    assert redact("PWD=/srv/checkout/perf make") == "PWD=/srv/checkout/perf make"
    assert known_secrets({"TOKENIZERS_PARALLELISM": "somethinglong"}) == ()


def test_text_that_is_no_unicode_comes_back_writable() -> None:
    assert redact("name \udcff.jsonl").encode() == b"name ?.jsonl"


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_length_not_its_square(unit: str) -> None:
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        best = 1e9
        for _ in range(3):
            started = time.process_time()
            redact(text)
            best = min(best, time.process_time() - started)
        return best

    # Eight times the input: a square would cost 64 times as much.
    assert cost(160_000) < 24 * max(cost(20_000), 0.001)
