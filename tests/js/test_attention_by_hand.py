"""AttentionByHand: the numbers of chapter 01, and what the story promises."""

import numpy as np

from posenc.widgets import AttentionByHand
from posenc.widgets.attention_by_hand import ROWS, WORDS
from tests.explorables import shown


def weights(**setting):
    return shown(AttentionByHand, **setting).values["weights"]


def test_without_scaling_the_cat_gets_what_chapter_01_prints():
    values = shown(AttentionByHand, scaled=False).values
    np.testing.assert_allclose(values["queries"][2], [3.0, 0.3])
    scores = values["keys"] @ values["queries"][2]
    np.testing.assert_allclose(scores, [0.33, 3.06, 0.6, 0.03, 0.33, 0.6], atol=1e-12)
    shares = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(values["weights"][2], shares)
    np.testing.assert_allclose(values["gathered"][2], shares @ np.array([ROWS[word][:3] for word in WORDS]))


def test_the_story_holds():
    story = AttentionByHand.story()
    order = lambda row: [WORDS[j] for j in np.argsort(-row)]  # noqa: E731
    who, longer = weights(**story["who"])[2], weights(**story["longer-query"])[2]
    assert order(who)[0] == order(longer)[0] == "cat"
    assert longer.max() > who.max()
    assert order(weights(**story["on-what"])[3])[0] == "mat"
    assert order(weights(**story["new-query"])[2])[0] == "mat"


def test_scores_are_nearly_equal_only_if_none_is_far_below_the_others():
    assert "nearly equal" in shown(AttentionByHand, q_action_creature=0.0).finding
    assert "nearly equal" not in shown(AttentionByHand, q_action_creature=-3.0).finding  # 19, 3, 15, 23, 19, 22 %
