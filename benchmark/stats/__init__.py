"""Statistics of votes: plain Python on integer arrays, no database and no web framework.

=============  =================================================================================
module         question it answers
=============  =================================================================================
values         how is a number, or the reason why there is none, written down?
codes          which small integers stand for choices, statuses and tiers?
counts         how do votes become a count table and a histogram of patterns?
votes          votes one by one, for what depends on who gave them
agreement      how far do the raters of a set agree?
variants       by the other formulas that go by the name of Fleiss?
weighted       and where a tie is half an agreement?
alpha          by Krippendorff, for nominal, ordinal and other labels?
by_rater       by Conger, Light, and of every two raters?
bootstrap      how sure is that, over items, and over items and raters?
report         all of it about one criterion
label_report   and about any table of labels
majority       which response do the votes on one criterion name?
tiers          how hard is one pair, judged by its votes?
split_half     does agreement hold in votes that the tier did not see?
stopping       what if judging stopped early?
patterns       pairs whose votes look the same, counted together
policy         by which versioned rules are verdicts made?
verdicts       what does a policy make of the tallies of both criteria?
overview       and of a whole set, in numbers?
sensitivity    how much of that hangs on bands, rules and numbers of raters?
draws          what other draws of votes would have given
raters         how does one rater compare with the others?
habits         does a rater follow a side, length, or habit?
speed          which votes came too fast?
discovery      who stands out, with so many raters tested?
bias           does the whole set favor a side, or length?
dawid_skene    labels by a model of the raters
accuracy       against known labels
bradley_terry  which system wins over many cases?
proportions    shares and ratios with intervals
distributions  quantiles and probabilities for the above
=============  =================================================================================

Nothing is imported here, so that a process that only lists policies does not load SciPy.
"""
