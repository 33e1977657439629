"""Whether a message of a person gives an agent a job, and whether the job comes on top of the one before: learned.

Promise: depends on the message alone, in time linear in its ends. The weights are in ``goal.json``, which
``benchmarks/fit_goals.py`` writes; docs/decisions/0035-goal.md has how well they do.
"""

from typing import NamedTuple

from autogen_context.language.linear import model
from autogen_context.language.own_words import all_sentences
from autogen_context.language.reading import terms_of
from autogen_context.text.memo import remembered

JOB = "job"  # the head for whether it gives a job
ADDS = "adds"  # for whether a job comes on top
NOTHING_SAID = -9.0  # log-odds of a message without words of its own
REMEMBERED = 512  # messages


class JobReading(NamedTuple):
    """What a message gives to do, in log-odds.

    Attributes:
        job: that it gives a job, as its likeliest sentence does; orders for the step at hand, questions, talk and consent do not.
        adds: that the job comes on top of the one before.
    """

    job: float
    adds: float


@remembered(REMEMBERED)
def job_in(message: str) -> JobReading:
    """Read a message of a person, without what it quotes."""
    own = [
        message[start:stop] for start, stop, is_quoted in all_sentences(message) if not is_quoted
    ]
    learned = model("goal")
    heads = [learned.heads.index(head) for head in (JOB, ADDS)]
    found = [learned.scores(terms_of(" ".join(sentence.split()))) for sentence in own]
    read = (JobReading(*(scores[at] for at in heads)) for scores in found)
    return max(read, default=JobReading(NOTHING_SAID, NOTHING_SAID))
