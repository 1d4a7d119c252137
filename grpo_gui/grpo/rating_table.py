"""What the metrics of ratings by hand mean: name, label, unit, and the sentence for the tooltip."""

RATING_ROWS = (
    ("ratings/used", "Rated groups used", "groups", "Groups whose ratings the update of this step learned from."),
    (
        "ratings/waiting",
        "Ratings not used yet",
        "groups",
        "Rated groups that wait for an update, at the end of the step.",
    ),
    (
        "ratings/expired",
        "Ratings that expired",
        "groups",
        "Rated groups so far that came too late to learn from: too old, or answers that the model would hardly give "
        "any more (effective sample size below half of the group). They stay in the audit set.",
    ),
    (
        "ratings/trust",
        "Trust in ratings",
        "",
        "What the weight of the ratings of this step was multiplied by: the confidence of their raters, from how alike "
        "they rate a group that is shown twice.",
    ),
    (
        "ratings/late_ratio",
        "Late ratings: ratio",
        "",
        "Mean ratio of the probability of a token now to that when it was sampled, over the late ratings of the step.",
    ),
    (
        "ratings/late_clipped",
        "Late ratings: clipped",
        "",
        "Share of the tokens of late ratings where clipping took the gradient away.",
    ),
    (
        "ratings/audit_tau",
        "You against the program",
        "",
        "Kendall's tau of the order that people and program give the answers of a randomly picked group: 1 the same, "
        "0 unrelated, -1 the opposite. A falling line is the alarm for a reward that is being gamed.",
    ),
    (
        "ratings/retest",
        "Agreement with yourself",
        "",
        "Share of the pairs of answers that a rater ordered alike when a group was shown again; a tie counts half.",
    ),
    ("ratings/seconds", "Time to the first key", "s", "From showing the newest rated group to the first key."),
    ("ratings/slot", "Place of the best answer", "", "Where the best answer of the newest rating was shown, from 0."),
    ("ratings/slots", "Places shown", "", "How many different answers the newest rated group showed."),
    (
        "ratings/key",
        "Pattern of the rating",
        "",
        "A number for what the newest rating gave place by place; the same number again and again is a straight line.",
    ),
)
