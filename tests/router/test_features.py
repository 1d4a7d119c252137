"""Query features: the same everywhere, robust against any text."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import ModelError
from grpo_gui.router.embeddings import SentenceEmbeddings, model_folder
from grpo_gui.router.features import BUCKETS, FeatureCache, HashedNgrams, feature_source


def test_that_features_are_the_same_on_every_machine():
    (row,) = HashedNgrams()(["Sort this list."])
    places = np.flatnonzero(row)
    assert (len(places), int(places[0]), int(places[-1])) == (50, 1, 4088)


@given(st.text())
def test_that_every_text_has_features_of_length_one_and_an_empty_one_none(text):
    (row,) = HashedNgrams()([text])
    assert row.shape == (BUCKETS,)
    assert np.linalg.norm(row) == pytest.approx(1.0 if text.split() else 0.0, abs=1e-5)


def test_that_similar_queries_lie_nearer_than_others_and_case_does_not_matter():
    rows = HashedNgrams()(["Sort this list of numbers", "sort this LIST of words", "What is the capital of France?"])
    similarity = rows @ rows.T
    assert similarity[0, 1] > 2 * similarity[0, 2]


def test_that_a_very_long_query_costs_no_more_than_its_beginning_and_end():
    long = "begin " + "x" * 100_000 + " end"
    assert (HashedNgrams()([long])[0] > 0).sum() < 200


def test_that_the_cache_gives_what_the_source_gives():
    cache = FeatureCache(HashedNgrams())
    queries = [(1, "one"), (2, "two"), (1, "one")]
    expected = HashedNgrams()(["one", "two", "one"])
    assert np.array_equal(cache(queries), expected)
    assert np.array_equal(cache(queries[:2]), expected[:2])
    assert cache.size == BUCKETS


def test_that_features_are_found_by_name(tmp_path):
    assert feature_source("hashed n-grams").size == BUCKETS
    with pytest.raises(ModelError, match="no sentence embedding model"):
        model_folder(tmp_path)


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("embedding")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "sort", "a", "list", "poem", "about", "the", "sea"]
    (folder / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(str(folder / "0_Transformer"))
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(str(folder / "0_Transformer"))
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "0_Transformer"}]))
    return folder


@pytest.mark.hf
def test_that_a_sentence_transformers_folder_gives_embeddings_and_prints_nothing(tiny_model, capfd):
    capfd.readouterr()  # of making the model
    source = SentenceEmbeddings(tiny_model)
    assert capfd.readouterr() == ("", "")
    rows = source(["sort a list", "a poem about the sea", "sort a list"])
    assert rows.shape == (3, 16) == (3, source.size)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert rows[0] == pytest.approx(rows[2], abs=1e-5)
    assert rows[0] != pytest.approx(rows[1], abs=1e-2)
    alone = source(["sort a list"])
    assert alone[0] == pytest.approx(rows[0], abs=1e-5)  # padding does not matter


@pytest.mark.hf
def test_that_a_folder_that_is_no_model_is_named(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        SentenceEmbeddings(tmp_path)
