"""What a recording says about its run: which model and tokenizer, and whether decoding was greedy.

Equal tokens test nothing where tokens were drawn at random, and unequal ones blame nothing where
the model or the prompts differ. The names are those of the engines' own requests and answers:
vLLM and SGLang sampling parameters, llama.cpp `generation_settings`, transformers' generation config.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

# vLLM takes a temperature below this as greedy (vllm/sampling_params.py, _SAMPLING_EPS).
GREEDY_BELOW = 1e-5
# Where a run's sampling parameters may be nested.
SAMPLING_KEYS = (
    "sampling",
    "sampling_params",
    "generation_settings",
    "generation_config",
    "parameters",
    "params",
    "settings",
)
_OFF: dict[str, tuple[Any, ...]] = {
    "repetition_penalty": (0, 1),  # mlx-lm: 0 is off; the others: 1
    "repeat_penalty": (0, 1),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "dry_multiplier": (0,),
    "no_repeat_ngram_size": (0,),
    "num_beams": (0, 1),
    "best_of": (0, 1),
}
_CONSTRAINTS = (
    "grammar",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "structured_outputs",
    "json_schema",
    "regex",
    "ebnf",
    "logit_bias",
)
_MODEL_HASHES = ("model_sha256", "model_hash")
_MODELS = ("model", "model_id", "model_name", "model_path")
_TOKENIZERS = ("tokenizer_sha256", "tokenizer_hash", "tokenizer")
_CAPS = ("max_tokens", "max_new_tokens", "n_predict", "max_completion_tokens")
_OTHERS = ("temperature", "do_sample", "top_k", "prompts_sha256")
SETTING_KEYS = frozenset(
    (*_MODEL_HASHES, *_MODELS, *_TOKENIZERS, *_CAPS, *SAMPLING_KEYS, *_OFF, *_CONSTRAINTS, *_OTHERS)
)


class Settings(NamedTuple):
    """One run's settings; None where it was not recorded. `not_greedy` says why it was not."""

    model: str | None = None
    model_hash: str | None = None
    tokenizer: str | None = None
    cap: int | None = None
    not_greedy: str | None = None
    prompts: str | None = None


NO_SETTINGS = Settings()


def read_settings(*sources: Mapping[str, Any]) -> Settings:
    """Read settings from the first of `sources` that names each; nested sampling counts too."""
    flat: dict[str, Any] = {}
    for source in sources:
        for mapping in (source, *(source[k] for k in SAMPLING_KEYS if k in source)):
            if isinstance(mapping, Mapping):
                for key in SETTING_KEYS & mapping.keys():
                    flat.setdefault(key, mapping[key])
    model = _word(flat, _MODELS)
    return Settings(
        model=PurePosixPath(model.replace("\\", "/")).name.lower() if model else None,
        model_hash=_word(flat, _MODEL_HASHES),
        tokenizer=_word(flat, _TOKENIZERS),
        cap=next((flat[k] for k in _CAPS if type(flat.get(k)) is int and flat[k] > 0), None),
        not_greedy=_not_greedy(flat),
        prompts=_word(flat, ("prompts_sha256",)),
    )


def merged(first: Settings, second: Settings) -> Settings:
    """Fill what `first` does not say from `second`."""
    filled = {k: v for k, v in second._asdict().items() if getattr(first, k) is None}
    return first._replace(**filled)


def differing(reference: Iterable[Settings], candidate: Iterable[Settings]) -> list[str]:
    """Name what the two runs do not share: model (by hash, else by name) and tokenizer."""
    found: list[str] = []
    left, right = list(reference), list(candidate)
    hashes = _both(left, right, "model_hash")
    if hashes and hashes[0] != hashes[1]:
        found.append(f"the models differ (hash {_list(hashes[0])} and {_list(hashes[1])})")
    names = _both(left, right, "model")
    if not hashes and names and names[0] != names[1]:
        found.append(f"the models differ ({_list(names[0])} and {_list(names[1])})")
    tokenizers = _both(left, right, "tokenizer")
    if tokenizers and tokenizers[0] != tokenizers[1]:
        found.append(f"the tokenizers differ ({_list(tokenizers[0])} and {_list(tokenizers[1])})")
    prompts = _both(left, right, "prompts")
    if prompts and prompts[0] != prompts[1]:
        found.append("the prompt sets differ (prompts_sha256)")
    return found


def _both(
    left: list[Settings], right: list[Settings], name: str
) -> tuple[set[str], set[str]] | None:
    sides = tuple({getattr(s, name) for s in side} - {None} for side in (left, right))
    return (sides[0], sides[1]) if all(sides) else None


def _not_greedy(flat: Mapping[str, Any]) -> str | None:
    temperature = _number(flat.get("temperature"))
    top_k = flat.get("top_k")
    single = type(top_k) is int and top_k == 1
    sampled = flat.get("do_sample")
    if temperature is not None and temperature >= GREEDY_BELOW:
        if not single and sampled is not False:
            return f"temperature {temperature:g}"
    elif temperature is None and sampled is True and not single:
        return "do_sample true"
    for name, off in _OFF.items():
        value = _number(flat.get(name))
        if value is not None and value not in off:
            return f"{name} {value:g}"
    return next((f"a constraint ({name})" for name in _CONSTRAINTS if flat.get(name)), None)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _word(flat: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((flat[n] for n in names if isinstance(flat.get(n), str) and flat[n]), None)


def _list(values: Iterable[str]) -> str:
    shown = [v if len(v) <= 40 else v[:39] + "…" for v in sorted(values)]
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
