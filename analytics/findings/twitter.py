"""The findings about Twitter's workload (thesis 5.2, autumn 2013), with the tolerances of WA-8, WA-10 and WA-11."""

import math
from typing import Final

from .statement import Check, Statement, TraceFacts, about, check, count


def _tail_exponent(facts: TraceFacts) -> float | None:
    """Returns the exponent of the CCDF of followers from 10,000 to 1,000,000 of them."""
    many, most = facts.measure("popularity.count_above_10000"), facts.measure("popularity.count_above_1000000")
    return math.log10(many / most) / 2 if many and most else None


_EXPONENT: Final = Check(
    "exponent {}",
    ".2f",
    _tail_exponent,
    0.75,
    1.05,
    ("popularity.count_above_1000000", "popularity.count_above_10000"),
    lambda _facts: 1.0,
)

TWITTER: Final = (
    Statement(
        "popularity.line",
        "twitter",
        "popularity",
        "like a power law on logarithmic axes, but for a kink",
        "thesis 5.2",
        (check("popularity.r2", "R² {}", ".3f", low=0.9),),
        decades="popularity.decades",
    ),
    Statement(
        "popularity.mean",
        "twitter",
        "popularity",
        "a user has 85 followers on average",
        "thesis 5.2, 7.3.2",
        (about("mean_subscribers_per_topic", "{} followers per topic", 683.5 / 8, 0.02),),
    ),
    Statement(
        "popularity.10000",
        "twitter",
        "popularity",
        "about 4,000 of 8 million users have more than 10,000 followers",
        "thesis 5.2",
        (count("popularity.count_above_10000", "{} topics", 4000, "topics"),),
        least_grown=0.01,
    ),
    Statement(
        "popularity.1000000",
        "twitter",
        "popularity",
        "66 of 8 million users have more than 1,000,000 followers",
        "thesis 5.2",
        (count("popularity.count_above_1000000", "{} topics", 66, "topics"),),
        least_grown=0.3,
    ),
    Statement(
        "popularity.exponent",
        "twitter",
        "popularity",
        "between these two the CCDF falls with an exponent of about 0.9",
        "thesis 5.2",
        (_EXPONENT,),
        least_grown=0.3,
    ),
    Statement(
        "popularity.kink",
        "twitter",
        "popularity",
        "a kink at 100,000 followers",
        "thesis 5.2",
        (check("popularity.kink_100000", "at {} followers", ",.0f", low=50_000, high=200_000),),
        least_grown=0.3,
    ),
    Statement(
        "size.mean",
        "twitter",
        "size",
        "a user follows 22.8 others on average",
        "thesis 5.2, 7.3.2",
        (about("mean_topics_per_subscriber", "{} topics per subscriber", 683.5 / 30, 0.02),),
    ),
    Statement(
        "size.20",
        "twitter",
        "size",
        "a kink at 20: so many accounts were suggested at sign-up",
        "thesis 5.2",
        (check("size.kink_20", "{} times as many as their neighbours", ".1f", low=1.2),),
    ),
    Statement(
        "size.2000",
        "twitter",
        "size",
        "a kink at 2,000: the limit until 2009",
        "thesis 5.2",
        (check("size.kink_2000", "the curve falls {} times as far", ".1f", low=1.2),),
        least_grown=0.005,
    ),
    Statement(
        "size.10000",
        "twitter",
        "size",
        "about 550 of 30 million users follow more than 10,000",
        "thesis 5.2",
        (count("size.count_above_10000", "{} subscribers", 550, "subscribers"),),
        least_grown=0.05,
    ),
    Statement(
        "rate.below_10",
        "twitter",
        "rate",
        "4 of 8 million users tweeted fewer than 10 times in ten days",
        "thesis 5.2",
        (check("rate.share_below_10", "{} of the topics", ".1%", low=0.47, high=0.53),),
    ),
    Statement(
        "rate.above_1000",
        "twitter",
        "rate",
        "46,000 of 8 million users tweeted more than 1,000 times",
        "thesis 5.2",
        (check("rate.share_above_1000", "{} of the topics", ".3%", low=0.00475, high=0.00675),),
    ),
    Statement(
        "rate.above_100000",
        "twitter",
        "rate",
        "one user, a bot, tweeted more than 100,000 times",
        "thesis 5.2",
        (check("rate.count_above_100000", "{} topics", ",.0f", low=1, high=3),),
        least_grown=0.5,
    ),
    Statement(
        "rate.mean",
        "twitter",
        "rate",
        "a user tweets 57 times in ten days on average",
        "thesis 5.2",
        (about("mean_events_per_topic", "{} events per topic", 455 / 8, 0.02, ".1f"),),
    ),
    Statement(
        "popularity_rate.line",
        "twitter",
        "popularity_rate",
        "the mean number of tweets grows linearly up to 100,000 followers",
        "thesis 5.2",
        (check("popularity_rate.slope", "slope {}", ".2f", low=0.85, high=1.15),),
    ),
    Statement(
        "popularity_rate.beyond",
        "twitter",
        "popularity_rate",
        "beyond 100,000 followers it lies below the line: celebrities tweet less",
        "thesis 5.2",
        (check("popularity_rate.beyond", "{} of what the line says", ".0%", high=0.9),),
        least_grown=0.05,
    ),
    Statement(
        "nnr.above_7000",
        "twitter",
        "nnr",
        "about 3 of 30 million users receive more than 7,000 tweets in ten days",
        "thesis 5.2",
        (count("nnr.count_above_7000", "{} subscribers", 3e6, "subscribers"),),
    ),
    Statement(
        "nnr.max",
        "twitter",
        "nnr",
        "one user receives 4 % of all tweets, about 18 million",
        "thesis 5.2",
        (check("nnr.max_percent", "{} % at most", ".2g", low=2, high=8),),
        least_grown=0.5,
    ),
    Statement(
        "size_nnr.line",
        "twitter",
        "size_nnr",
        "mean NNR grows linearly with the number of followings",
        "thesis 5.2",
        (check("size_nnr.slope", "slope {}", ".2f", low=0.9, high=1.1),),
    ),
    Statement(
        "publications.none",
        "twitter",
        "publications",
        "the course of time could not be obtained for Twitter",
        "thesis 5.2",
        (),
        "there is nothing published to compare with",
    ),
)
