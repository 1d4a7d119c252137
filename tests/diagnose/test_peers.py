"""Our first alarm beside those of two other programs, on the runs that they make themselves."""

import pytest

pytest.importorskip("rl_doctor", reason="needs rldoctor (pip install rldoctor==0.2.0)")
pytest.importorskip("rlprobe", reason="needs rlprobe (pip install rlprobe==0.1.0)")

from benchmarks._diagnosis_fixtures import (
    NAMED,
    RLDOCTOR_TABLE,
    RLPROBE_TABLE,
    healthy_fixtures,
    rldoctor_fixture,
    rlprobe_fixture,
)
from benchmarks._diagnosis_peers import our_findings, our_first, rldoctor_first, rlprobe_first

SEED = 20
CASES = [(rlprobe_fixture, name) for name in RLPROBE_TABLE] + [(rldoctor_fixture, name) for name in RLDOCTOR_TABLE]


@pytest.mark.parametrize(("make", "pathology"), CASES)
def test_that_trouble_is_named_rightly_and_not_before_it_begins(make, pathology):
    fixture = make(pathology, SEED)
    _, changes = our_findings(fixture)
    assert changes
    step, finding = changes[0]
    assert step >= fixture.onset
    assert finding.detector in NAMED[pathology]


@pytest.mark.parametrize("pathology", ["entropy_collapse", "clip_saturation", "truncation_starve"])
def test_that_we_are_earlier_than_both(pathology):
    fixture = rlprobe_fixture(pathology, SEED)
    ours = our_first(fixture).step
    for peer in (rldoctor_first(fixture, 10), rlprobe_first(fixture, 10)):
        assert peer.step is None or ours < peer.step


def test_that_healthy_runs_have_no_finding():
    for fixture in healthy_fixtures(6, first_seed=200):
        assert our_findings(fixture)[1] == []
