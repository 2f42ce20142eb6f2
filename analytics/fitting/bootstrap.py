"""Goodness of fit of a power law, by semi-parametric bootstrap (Clauset, Shalizi and Newman 2009, section 4.1)."""

import numpy as np

from .power_law import Floats, PowerLaw, best, draw


def p_value(values: Floats, law: PowerLaw, *, discrete: bool, rng: np.random.Generator, bootstraps: int) -> float:
    """Returns the share of `bootstraps` (at least 1) samples of `law` that lie as far from their own best power law as `values` from `law`.

    In each sample a value is below xmin as often as in `values`, and is then one of those. xmin is found anew each time.
    `discrete`: whether values are whole. `rng`: draws the samples.
    """
    body = values[values < law.xmin]
    as_far = 0
    for _ in range(bootstraps):
        # Semi-parametric: values above xmin are drawn from the law; those below it are drawn from `values`, where there is no law.
        in_tail = int(rng.binomial(len(values), law.n_tail / len(values))) if len(body) else len(values)
        tail = draw(law, in_tail, discrete=discrete, rng=rng)
        sample = np.concatenate([rng.choice(body, len(values) - in_tail), tail]) if len(body) else tail
        # Fitted like the values, xmin included: against a law that was not fitted to it, every sample would lie further off.
        found = best(sample, discrete=discrete)
        as_far += found is not None and found.ks >= law.ks
    return as_far / bootstraps
