from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as RawTokenizer
from tokenizers import decoders, models, pre_tokenizers

from grpo_gui.language.tokenizer import SpecialTokens, Tokenizer, build_builtin_tokenizer

BUILTIN = build_builtin_tokenizer()


def test_that_the_builtin_vocabulary_has_one_hundred_tokens_in_the_agreed_order():
    assert BUILTIN.vocab_size == 100
    names = [BUILTIN.raw.id_to_token(index) for index in range(100)]
    assert names[:5] == ["<pad>", "<bos>", "<eos>", "\n", " "]
    assert names[98:] == ["~", "<reserved>"]
    assert (BUILTIN.pad_id, BUILTIN.bos_id, BUILTIN.eos_ids) == (0, 1, frozenset({2}))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n")))
def test_that_printable_text_comes_back_unchanged(text):
    assert BUILTIN.decode(BUILTIN.encode(text)) == text


def test_that_a_prompt_begins_with_bos_and_ends_with_a_newline():
    assert BUILTIN.encode_prompt("9") == [1, *BUILTIN.encode("9"), 3]


def test_that_special_tokens_typed_by_a_person_are_plain_characters():
    assert len(BUILTIN.encode("<eos>")) == 5
    assert 2 not in BUILTIN.encode("<eos>")


def test_that_special_tokens_do_not_show_in_the_text():
    assert BUILTIN.decode([1, *BUILTIN.encode("9.9"), 2, 0]) == "9.9"


def test_that_a_character_outside_ascii_becomes_the_reserved_token():
    assert BUILTIN.encode("é") == [99]


def test_that_each_token_has_a_text_of_its_own():
    assert BUILTIN.token_texts([1, 3, 4, 29, 2]) == ("<bos>", "\n", " ", "9", "<eos>")


def test_that_a_token_which_begins_a_word_shows_its_space():
    raw = RawTokenizer(models.WordLevel({"▁nine": 0, "teen": 1, "<u>": 2}, unk_token="<u>"))
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    raw.decoder = decoders.Metaspace()
    tokenizer = Tokenizer(raw, SpecialTokens(pad_id=2, bos_id=None, eos_ids=frozenset({2})))
    assert tokenizer.token_texts([0, 1]) == (" nine", "teen")
