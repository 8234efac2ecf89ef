"""The one redaction function: secrets and people out, numbers, hashes, ids and package names kept.

`redact` is pure, idempotent and linear in its input: every pattern starts only where a run of its
characters starts, and no repetition is nested. There is no entropy rule, since records are full of
hashes. A placeholder names the rule and gives neither length nor hash of what stood there.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

KNOWN_LENGTH = 8  # shorter values of secret-named variables would hit ordinary words

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    {"token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey"}
    | {"credential", "credentials"}
)
_SECRET_PAIRS = frozenset(
    {("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("auth", "key")}
    | {("encryption", "key"), ("signing", "key"), ("account", "key"), ("license", "key")}
)
_SECRET_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "sshpass",
    "dbpass",
)
_FOLDERS = frozenset({"PWD", "OLDPWD"})  # the working directory, in every environment
# What owns a key, a pass or a pat (personal access token): cache_key and first_pass are none.
_OWNERS = frozenset(
    {"openai", "anthropic", "hf", "huggingface", "wandb", "aws", "azure", "gcp", "google", "gemini"}
    | {"mistral", "cohere", "groq", "together", "replicate", "deepseek", "ngc", "nvidia", "stripe"}
    | {"github", "gitlab", "gh", "git", "ado", "devops", "ssh", "gpg", "pgp", "rsa", "master"}
    | {"session", "cookie", "jwt", "hmac", "webhook", "service", "storage", "sas", "admin", "root"}
    | {"client", "db", "user", "smtp", "mail", "redis", "mysql", "pg", "postgres", "ftp", "ldap"}
    | {"proxy", "login", "vpn", "my", "database", "flask", "django"}
)
# Words of language models, not of logins: eos_token=</s>.
_MODEL_TOKENS = frozenset(
    {"eos", "bos", "pad", "unk", "cls", "sep", "mask", "stop", "start", "end", "next", "first"}
    | {"last", "special", "image", "new", "per", "prev", "draft", "sampled", "best", "other"}
)
_NO_VALUE = re.compile(
    r"(?:none|null|true|false|missing|required|unset|empty|absent|unknown|optional|invalid|expired|"
    r"denied|not|is|was|undefined|redacted|hidden|yes|no|str|string|\*+|x+|\.+|-)\W*$"
    r"|\$|<|\[REDACTED|%\(?|\{",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)  # records use the same few names over and over
def is_secret_name(name: str) -> bool:
    """Tell whether a variable, flag or key holds a secret by its name: HF_TOKEN, not max_tokens."""
    words = [w.lower() for w in _WORDS.findall(name)]
    if not words:
        return False
    if name in _FOLDERS:
        return False
    before, last = (words[-2] if len(words) > 1 else ""), words[-1]
    if last == "token" and before in _MODEL_TOKENS:
        return False
    return (
        last in _SECRET_WORDS
        or last.endswith(_SECRET_ENDINGS)
        or (before, last) in _SECRET_PAIRS
        or (last in ("key", "pass", "pat") and before in _OWNERS)
    )


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Give the values of secret-named variables, longest first, to be removed wherever they stand."""
    values = {v for k, v in environ.items() if _holds_secret(k) and len(v) >= KNOWN_LENGTH}
    return tuple(sorted(values, key=len, reverse=True))


def _holds_secret(variable: str) -> bool:
    """A wider net for values alone: what doctor lists as secret-named, less the tokenizer's own."""
    words = [w.lower() for w in _WORDS.findall(variable)]
    wide = any(part in variable.upper() for part in ("TOKEN", "SECRET", "PASSWORD", "API_KEY"))
    model = any(w in ("tokenizer", "tokenizers", "tokens", "tokenization") for w in words)
    return is_secret_name(variable) or (wide and not model)


def redact(value: Any, known: Iterable[str] = ()) -> Any:
    """Redact a string, or every string and key of a structure; other values come back as they are.

    In a list of arguments the value after a secret flag goes; in a mapping the value of a secret
    key. `known` are values to remove whatever they look like (`known_secrets`).
    """
    return _redact(value, tuple(known))


