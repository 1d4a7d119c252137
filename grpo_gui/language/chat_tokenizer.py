"""The tokenizer of a transformers model: its chat template, its files, and a limit for long prompts."""

from collections.abc import Callable, Sequence
from pathlib import Path

import tokenizers

from grpo_gui.errors import ModelError
from grpo_gui.language.tokenizer import SpecialTokens, Tokenizer

Messages = Sequence[tuple[str, str]]  # role and content
Template = Callable[[list[dict[str, str]]], list[int]]  # ids up to where the model's answer begins


class ChatTokenizer(Tokenizer):
    """Puts prompts into the model's chat template when it has one.

    Args:
        raw: the tokenizer itself.
        special: its special ids.
        template: applies the chat template; None when the model has none or it shall not be used.
        system_prompt: begins each chat that has no system message of its own; "" leaves that to the template.
        prompt_limit: tokens of a prompt; the oldest ones of a longer prompt are cut off. 0: no limit.
        write_files: writes the tokenizer's files as transformers does.
    """

    def __init__(
        self,
        raw: tokenizers.Tokenizer,
        special: SpecialTokens,
        *,
        template: Template | None,
        system_prompt: str,
        prompt_limit: int,
        write_files: Callable[[Path], None],
    ) -> None:
        super().__init__(raw, special)
        self.write_files = write_files
        self.prompt_limit = prompt_limit
        self._template, self._system_prompt = template, system_prompt

    def encode_prompt(self, prompt: str) -> list[int]:
        """Ids of a prompt: as the user's message of a chat, or as it is for a model without a chat template."""
        if self._template is None:
            begin = f"{self._system_prompt}\n\n" if self._system_prompt else ""
            return self._cut(super().encode_prompt(begin + prompt))
        return self.encode_chat((("user", prompt),))

    def encode_chat(self, messages: Messages) -> list[int]:
        """Ids of chat messages up to where the model's answer begins.

        Raises:
            ModelError: the model has no chat template, or it refuses these messages.
        """
        if self._template is None:
            return super().encode_chat(messages)
        if self._system_prompt and messages[0][0] != "system":
            messages = (("system", self._system_prompt), *messages)
        return self._cut(self._template([{"role": role, "content": content} for role, content in messages]))

    def full_length(self, messages: Messages, prompt: str) -> int:
        """Tokens of a prompt before it is cut to the limit."""
        limit, self.prompt_limit = self.prompt_limit, 0
        try:
            return len(self.encode_chat(messages) if messages else self.encode_prompt(prompt))
        finally:
            self.prompt_limit = limit

    def _cut(self, ids: list[int]) -> list[int]:
        if not ids:
            raise ModelError("A prompt has no token after the chat template; choose another model or prompt.")
        return ids[-self.prompt_limit :] if self.prompt_limit else ids
