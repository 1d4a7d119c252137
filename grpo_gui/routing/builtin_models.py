"""Models that answer in this process: the built-in one, the experts that are shipped, snapshots, model folders."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import grpo_gui
from grpo_gui.errors import GrpoGuiError, ModelError
from grpo_gui.routing.answers import Grew, NoAnswerError, Wanted
from grpo_gui.snapshots.manifest import MANIFEST

if TYPE_CHECKING:
    import torch

    from grpo_gui.language.policy import Policy

BUILTIN = "builtin"
EXPERTS = ("sort", "add")
EXPERT_PREFIX = "expert:"
KEPT = 4  # models in memory
PIECE_TOKENS = 8
LONGEST_ANSWER = 256  # tokens, of a model that is no snapshot
TEMPERATURE = 0.7  # an answer should be near the model's best, yet asking again may give another one


def expert_folder(name: str) -> Path:
    """The folder of an expert that is shipped: inside an installed package, beside it in a clone.

    Raises:
        ModelError: it is not there.
    """
    package = Path(grpo_gui.__file__).parent
    for folder in (package / "resources" / "experts" / name, package.parent / "resources" / "experts" / name):
        if folder.is_dir():
            return folder
    raise ModelError(f"The expert {name} is missing from resources/experts; install grpo-gui again.")


class Shelf:
    """Loaded models, the most recently used ones; used by one thread at a time, which holds `lock`."""

    def __init__(self, threads: Callable[[], int], device: str) -> None:
        """Compute with as many threads as `threads` says: those of a run that trains in this process."""
        self.lock = threading.Lock()
        self._threads, self._device = threads, device
        self._loaded: OrderedDict[str, Policy] = OrderedDict()

    def policy(self, model: str) -> "Policy":
        """The model in a folder, or "builtin".

        Raises:
            SnapshotError, ModelError: it is damaged, or no model that can be used.
        """
        import torch

        from grpo_gui.snapshots.loading import load_checked
        from grpo_gui.training.devices import choose_device

        torch.set_num_threads(self._threads())
        if model not in self._loaded:
            self._loaded[model] = load_checked(model, choose_device(self._device))
        self._loaded.move_to_end(model)
        while len(self._loaded) > KEPT:
            self._loaded.popitem(last=False)
        return self._loaded[model]

    def forget(self) -> None:
        """Let go of all models."""
        with self.lock:
            self._loaded.clear()


class LocalModel:
    """One of these models; the shelf's lock is let go between pieces, so that several answer side by side."""

    def __init__(self, name: str, location: str, shelf: Shelf) -> None:
        self._name, self._location, self._shelf = name, location, shelf

    def answer(self, wanted: Wanted, grew: Grew) -> int | None:
        """Sample the answer piece by piece; see `Answerer`."""
        self.check()
        try:
            self._sample(wanted, grew)
        except ModelError as error:  # the query is empty or too long for it, which says nothing about the model
            raise NoAnswerError(str(error), is_dead=False) from error
        return None

    def check(self) -> None:
        """See whether the folder is there."""
        try:
            folder = self._folder()
        except ModelError as error:
            raise NoAnswerError(str(error), is_dead=True) from error
        if folder != BUILTIN and not Path(folder).exists():
            raise NoAnswerError(f"The folder {folder} of {self._name} is gone; remove the model.", is_dead=True)

    def _folder(self) -> str:
        if self._location.startswith(EXPERT_PREFIX):
            return str(expert_folder(self._location.removeprefix(EXPERT_PREFIX)))
        return self._location

    def _sample(self, wanted: Wanted, grew: Grew) -> None:
        import torch

        from grpo_gui.training.playground import completion_length

        folder = self._folder()
        is_plain = folder != BUILTIN and not (Path(folder) / MANIFEST).is_file()
        longest = LONGEST_ANSWER if is_plain else completion_length(folder)
        with self._shelf.lock:
            self._policy(folder)
        grew("", 0)
        ids: list[int] = []
        shown, ended = "", False
        while not ended and len(ids) < longest:
            with self._shelf.lock:
                policy = self._policy(folder)
                generator = torch.Generator(policy.device).manual_seed(wanted.seed + len(ids))
                prompt = policy.tokenizer.encode_prompt(wanted.query)
                more, ended = _piece(policy, prompt + ids, min(PIECE_TOKENS, longest - len(ids)), generator)
                ids += more
                text = policy.tokenizer.decode(ids)
            stable = text if ended else text.rstrip("\N{REPLACEMENT CHARACTER}")  # half a character may follow
            if stable.startswith(shown):
                grew(stable[len(shown) :], len(more))
                shown = stable

    def _policy(self, folder: str) -> "Policy":
        try:
            return self._shelf.policy(folder)
        except GrpoGuiError as error:
            raise NoAnswerError(str(error), is_dead=True) from error


def _piece(policy: "Policy", ids: Sequence[int], count: int, generator: "torch.Generator") -> tuple[list[int], bool]:
    """Up to `count` more ids, and whether the answer ends with them."""
    from grpo_gui.language.sampling import SamplingConfig

    sampled = policy.sample([ids], 1, SamplingConfig(TEMPERATURE, 0, 1.0, count), generator)
    return sampled.ids[0, : int(sampled.lengths[0])].tolist(), not bool(sampled.truncated[0])
