"""Last look at what doctor says: no secret, no person, no path of the sysroot's place on this host."""

from typing import Any

from ...evidence.payloads import Finding
from ...evidence.redaction import known_secrets, redact
from ..system import System


class Cleaner:
    """Cleans facts and findings of one machine."""

    def __init__(self, system: System) -> None:
        """Take the secrets to look for from the caller's environment."""
        self._known = known_secrets(system.environ)
        self._prefix = None if system.live else system.root.rstrip("/")

    def value(self, value: Any) -> Any:
        """Clean a fact of any shape."""
        return redact(self._plain(value), self._known)

    def finding(self, finding: Finding) -> Finding:
        """Clean every text of a finding."""
        plain = self.value(finding.model_dump(mode="json"))
        return Finding.model_validate(plain | {"code": finding.code})

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(key): self._plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return value

    def _text(self, text: str) -> str:
        if not text.isascii():
            # names that are no UTF-8 come from the system with lone surrogates, which JSON has not
            text = text.encode("utf-8", "replace").decode("utf-8")
        return text if self._prefix is None else text.replace(self._prefix + "/", "/")
