"""Foreign reward functions as the trainer calls them: each in a child process of ours, with a time limit a call."""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from grpo_gui.errors import BadInputError, RewardError
from grpo_gui.tasks.reward_file import FunctionReference, confirmed_sha256

START_TIMEOUT_S = 120.0  # a file may import torch or load a model
CALL_TIMEOUT_S = 30.0
_STDERR_TAIL = 4000
_SHOWN_COMPLETION = 500

Reply = dict[str, Any]


class ForeignReward:
    """A function in a file that the user confirmed, called as any reward function. Used by one thread at a time.

    The process starts with the first call, and anew after a failure, so that a mended file is read again; `close`
    ends it. Bytes that the user has not confirmed are never run.

    Args:
        reference: the file and the function.
        timeout_s: for one call; the process is ended after it.
        sha256: of a file that needs no confirmation because it is ours.
    """

    def __init__(self, reference: FunctionReference, timeout_s: float = CALL_TIMEOUT_S, sha256: str = "") -> None:
        self._reference, self._timeout_s, self._sha256 = reference, timeout_s, sha256
        self._worker: _Worker | None = None

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        answer: Sequence[str | None],
        completion_ids: Sequence[Sequence[int]],
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """Return one reward a completion, None for no opinion.

        Raises:
            RewardError: the function raised, hung, ended the process, or returned something unusable.
        """
        arguments = {"prompts": prompts, "completions": completions, "completion_ids": completion_ids}
        arguments |= {"answer": answer, **columns}
        try:
            reply = self._ask(arguments, self._timeout_s)
        except _SilentError as silent:
            raise self._error(str(silent), self._slow_alone(arguments), silent.stderr) from None
        if "error" in reply:
            self.close()
            index = reply.get("index")
            completion = None if index is None else completions[index]
            raise self._error(reply["error"], completion, reply.get("traceback", ""))
        values: list[float | None] = reply["values"]
        return values

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _ask(self, arguments: dict[str, Sequence[Any]], timeout_s: float) -> Reply:
        if self._worker is None:
            try:
                sha256 = self._sha256 or confirmed_sha256(self._reference.path)
            except BadInputError as error:
                raise RewardError(str(error)) from error
            self._worker = _Worker(self._reference, sha256)
            try:
                ready = self._worker.reply(START_TIMEOUT_S)
            except _SilentError:
                self.close()
                raise
            if "error" in ready:
                self.close()
                raise self._error(ready["error"], None, ready.get("traceback", ""))
        try:
            self._worker.send({"arguments": arguments})
            return self._worker.reply(timeout_s)
        except _SilentError:
            self.close()
            raise

    def _slow_alone(self, arguments: dict[str, Sequence[Any]]) -> Any:  # noqa: ANN401 - text or chat messages
        """Find the completion that makes the function hang or end the process, by calling it on one after another."""
        completions = arguments["completions"]
        for index in range(len(completions) if len(completions) > 1 else 0):
            one = {name: values[index : index + 1] for name, values in arguments.items()}
            try:
                self._ask(one, self._timeout_s)
            except _SilentError:
                return completions[index]
        return completions[0] if len(completions) == 1 else None

    def _error(self, what: str, completion: object, traceback: str) -> RewardError:
        reference = self._reference
        sentence = f"The reward {reference.function!r} in {reference.path} {what.rstrip('.')}."
        shown = completion if isinstance(completion, str) else json.dumps(completion, ensure_ascii=False)
        if len(shown) > _SHOWN_COMPLETION:
            shown = f"{shown[:_SHOWN_COMPLETION]}\u2026 ({len(shown)} characters)"
        parts = [] if completion is None else [f"Completion:\n{shown}"]
        parts += [traceback.strip()] if traceback.strip() else []
        return RewardError(sentence, "\n\n".join(parts))


def close_reward(function: object) -> None:
    """End the child process of a reward that has one."""
    close = getattr(function, "close", None)
    if close is not None:
        close()


class _SilentError(Exception):
    """The worker gave no reply; `stderr` is the end of what it printed."""

    def __init__(self, sentence: str, stderr: str) -> None:
        super().__init__(sentence)
        self.stderr = stderr


class _Worker:
    """The child process, with a thread that reads its replies."""

    def __init__(self, reference: FunctionReference, sha256: str) -> None:
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        path = str(Path(reference.path).resolve())
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grpo_gui.tasks.reward_worker", path, reference.function, sha256],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            start_new_session=True,  # Ctrl+C belongs to the trainer; what the code starts ends with it
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name=f"reward {reference.function}", daemon=True)
        self._reader.start()

    def send(self, call: Reply) -> None:
        """Hand over a call; raises _SilentError when the process is gone."""
        assert self._process.stdin is not None  # it was asked for
        try:
            self._process.stdin.write(json.dumps(call).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def reply(self, timeout_s: float) -> Reply:
        """Wait for the next reply; raises _SilentError when none comes."""
        try:
            line = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            raise _SilentError(f"gave no answer within {timeout_s:g} s and was ended", self._tail()) from None
        if not line:
            raise self._gone()
        reply: Reply = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process and what it started."""
        assert self._process.stdin is not None  # they were asked for
        assert self._process.stdout is not None
        if hasattr(os, "killpg"):
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
        else:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        with suppress(OSError):  # a call that was not read any more
            self._process.stdin.close()
        self._process.stdout.close()
        self._printed.close()

    def _gone(self) -> _SilentError:
        code = self._process.wait()
        return _SilentError(f"ended its process (exit code {code})", self._tail())

    def _tail(self) -> str:
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - _STDERR_TAIL))
        return self._printed.read().decode("utf-8", "replace")

    def _read(self) -> None:
        assert self._process.stdout is not None  # it was asked for
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put(b"")
