"""Filters and actions, as the documentation of the service describes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_azure.servicebus import Action, CorrelationFilter, SqlFilter
from local_azure.servicebus.broker.fields import Changes, Fields
from local_azure.servicebus.broker.rule_sql.values import EvaluationError

_FIELDS = Fields(
    system={"Label": "red", "MessageId": "m", "CorrelationId": "high"},
    user={
        "color": "red",
        "quantity": 5,
        "price": 2.5,
        "my prop": True,
        "it's": "x%y",
        "map": {},
    },
)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("1=1", True),
        ("1=0", False),
        ("color='red'", True),
        ("COLOR = 'red'", True),
        ("user.color <> 'blue' AND quantity != 6", True),
        ("color = 'it''s'", False),
        ("quantity >= 5 AND quantity <= 5 AND NOT quantity < 5 AND NOT quantity > 5", True),
        ("quantity*2 + 1 = 11 AND (quantity - 1) % 3 = 1", True),
        ("quantity / 2 = 2 AND price / 2 = 1.25", True),
        ("quantity = 5.0 AND 1e1 = 10 AND .5 < 1", True),
        ("-quantity = 0 - 5 AND +quantity = 5", True),
        ("color + 'dish' = 'reddish'", True),
        ("color IN ('blue', 'red')", True),
        ("color NOT IN ('blue', 'red')", False),
        ("'abcab' LIKE '%b%b' AND 'abcab' LIKE 'a%c%' AND 'abcab' NOT LIKE '%b%a'", True),
        ("'ab' NOT LIKE 'ab%b' AND 'a' LIKE '%' AND '' LIKE '%%' AND 'ab' LIKE '%_%'", True),
        ("color LIKE 'r%' AND color LIKE '_e_' AND color NOT LIKE 'e%'", True),
        ("\"it's\" LIKE 'x!%y' ESCAPE '!' AND color NOT LIKE 'x!%y' ESCAPE '!'", True),
        ('[my prop] = TRUE AND "my prop"', True),
        ("property('my prop') AND p(color) = 'red'", True),
        ("EXISTS(color) AND NOT EXISTS(user.size)", True),
        ("size IS NULL AND color IS NOT NULL", True),
        ("sys.Label = 'red' AND SYS.messageid = 'm' AND sys.To IS NULL", True),
        ("color = 'red' OR size > 1", True),
        ("(color = 'blue' OR quantity = 5) AND sys.CorrelationId = 'high'", True),
        ("newid() <> newid()", True),
        ("quantity > @least AND color = @color", True),
    ],
)
def test_a_condition_holds_or_not(expression: str, holds: bool) -> None:
    chosen = SqlFilter(expression=expression, parameters={"@least": 4, "@color": "red"})
    assert chosen.matches(_FIELDS) is holds


@pytest.mark.parametrize(
    "expression",
    [
        "size > 1",
        "NOT size > 1",
        "size = 1 AND color = 'red'",
        "size IN (1)",
        "size NOT IN (1)",
        "size LIKE 'a'",
        "size + 1 = 1",
        "NULL = NULL",
        "NULL",
    ],
)
def test_what_is_unknown_does_not_hold(expression: str) -> None:
    assert not SqlFilter(expression=expression).matches(_FIELDS)


@pytest.mark.parametrize(
    "expression",
    [
        "color > 1",
        "quantity = '5'",
        "color - 'r' = 'ed'",
        "quantity / 0 = 1",
        "color",
        "5 LIKE '5'",
        "map < map",
        "9223372036854775807 + 1 = 1",
    ],
)
def test_what_does_not_fit_the_values_cannot_be_judged(expression: str) -> None:
    with pytest.raises(EvaluationError):
        SqlFilter(expression=expression).matches(_FIELDS)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "syntax error"),
        ("color =", "syntax error"),
        ("color = 'red", "is not understood"),
        ("(1=1", "syntax error"),
        ("1=1 1=1", "syntax error near '1'"),
        ("color BETWEEN 1 AND 2", "near 'BETWEEN'"),
        ("sys.Colour = 1", "no property sys.Colour"),
        ("other.color = 1", "no property other.color"),
        ("dance(1)", "no function dance"),
        ("a = @missing", "@missing has no value"),
        ("'a' = 'b' AND " * 100, "at most 1024 characters"),
        ("(" * 500, "nests at most 32 levels"),
        ("NOT " * 200, "nests at most 32 levels"),
        ("-" * 500 + "1", "nests at most 32 levels"),
    ],
)
def test_what_is_no_condition_is_refused(expression: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        SqlFilter(expression=expression)


def test_a_pattern_is_matched_without_going_back() -> None:
    pattern = "%a" * 300 + "%b"
    assert not SqlFilter(expression=f"a LIKE '{pattern}'").matches(
        Fields(system={}, user={"a": "a" * 30_000})
    )


@pytest.mark.parametrize("statement", ["SET color = color + color", "SET quantity = quantity * 99"])
def test_what_an_action_computes_does_not_grow_without_end(statement: str) -> None:
    action = Action(expression=";".join([statement] * 30))
    with pytest.raises(EvaluationError, match="more than"):
        action.changes(_FIELDS)


@given(st.text("aN1='\"()[]<>.,@%+- OTIS", max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        chosen = SqlFilter(expression=text)
    except ValueError:
        return
    try:
        chosen.matches(_FIELDS)
    except EvaluationError:
        return


def test_an_action_sets_and_removes_in_order() -> None:
    action = Action(
        expression="SET quantity = quantity + 1; SET twice = quantity * 2\n"
        "REMOVE color SET sys.Label = 'n' + 'ew'; REMOVE sys.ContentType;"
    )
    assert action.changes(_FIELDS) == Changes(
        system={"Label": "new", "ContentType": None},
        user={"quantity": 6, "twice": 12, "color": None},
    )


@pytest.mark.parametrize("text", ["", "color = 1", "SET color", "SET color = 1 2", "REMOVE 1"])
def test_what_is_no_action_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="syntax error"):
        Action(expression=text)


@pytest.mark.parametrize(
    ("chosen", "holds"),
    [
        (CorrelationFilter(system={"Label": "red"}), True),
        (CorrelationFilter(system={"Label": "red", "To": "x"}), False),
        (CorrelationFilter(system={"Label": "Red"}), False),
        (CorrelationFilter(system={"Label": "red"}, user={"quantity": 5}), True),
        (CorrelationFilter(user={"quantity": 6}), False),
        (CorrelationFilter(user={"size": None}), False),
    ],
)
def test_a_correlation_compares_all_its_properties(
    chosen: CorrelationFilter,
    holds: bool,
) -> None:
    assert chosen.matches(_FIELDS) is holds


def test_a_correlation_needs_properties_that_there_are() -> None:
    with pytest.raises(ValueError, match="at least one"):
        CorrelationFilter()
    with pytest.raises(ValueError, match="knows no Colour"):
        CorrelationFilter(system={"Colour": "red"})
