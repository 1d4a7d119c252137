"""The settings of a run that say how it uses ratings, as the form shows them."""

from grpo_gui.rating.progress import RATING_USES
from grpo_gui.ui.models.config_field_kind import ConfigField

RATING_FIELDS = (
    ConfigField(
        "rating_mode",
        "Ratings",
        "choice",
        "ratings",
        "wait: each update waits for ratings of its groups. async: training goes on, and ratings enter a later update. "
        "offline: the run learns from the ratings that are there when it is started or resumed.",
        choices=RATING_USES,
    ),
    ConfigField(
        "rating_quorum",
        "Rated groups to wait for",
        "whole",
        "ratings",
        "How many groups of a step must be rated before an update that waits goes on.",
    ),
    ConfigField(
        "rating_max_age",
        "Oldest rating, in steps",
        "whole",
        "ratings",
        "A group sampled longer ago is not learned from any more; its rating joins the audit set.",
    ),
    ConfigField(
        "rating_late_share",
        "Most late ratings in a batch",
        "number",
        "ratings",
        "The share of a batch that may be groups rated after their own step.",
    ),
    ConfigField(
        "rating_shrink",
        "Shrink by consistency",
        "switch",
        "ratings",
        "Multiply the weight of ratings by the confidence in their raters, measured on groups that are shown twice.",
    ),
)
