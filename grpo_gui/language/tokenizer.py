"""Text to token ids and back, for the built-in vocabulary and for any tokenizer.json."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, processors

from grpo_gui.errors import ModelError

PAD, BOS, EOS, RESERVED = "<pad>", "<bos>", "<eos>", "<reserved>"
_PRINTABLE = "".join(chr(code) for code in range(32, 127))


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """What the files beside tokenizer.json say: special ids, and the text that ends a prompt."""

    pad_id: int
    bos_id: int | None
    eos_ids: frozenset[int]
    prompt_suffix: str = ""


class Tokenizer:
    """A `tokenizers.Tokenizer` with the special ids that sampling and training need."""

    def __init__(self, raw: tokenizers.Tokenizer, special: SpecialTokens) -> None:
        self.raw = raw
        self.special = special
        self._texts: dict[int, str] = {}

    @property
    def vocab_size(self) -> int:
        """Number of tokens, the special ones included."""
        return int(self.raw.get_vocab_size(with_added_tokens=True))

    @property
    def pad_id(self) -> int:
        """The id that fills rows behind their end."""
        return self.special.pad_id

    @property
    def bos_id(self) -> int | None:
        """The id that begins a text, or None."""
        return self.special.bos_id

    @property
    def eos_ids(self) -> frozenset[int]:
        """The ids that end a completion."""
        return self.special.eos_ids

    def encode(self, text: str) -> list[int]:
        """Ids of `text` alone, without a beginning or an end."""
        return list(self.raw.encode(text, add_special_tokens=False).ids)

    def encode_prompt(self, prompt: str) -> list[int]:
        """Ids of a prompt as the model expects it; for the built-in model `<bos>prompt` and a newline."""
        return list(self.raw.encode(prompt + self.special.prompt_suffix, add_special_tokens=True).ids)

    def encode_chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Ids of chat messages (role, content) up to where the model's answer begins.

        Raises:
            ModelError: this tokenizer has no chat template.
        """
        raise ModelError(
            f"The data hold chats of {len(messages)} messages, but the model has no chat template; choose an instruct "
            "model, or give the prompts as text."
        )

    def decode(self, ids: Iterable[int]) -> str:
        """Text of `ids`; special tokens are left out."""
        return str(self.raw.decode(list(ids), skip_special_tokens=True))

    def token_texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Each token as text of its own, special tokens included; an unfinished character shows as U+FFFD."""
        return tuple(self._texts.get(token) or self._token_text(token) for token in ids)

    def _token_text(self, token: int) -> str:
        text = str(self.raw.decode([token], skip_special_tokens=False))
        name = self.raw.id_to_token(token) or ""
        if name.startswith("▁") and not text.startswith(" "):
            text = " " + text  # a SentencePiece decoder strips the space that begins a text
        self._texts[token] = text
        return text


def build_builtin_tokenizer() -> Tokenizer:
    """One token a character: pad, bos, eos, newline, the 95 printable ASCII characters, one reserved.

    A character outside ASCII becomes the reserved token.
    """
    words = [PAD, BOS, EOS, "\n", *_PRINTABLE, RESERVED]
    vocabulary = {word: index for index, word in enumerate(words)}
    raw = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=RESERVED))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    raw.decoder = decoders.Fuse()
    raw.post_processor = processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=[(BOS, vocabulary[BOS])])
    raw.add_special_tokens([PAD, BOS, EOS, RESERVED])
    raw.encode_special_tokens = True  # "<eos>" typed by a person is five characters, not an end
    special = SpecialTokens(
        pad_id=vocabulary[PAD], bos_id=vocabulary[BOS], eos_ids=frozenset({vocabulary[EOS]}), prompt_suffix="\n"
    )
    return Tokenizer(raw, special)
