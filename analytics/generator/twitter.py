"""The Twitter profile: followers, followings and tweets of ten days, as thesis 5.2 tells of them (WA-10, WA-11)."""

from .profile import Profile, Sequences, rng
from .twitter_laws import followers, followings
from .twitter_rates import rates


def sequences(profile: Profile) -> Sequences:
    """Draws all three sequences, in random order.

    Followers and events go together, followings go with neither: nothing is published about that. Raises TraceError if the profile is too
    small for its laws.
    """
    popularity = followers(profile.topics, profile.subscribers, profile.pairs)
    events = rates(popularity, profile.mean_events, round(profile.scale), rng(profile.seed, "twitter", "events"))
    order = rng(profile.seed, "twitter", "topics").permutation(profile.topics)
    size = followings(profile.topics, profile.subscribers, profile.pairs)
    rng(profile.seed, "twitter", "subscribers").shuffle(size)
    return Sequences(popularity=popularity[order], size=size, events=events[order])