def _redact(value: Any, known: tuple[str, ...]) -> Any:
    kind = type(value)
    if kind in _NUMBERS:
        return value
    if kind is str:
        return _text(value, known)
    if isinstance(value, Mapping):
        return {_text(str(k), known): _entry(str(k), v, known) for k, v in value.items()}
    if isinstance(value, list | tuple):
        # Token ids come by the hundred thousand: look at each list's types once.
        plain = set(map(type, value)) <= _NUMBERS
        return value if plain else type(value)(_arguments(value, known))
    return _text(str(value), known) if isinstance(value, str) else value


_NUMBERS = {int, float, bool, type(None)}


def _entry(key: str, value: Any, known: tuple[str, ...]) -> Any:
    if type(value) is str and value and is_secret_name(key) and not _NO_VALUE.match(value):
        return "[REDACTED:secret]"
    return _redact(value, known)


def _arguments(items: Iterable[Any], known: tuple[str, ...]) -> Iterable[Any]:
    after_flag = False
    for item in items:
        hide = after_flag and isinstance(item, str) and not item.startswith(("-", "[REDACTED"))
        yield "[REDACTED:secret]" if hide else _redact(item, known)
        after_flag = isinstance(item, str) and bool(_FLAG_ALONE.fullmatch(item))
        after_flag = after_flag and is_secret_name(str(item))


_FLAG_ALONE = re.compile(r"--?[A-Za-z][A-Za-z0-9_-]{0,60}")


def _text(text: str, known: tuple[str, ...]) -> str:
    if not text.isascii():  # a file name that is no UTF-8 cannot be written as JSON
        text = text.encode("utf-8", "replace").decode()
    for secret in known:
        if secret in text:
            text = text.replace(secret, "[REDACTED:secret]")
    if not _TRIGGER.search(text):
        return text
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _assignment(match: re.Match[str]) -> str:
    name, separator, value = match["name"], match["sep"], match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    inner = value.strip(quote) if quote else value.rstrip(")]}.,;")
    tail = "" if quote else value[len(inner) :]
    if not is_secret_name(name) or not inner or _NO_VALUE.match(inner):
        return match[0]
    if name.lower().endswith("pwd") and inner.startswith("/"):
        return match[0]  # a working directory
    if _is_prose(name, separator, inner, bool(quote)):
        return match[0]
    return match[0][: match.start("value") - match.start()] + (
        f"{quote}[REDACTED:secret]{quote}{tail}"
    )


def _is_prose(name: str, separator: str, inner: str, quoted: bool) -> bool:
    """`unexpected token: end` and `token = 17` are about parsers and models, not about logins."""
    if not name.lower().endswith("token"):
        return False
    return inner.isdigit() or (
        not quoted and ":" in separator and name.lower() == "token" and inner.isalpha()
    )


def _flag(match: re.Match[str]) -> str:
    value = match["value"]
    model_token = match["name"].lower().endswith("token") and value.isdigit()
    if not is_secret_name(match["name"]) or _NO_VALUE.match(value) or model_token:
        return match[0]
    return match[0][: match.start("value") - match.start()] + "[REDACTED:secret]"


