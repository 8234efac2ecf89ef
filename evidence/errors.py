"""Every error a caller can act on, by what they can do next.

PerfciteError
├── InputError      the call is wrong: fix the argument, file or id        (exit 2)
│   ├── NotFound    an id or file that is not there
│   └── DamagedRecord   a record that is there but does not verify
└── StoreError      the evidence could not be kept or read                 (exit 4)

A message is one line: what is wrong, then what would be accepted. `then` is the next call, written
as a tool call for an agent and as a command for a person by server/.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class NextCall:
    """A call that works when it is made as written."""

    tool: str
    arguments: Mapping[str, str | int | float | bool] = field(default_factory=dict)


class PerfciteError(Exception):
    """Base of everything that is reported as one line and never as a traceback."""

    exit_code = 2

    def __init__(self, message: str, *, then: NextCall | None = None) -> None:
        """Keep the message as one line."""
        super().__init__(" ".join(message.split()))
        self.then = then


class InputError(PerfciteError):
    """The caller gave something that cannot be used."""


class NotFound(InputError):
    """An id or a file that is not there."""


class DamagedRecord(InputError):
    """A record whose stored bytes do not verify."""


class StoreError(PerfciteError):
    """The store could not be read or written."""

    exit_code = 4
