import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.training.packing import TokenText, pack

TOKENS = st.lists(st.integers(3, 99), min_size=1, max_size=8)
TEXTS = st.lists(st.builds(TokenText, TOKENS, TOKENS), min_size=1, max_size=12)


@given(TEXTS)
def test_that_every_answer_token_is_a_target_once(texts):
    rows = pack(texts, pad_id=0, row_tokens=16)
    for index, text in enumerate(texts):
        assert rows.targets[rows.text_of == index].tolist() == text.answer
    assert len(rows.targets) == sum(len(text.answer) for text in texts)


@given(TEXTS)
def test_that_each_target_stands_one_place_behind_the_place_that_predicts_it(texts):
    rows = pack(texts, pad_id=0, row_tokens=16)
    assert torch.equal(rows.ids.flatten()[rows.places + 1], rows.targets)


@given(TEXTS)
def test_that_a_token_sees_its_own_text_up_to_itself(texts):
    rows = pack(texts, pad_id=0, row_tokens=16)
    real = rows.ids != 0
    assert torch.equal(rows.mask.sum(-1)[real], rows.positions[real] + 1)
    assert rows.mask.diagonal(dim1=1, dim2=2).all()


@settings(max_examples=10)
@given(TEXTS, st.integers(0, 1000))
def test_that_packed_texts_get_the_logits_they_get_alone(texts, seed):
    model = Decoder(DecoderConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=2, head_dim=4))
    model.initialize(torch.Generator().manual_seed(seed))
    rows = pack(texts, pad_id=0, row_tokens=16)
    with torch.no_grad():
        logits = model(rows.ids, positions=rows.positions, attention_mask=rows.mask).flatten(0, 1)[rows.places]
        for index, text in enumerate(texts):
            alone = model(torch.tensor([text.prompt + text.answer]))[0, len(text.prompt) - 1 : -1]
            torch.testing.assert_close(logits[rows.text_of == index], alone, atol=1e-5, rtol=1e-5)


def test_that_texts_share_rows():
    rows = pack([TokenText([5] * 4, [6] * 4)] * 4, pad_id=0, row_tokens=16)
    assert rows.ids.shape == (2, 16)


def test_that_a_text_longer_than_a_row_is_refused():
    with pytest.raises(ValueError, match="17 tokens does not fit into a row of 16"):
        pack([TokenText([5] * 8, [6] * 9)], pad_id=0, row_tokens=16)
