"""What is wrong with a set of pairs and personas: plain Python, no database and no web framework.

==========  ====================================================================================
module      question it answers
==========  ====================================================================================
check       all of the following: the one function to call
findings    how is a finding written down, in words and as JSON?
sheet       what is each row, as ids, digests and lengths? (first reading)
leaks       what do the texts give away, and what do they share with the profile? (second reading)
repeats     which pairs and texts stand in several places, and do their labels agree there?
near        which of many texts may be nearly the same?
duplicates  which are, within a persona and across personas?
measures    how long, how often, how even; which rule without reading names the chosen response?
schema      which profiles depart from the usual fields, and which values do they hold?
texts       when are two texts the same, and how alike are two?
==========  ====================================================================================

A set is read twice and never held: what stays is, for each row, its ids and numbers; for each
different text 16 bytes of digest and 512 of signature; for each persona the pairs of letters of its
profile (some 6 KB) and its rare fields. Texts are kept of candidates for near-duplicates alone.
"""

from benchmark.quality.check import PRIOR, VOTES, check
from benchmark.quality.findings import Finding, Kind, QualityReport, Severity

__all__ = ["PRIOR", "VOTES", "Finding", "Kind", "QualityReport", "Severity", "check"]
