"""How profiles depart from the usual fields, whatever those are called."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from benchmark.quality import Finding, Kind, Severity
from benchmark.quality.schema import Schema, likeness

USUAL: dict[str, Any] = {
    "Name": "Ada",
    "Facts": {"Age": 30, "Occupation": "engineer", "Languages": ["en", "fr"]},
    "Home": {"Kitchen_Habits": "tea", "Garden": "roses", "Cellar": "wine"},
}
DRIFT = {
    *(Kind.MISSPELT_FIELD, Kind.OTHER_LAYOUT, Kind.MISSING_FIELD, Kind.STRAY_FIELD),
    *(Kind.OPTIONAL_FIELD, Kind.TYPE_DRIFT),
}


def profile(**changes: Any) -> dict[str, Any]:
    """The usual profile with changes by ``Object__Key``; a value of `...` takes the key out."""
    body = deepcopy(USUAL)
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = body
        for parent in parents:
            place = place[parent]
        if value is ...:
            del place[key]
        else:
            place[key] = value
    return body


def schema(*odd: Any, usual: int = 20) -> Schema:
    """Usual profiles u0, u1, ... and odd ones o0, o1, ..."""
    found = Schema()
    for n in range(usual):
        found.add(f"u{n}", profile())
    for n, body in enumerate(odd):
        found.add(f"o{n}", body)
    return found


def drift(*odd: Any, **options: Any) -> list[Finding]:
    return list(schema(*odd, **options).findings())


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_profiles_with_one_layout_are_no_drift() -> None:
    assert drift() == []
    assert list(Schema().findings()) == []
    assert drift("A text.", "Another.", "", usual=0) == []


def test_a_misspelt_key_in_the_place_of_the_usual_one() -> None:
    odd = [
        profile(Facts__Occupation=..., Facts__Ocupation="cook"),
        profile(Facts__Occupation=..., Facts__occupation="cook"),
        profile(Facts__Occupation=..., Facts__Ocupation="cook"),
    ]
    finding = only(drift(*odd))
    assert (finding.kind, finding.severity) == (Kind.MISSPELT_FIELD, Severity.WARNING)
    assert (finding.count, finding.ids) == (3, ("o0", "o1", "o2"))
    assert finding.numbers["field"] == "Facts.Occupation"
    assert finding.numbers["which"] == "Ocupation 2, occupation 1"
    assert finding.details[0] == {"spelling": "Ocupation", "count": 2, "ids": ["o0", "o2"]}


def test_a_similar_key_beside_the_usual_one_is_no_misspelling() -> None:
    finding = only(drift(profile(Facts__Ocupation="cook")))
    assert finding.kind is Kind.STRAY_FIELD


def test_rare_keys_in_the_place_of_usual_ones_are_another_layout() -> None:
    older = {"Home__Garden": ..., "Home__Cellar": ..., "Home__Outside": "both"}
    odd = [profile(**older), profile(**older), profile(Home__Garden=..., Home__Outside="roses")]
    finding = only(drift(*odd))
    assert (finding.kind, finding.numbers["field"]) == (Kind.OTHER_LAYOUT, "Home")
    assert finding.count == 3
    assert finding.details == (
        {"missing": ["Cellar", "Garden"], "instead": ["Outside"], "count": 2, "ids": ["o0", "o1"]},
        {"missing": ["Garden"], "instead": ["Outside"], "count": 1, "ids": ["o2"]},
    )


def test_a_name_cut_short_is_another_layout_and_no_misspelling() -> None:
    odd = profile(Home__Kitchen_Habits=..., Home__Kitchen="tea")
    assert only(drift(odd)).kind is Kind.OTHER_LAYOUT


def test_a_missing_field() -> None:
    finding = only(drift(profile(Home__Cellar=...), profile(Home__Cellar=...)))
    assert (finding.kind, finding.count) == (Kind.MISSING_FIELD, 2)
    assert finding.sentence == "Personas without Home.Cellar: 2 of 22."


def test_fields_of_an_object_that_is_missing_are_not_missed_one_by_one() -> None:
    finding = only(drift(profile(Home=...)))
    assert (finding.kind, finding.numbers["field"]) == (Kind.MISSING_FIELD, "Home")


def test_stray_and_optional_fields() -> None:
    rare = [profile(Bias="none") for _ in range(5)]
    findings = drift(*rare, profile(Dream="sea"), profile(dream="air", Pattern={"Free": {"x": 1}}))
    stray = only([f for f in findings if f.kind is Kind.STRAY_FIELD])
    assert (stray.severity, stray.ids) == (Severity.WARNING, ("o5", "o6"))
    assert [detail["field"] for detail in stray.details] == ["Dream", "Pattern", "dream"]
    optional = only([f for f in findings if f.kind is Kind.OPTIONAL_FIELD])
    assert (optional.severity, optional.numbers["field"]) == (Severity.NOTICE, "Bias")
    assert len(findings) == 2  # what is within a rare field is free


def test_an_optional_field_does_not_stand_in_for_a_missing_one() -> None:
    rare = [profile(Bias="none") for _ in range(5)]
    findings = drift(*rare, profile(Bias="none", Name=...))
    assert {(f.kind, f.count) for f in findings} == {
        (Kind.OPTIONAL_FIELD, 6),
        (Kind.MISSING_FIELD, 1),
    }


def test_types_drift() -> None:
    odd = [
        profile(Facts__Age="thirty"),
        profile(Facts__Age=None),
        profile(Facts__Age="31"),
        profile(Facts__Languages=["en", {"Name": "fr"}]),
        "A text.",
        profile(Home="a flat"),
    ]
    findings = drift(*odd)
    assert {f.kind for f in findings} == {Kind.TYPE_DRIFT}
    by_field = {f.numbers["field"]: f for f in findings}
    assert set(by_field) == {"the profile", "Facts.Age", "Facts.Languages[]", "Home"}
    age = by_field["Facts.Age"]
    assert (age.count, age.numbers["which"]) == (3, "a number 22, text 2, null 1")
    assert by_field["the profile"].ids == ("o4",)
    assert by_field["Home"].ids == ("o5",)


def test_types_of_an_optional_field_drift_too() -> None:
    odd = [profile(Bias={"a": 1}) for _ in range(4)] + [profile(Bias="b"), profile(Bias=["c"])]
    drifted = only([f for f in drift(*odd) if f.kind is Kind.TYPE_DRIFT])
    assert (drifted.count, drifted.numbers["field"]) == (2, "Bias")
    assert [detail["type"] for detail in drifted.details] == ["a list", "text"]


def test_order_and_names_of_fields_do_not_matter() -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {f"字段{key}": renamed(child) for key, child in reversed(value.items())}
        return value

    odd = [
        profile(Facts__Occupation=..., Facts__Ocupation="cook"),
        profile(Home__Garden=..., Home__Outside="roses"),
        profile(Name=...),
        profile(Facts__Age="thirty", Extra=1),
    ]
    plain = schema(*odd)
    other = Schema()
    for n, body in reversed(list(enumerate(odd))):
        other.add(f"o{n}", renamed(body))
    for n in range(20):
        other.add(f"u{n}", renamed(profile()))
    assert {(f.kind, f.ids) for f in plain.findings()} == {
        (f.kind, f.ids) for f in other.findings()
    }
    assert {f.kind for f in plain.findings()} == DRIFT - {Kind.OPTIONAL_FIELD}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Judging_or_Perceiving", "Judging_or_Pereiving", True),
        ("Local_Life", "LocalLife", True),
        ("Preferences", "preference", True),
        ("Daily_Outings", "TravelDaily_Outings", False),
        ("Food", "Mood_and_Weather", False),
        ("年龄", "年纪", False),
    ],
)
def test_likeness(one: str, other: str, alike: bool) -> None:
    assert (likeness(one, other) >= 0.8) is alike
    assert likeness(one, one) == 1.0


def test_values_that_make_a_distribution() -> None:
    found = Schema()
    for n in range(40):
        found.add(
            f"p{n}",
            {
                "Name": f"Name {n}",
                "Age": 20 + n,
                "Gender": "f" if n < 31 else "m",
                "Pet": n % 2 == 0,
                "Languages": ["en"] if n % 2 else ["en", "fr"],
                "Story": "long " * 20,
                "Number": 10**400 if n == 3 else 1,
            },
        )
    values = found.distributions()
    assert set(values) == {"Age", "Gender", "Pet", "Languages[]"}
    assert values["Age"] == {
        **{"n": 40, "min": 20.0, "q1": 29.75, "median": 39.5, "q3": 49.25, "max": 59.0},
    }
    assert values["Gender"] == {"n": 40, "distinct": 2, "values": {"f": 31, "m": 9}}
    assert values["Pet"]["values"] == {"false": 20, "true": 20}
    assert values["Languages[]"]["values"] == {"en": 40, "fr": 20}
    finding = only(list(found.one_sided()))
    assert finding.sentence == "Personas in which Gender is f: 31 of 40."
