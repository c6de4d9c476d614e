"""Statistics of votes: plain Python on integer arrays, no database and no web framework.

=============  =================================================================
module         question it answers
=============  =================================================================
values         how is a number, or the reason why there is none, written down?
codes          which small integers stand for choices, statuses and tiers?
counts         how do votes become a count table and a histogram of patterns?
agreement      how far do the raters of a set agree?
majority       which response do the votes on one criterion name?
tiers          how hard is one pair, judged by its votes?
distributions  quantiles and probabilities for the above
policy         by which versioned rules are verdicts made?
verdicts       what does a policy make of the tallies of both criteria?
=============  =================================================================

Nothing is imported here, so that a process that only lists policies does not load SciPy.
"""
