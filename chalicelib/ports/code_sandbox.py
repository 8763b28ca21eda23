"""A throwaway place for code that nobody has read."""

from __future__ import annotations

from typing import Protocol

from chalicelib.core.code import CodeJob, CodeResult


class CodeSandbox(Protocol):
    def run(self, job: CodeJob) -> CodeResult:
        """Run the code to its end, or to the end of what it may use up. Nothing of it is left afterwards.

        Raises `SandboxUnavailable` if the code can't be contained here, or can't be reached: it is never run without.
        """
