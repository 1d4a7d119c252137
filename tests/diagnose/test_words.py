"""Every finding is a sentence with its numbers, a detail that explains the words it uses, and one action."""

import re

import pytest

from grpo_gui.diagnose.detectors import DETECTORS
from tests.diagnose.sentences import all_words

# words that only people know who have read about GRPO; each may stand only where its meaning is said
JARGON = re.compile(r"\b(logits?|rollouts?|policy|token-level|on-policy|off-policy|importance|K3|ESS|MAD|SNR|EOS)\b")
EXPLAINED = {
    "entropy": "measures",
    "KL": "measures",
    "gradient": "says how hard|no longer a number|became infinite",
    "clipp": "stops",
}


@pytest.mark.parametrize("name", [detector.name for detector in DETECTORS])
def test_that_the_sentences_are_plain(name):
    found = all_words(name)
    assert found
    for words in found:
        whole = " ".join((words.headline, words.detail, words.action.sentence, *words.causes))
        for sentence in (words.headline, words.detail, words.action.sentence, *words.causes):
            assert sentence.endswith("."), sentence
            assert sentence[0].isupper() or sentence[0].isdigit() or sentence[0] == "“", sentence
            assert "  " not in sentence
            assert "nan" not in re.findall(r"\b\w+\b", sentence)
        assert not JARGON.search(whole), whole
        for word, explanation in EXPLAINED.items():
            if word in words.headline:
                assert re.search(explanation, whole), whole
        assert len(words.headline) <= 100, words.headline