_KEY_SHAPES = (
    r"hf_[A-Za-z0-9]{16,}",
    r"sk-(?:proj-|ant-|or-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|ptt|dt|rt|sa|soat)-[A-Za-z0-9_-]{16,}",
    r"glsa_[A-Za-z0-9_]{20,}",
    r"A(?:KIA|SIA|ROA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"nvapi-[A-Za-z0-9_-]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{40,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?:gsk|r8|dop_v1|hvs|lsv2_pt|pplx|tvly|wandb_v1)[_.-][A-Za-z0-9_]{24,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"AGE-SECRET-KEY-[A-Z0-9]{20,}",
)
_KEYS = "|".join(_KEY_SHAPES)
_HOME_PARENTS = (
    r"(?:/(?:export|nfs|mnt(?:/[a-z])?|net|gpfs|lustre|data|private|var|System/Volumes/Data))?"
)
_URL_PARAMETERS = (
    r"X-(?:Amz|Goog)-(?:Credential|Signature|Security-Token)|AWSAccessKeyId|sig|signature|"
    r"access_token|id_token|refresh_token|auth_token|token|api[_-]?key|apikey|key|secret|"
    r"client_secret|password"
)
# No rule matches a text without one of these; most strings of a record are names and units.
_TRIGGER = re.compile(
    r"[=:/\\]|eyJ|-----|-[A-Za-z]|bearer|_(?:live|test)_|hf_|sk-|gh[pousr]_|hub_pat|gl[a-z]+-|glsa_"
    r"|AKIA|ASIA|AROA|AIza|ya29|xox|nvapi|npm_|pypi-|gsk|r8|dop_|hvs|lsv2|pplx|tvly|wandb_|SG\.|AGE-",
    re.IGNORECASE,
)
_Replacement = str | Callable[[re.Match[str]], str]
_RULES: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        "[REDACTED:private-key]",
    ),
    (
        re.compile(
            r"https?://(?:hooks\.slack\.com/(?:services|workflows)|"
            r"(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks|[a-z0-9-]{1,60}\.webhook\.office\.com)"
            r"/[^\s\"'<>]*",
            re.IGNORECASE,
        ),
        "[REDACTED:webhook]",
    ),
    (
        re.compile(
            r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,20}://)(?!git@)[^\s/\"'<>?#]{1,256}@"
        ),
        r"\1[REDACTED:url-credentials]@",
    ),
    (
        re.compile(
            r"((?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
            r"(?:bearer|basic|token|digest|negotiate|apikey)?\s{0,3})(?!bearer|basic|token|\[REDACTED)"
            r"[^\s\"',;]{6,}",
            re.IGNORECASE,
        ),
        r"\1[REDACTED:authorization]",
    ),
    (
        re.compile(r"\b(bearer\s{1,3})[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE),
        r"\1[REDACTED:authorization]",
    ),
    (
        re.compile(r"\b((?:set-)?cookie[\"']?\s{0,3}:\s{0,3}[\"']?)[^\"'\r\n]+", re.IGNORECASE),
        r"\1[REDACTED:cookie]",
    ),
    (
        re.compile(rf"([?&](?:{_URL_PARAMETERS})=)(?!\[REDACTED)[^&\s\"'#<>]+", re.IGNORECASE),
        r"\1[REDACTED:url-param]",
    ),
    (
        re.compile(
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?"
        ),
        "[REDACTED:jwt]",
    ),
    (re.compile(rf"(?<![A-Za-z0-9_-])(?:{_KEYS})"), "[REDACTED:api-key]"),
    (
        re.compile(
            r"(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,127})[\"']?"
            r"(?P<sep>\s{0,3}(?:=>|:=|[=:])\s{0,3})"
            r"(?P<value>\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'"
            r"|(?:[^\s\"',;&]|[,;&](?![A-Za-z_][A-Za-z0-9_]{0,60}=)(?=\S))+)"
        ),
        _assignment,
    ),
    (
        re.compile(
            r"(?<![A-Za-z0-9_-])--?(?P<name>[A-Za-z][A-Za-z0-9_-]{0,60})[ =]\s{0,3}[\"']?"
            r"(?P<value>[^\s\"'-][^\s\"']*)"
        ),
        _flag,
    ),
    (
        re.compile(
            r"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p)(?!\[)([^\s-]\S*)"
        ),
        r"\1[REDACTED:secret]",
    ),
    (
        re.compile(
            r"(\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:)(?!\[)[^\s\"']+"
        ),
        r"\1[REDACTED:secret]",
    ),
    (re.compile(r"(\bsshpass\s{1,3}-p\s{0,3})(?!\[)\S+"), r"\1[REDACTED:secret]"),
    (
        re.compile(
            rf"(?<![\w.~-]){_HOME_PARENTS}/(?:home|Users)/(?!Shared\b|Public\b)[^/\s:;,\"'<>|\\)]+"
        ),
        "~",
    ),
    (
        re.compile(
            r"\b[A-Za-z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/)(?!Public\b|Default\b)[^\\/\s:;,\"'<>|]+"
        ),
        "~",
    ),
)
