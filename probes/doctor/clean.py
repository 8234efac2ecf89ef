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
        return redact(self._without_prefix(value), self._known)

    def finding(self, finding: Finding) -> Finding:
        """Clean every text of a finding."""
        plain = self.value(finding.model_dump(mode="json"))
        return Finding.model_validate(plain | {"code": finding.code})

    def _without_prefix(self, value: Any) -> Any:
        if self._prefix is None:
            return value
        if isinstance(value, str):
            return value.replace(self._prefix + "/", "/")
        if isinstance(value, dict):
            return {key: self._without_prefix(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._without_prefix(item) for item in value]
        return value
