"""perfcite: profiling evidence that an agent can cite and a person can check."""

__version__ = "0.1.0"
