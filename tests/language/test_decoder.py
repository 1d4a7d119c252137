import torch

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from tests.language.reference import SMALL, random_decoder

DECODER = random_decoder()


def test_that_the_builtin_shape_has_the_stated_number_of_parameters():
    assert sum(parameter.numel() for parameter in Decoder(DecoderConfig()).parameters()) == 816768


def test_that_no_token_sees_the_future():
    ids = torch.randint(0, 100, (1, 12), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[0, 8:] = 3
    torch.testing.assert_close(DECODER(ids)[:, :8], DECODER(changed)[:, :8])
    assert not torch.allclose(DECODER(ids)[:, 8:], DECODER(changed)[:, 8:])


def test_that_texts_packed_behind_a_block_mask_are_scored_as_if_alone():
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randint(0, 100, (5,), generator=generator), torch.randint(0, 100, (8,), generator=generator)
    segment = torch.tensor([0] * 5 + [1] * 8)
    mask = (segment.unsqueeze(0) == segment.unsqueeze(1)).tril()
    positions = torch.cat((torch.arange(5), torch.arange(8)))
    packed = DECODER(torch.cat((first, second)).unsqueeze(0), positions=positions.unsqueeze(0), attention_mask=mask)
    torch.testing.assert_close(packed[0, :5], DECODER(first.unsqueeze(0))[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(packed[0, 5:], DECODER(second.unsqueeze(0))[0], atol=1e-5, rtol=1e-5)


def test_that_a_seed_fixes_fresh_weights():
    one, two, three = (Decoder(SMALL) for _ in range(3))
    for decoder, seed in ((one, 0), (two, 0), (three, 1)):
        decoder.initialize(torch.Generator().manual_seed(seed))
    name = "model.layers.0.mlp.up_proj.weight"
    assert torch.equal(one.state_dict()[name], two.state_dict()[name])
    assert not torch.equal(one.state_dict()[name], three.state_dict()[name])
