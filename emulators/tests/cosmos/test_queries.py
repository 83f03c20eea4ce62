"""What queries find."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulators.tests.cosmos.account import NOW, Account, new_account
from local_azure.cosmos import ContainerProperties
from local_azure.cosmos.errors import CosmosError
from local_azure.cosmos.sql.functions import call

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "a", "orderId": "1", "n": 1, "tags": ["x", "y"], "at": {"city": "Oslo"}},
    {"id": "b", "orderId": "2", "n": 2.5, "tags": [], "name": "Beth"},
    {"id": "c", "orderId": "1", "n": "1", "tags": ["y", {"k": 1, "l": 2}], "name": None},
    {"id": "d", "orderId": "3", "tags": [["x"]], "name": "Dan", "value": True},
]
_TEXT = "x" * 1_500_000
COMPOSITE = [[{"path": "/orderId"}, {"path": "/n", "order": "descending"}]]


@pytest.fixture(scope="module")
def orders() -> Account:
    account = new_account(
        ContainerProperties(
            database="shop",
            id="orders",
            partition_key_paths=("/orderId",),
            indexing_policy={
                "compositeIndexes": COMPOSITE,
                "includedPaths": [{"path": "/*"}, {"path": "/at/city/?"}],
                "excludedPaths": [{"path": "/at/*"}, {"path": "/secret/?"}],
            },
        )
    )
    for document in DOCUMENTS:
        assert account.create(document).status == 201
    return account


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("true", "abcd"),
        ("false", ""),
        ("c.n = 1", "a"),
        ("c.n != 1", "bc"),
        ("c.n > 1", "b"),
        ("c.n >= 1 AND c.n < 3", "ab"),
        ("c.n BETWEEN 1 AND 2", "a"),
        ("c.n NOT BETWEEN 1 AND 2", "b"),
        ("c.n = '1'", "c"),
        ("c.n = true", ""),
        ("c.name = null", "c"),
        ("c.name != null", "bd"),
        ("c.name <= null", "c"),
        ("NOT c.name = null", "bd"),
        ("NOT (c.n = 1)", "bc"),
        ("c.n = 1 OR c.name = 'Dan'", "ad"),
        ("c.missing = 1 OR c.n = 1", "a"),
        ("c.missing = 1 AND c.n = 1", ""),
        ("NOT (c.missing = 1 AND c.n = 1)", "bc"),
        ("c.id IN ('a', \"d\", c.name)", "ad"),
        ("c.id NOT IN ('a', 'd')", "bc"),
        ("c.n IN (true, 1)", "a"),
        ("c.at.city = 'Oslo'", "a"),
        ("c['at'][\"city\"] = 'Oslo'", "a"),
        ("c.tags[0] = 'x'", "a"),
        ("c.tags[2] = 'x'", ""),
        ("c.tags = ['x', 'y']", "a"),
        ("c.tags[1] = {'l': 2, 'k': 1}", "c"),
        ('c["value"]', "d"),
        ("c.name LIKE '%e%'", "b"),
        ("c.name LIKE 'D_n'", "d"),
        ("c.name NOT LIKE 'D%'", "b"),
        ("c.name LIKE '!D%' ESCAPE '!'", "d"),
        ("c.name LIKE '%a%n%'", "d"),
        ("c.n + 1 = 2", "a"),
        ("c.n * 2 - 5 = 0", "b"),
        ("c.n % 2 = 1", "a"),
        ("c.n / 0 = 1", ""),
        ("-c.n = -1", "a"),
        ("(c.name ?? 'none') = 'none'", "a"),
        ("(c.n = 1 ? 'one' : 'other') = 'one'", "a"),
        ("c.id || '-' || c.orderId = 'b-2'", "b"),
        ("IS_DEFINED(c.name)", "bcd"),
        ("IS_NULL(c.name)", "c"),
        ("IS_STRING(c.n)", "c"),
        ("IS_NUMBER(c.n)", "ab"),
        ("IS_BOOL(c['value'])", "d"),
        ("IS_OBJECT(c.at)", "a"),
        ("IS_ARRAY(c.tags) AND IS_PRIMITIVE(c.n)", "abc"),
        ("ARRAY_CONTAINS(c.tags, 'y')", "ac"),
        ("ARRAY_CONTAINS(c.tags, {'k': 1})", ""),
        ("ARRAY_CONTAINS(c.tags, {'k': 1}, true)", "c"),
        ("ARRAY_CONTAINS(c.name, 'B')", ""),
        ("ARRAY_LENGTH(c.tags) = 1", "d"),
        ("CONTAINS(c.name, 'ET', true)", "b"),
        ("STARTSWITH(c.name, 'B') OR ENDSWITH(c.name, 'n')", "bd"),
        ("UPPER(c.name) = 'DAN' AND LENGTH(c.name) = 3", "d"),
        ("EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'y')", "ac"),
        ("(SELECT VALUE COUNT(1) FROM t IN c.tags) = 2", "ac"),
        ("c.ts < GetCurrentTimestamp() OR GetCurrentDateTime() > '2023-11-14'", "abcd"),
        ("c.n = 1 -- a comment", "a"),
    ],
)
def test_a_condition_finds(orders: Account, condition: str, ids: str) -> None:
    found = orders.query("SELECT VALUE c.id FROM c WHERE " + condition)  # noqa: S608
    assert "".join(found.json["Documents"]) == ids


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("SELECT VALUE COUNT(1) FROM c", [4]),
        ("SELECT VALUE COUNT(c.name) FROM c", [3]),
        ("SELECT VALUE COUNT(1) FROM c WHERE false", [0]),
        ("SELECT VALUE SUM(c.n) FROM c WHERE IS_NUMBER(c.n)", [3.5]),
        ("SELECT VALUE SUM(c.n) FROM c", []),
        ("SELECT VALUE SUM(1e308) FROM c", []),
        ("SELECT VALUE AVG(c.n) FROM c WHERE false", []),
        ("SELECT VALUE {'least': MIN(c.n), 'most': MAX(c.n)} FROM c", [{"least": 1, "most": "1"}]),
        ("SELECT TOP 2 VALUE c.id FROM c", ["a", "b"]),
        ("SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2", ["b", "c"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.n", ["d", "a", "b", "c"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.n DESC", ["c", "b", "a", "d"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.orderId, c.n DESC", ["c", "a", "b", "d"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.orderId DESC, c.n", ["d", "b", "a", "c"]),
        (
            "SELECT c.id, c.at.city, c.n AS m FROM c WHERE c.n = 1",
            [{"id": "a", "city": "Oslo", "m": 1}],
        ),
        ("SELECT c.missing, 1 + 1, 'x' y FROM c WHERE c.n = 1", [{"$1": 2, "y": "x"}]),
        ("SELECT VALUE c.missing FROM c", []),
        ("SELECT VALUE [c.n, c.missing] FROM c WHERE c.n = 1", [[1]]),
        ("SELECT DISTINCT VALUE c.orderId FROM c", ["1", "2", "3"]),
        ("SELECT VALUE t FROM t IN c.tags WHERE IS_STRING(t)", ["x", "y", "y"]),
        ("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.id = 'a'", ["x", "y"]),
        (
            "SELECT c.orderId, COUNT(1) AS n FROM c WHERE c.n = 1 GROUP BY c.orderId",
            [{"orderId": "1", "n": 1}],
        ),
        (
            "SELECT LOWER(c.orderId) AS o, COUNT(1) + 1 AS n, 'x' AS x FROM c GROUP BY c.orderId",
            [{"o": each, "n": count, "x": "x"} for each, count in (("1", 3), ("2", 2), ("3", 2))],
        ),
        ("SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags) FROM c WHERE c.n = 1", [["x", "y"]]),
        (
            "SELECT VALUE t FROM t IN c.tags WHERE EXISTS(SELECT VALUE 1 FROM u IN t WHERE t[0]=u)",
            [["x"]],
        ),
        ("SELECT VALUE u FROM c JOIN t IN c.tags JOIN u IN t", ["x"]),
        (
            "SELECT VALUE (SELECT VALUE {'id': c.id, 'n': COUNT(t.k)} FROM t IN c.tags) FROM c",
            [{"id": "a", "n": 0}, {"id": "b", "n": 0}, {"id": "c", "n": 1}, {"id": "d", "n": 0}],
        ),
        ("SELECT VALUE city FROM c.at.city", ["Oslo"]),
        ("SELECT VALUE orders.id FROM orders WHERE orders.n = 1", ["a"]),
        ("SELECT VALUE root.id FROM root WHERE root.n = 1", ["a"]),
        ("SELECT VALUE r.id FROM root r WHERE r.n = 1", ["a"]),
        ("SELECT VALUE d.id FROM c AS d WHERE d.n = 1", ["a"]),
        ("SELECT VALUE 1", [1]),
        ("select value GetCurrentTimestamp()", [NOW * 1000]),
        (r"SELECT VALUE 'it\'s \u0041'", ["it's A"]),
    ],
)
def test_a_query_gives(orders: Account, text: str, results: list[Any]) -> None:
    assert orders.query(text).json["Documents"] == results


def test_all_of_a_document_comes_with_its_system_properties(orders: Account) -> None:
    found = orders.query("SELECT * FROM c WHERE c.id = @id", [{"name": "@id", "value": "b"}]).json
    assert found["_count"] == 1
    assert found["Documents"][0] == orders.read("b", "2").json


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT",
        "SELECT * FROM",
        "SELECT * FROM c WHERE",
        "SELECT * FROM c WHERE c.n = 'open",
        "SELECT * FROM c WHERE c.n = = 1",
        "SELECT * FROM c WHERE c.value = 1",
        "SELECT * FROM c WHERE c.n NOT 5",
        "SELECT * FROM c JOIN t IN c.tags",
        "SELECT * FROM c WHERE c.n = @missing",
        "SELECT TOP -1 * FROM c",
        "SELECT * FROM c OFFSET 1",
        "SELECT * FROM c; DROP",
        "SELECT VALUE 1e999",
        "SELECT VALUE LENGTH() FROM c",
        "SELECT VALUE " + "(" * 5000,
        "SELECT VALUE " + "+".join("1" * 5000),
        "SELECT VALUE c.id FROM c ORDER BY c.n + 1",
        "SELECT VALUE c.id FROM c JOIN t IN c.tags ORDER BY t.k",
        "SELECT VALUE c.id FROM c ORDER BY c.orderId, c.n",
        "SELECT VALUE c.id FROM c ORDER BY c.at.zip",
        "SELECT VALUE c.id FROM c ORDER BY c.secret",
        "SELECT COUNT(1) FROM c",
        "SELECT TOP 1e300 * FROM c",
        "SELECT TOP 2147483648 * FROM c",
        "SELECT TOP 9223372036854775808 * FROM c",
        "SELECT * FROM c OFFSET 1e300 LIMIT 1",
        "SELECT * FROM c OFFSET 1 LIMIT 1e300",
        "SELECT VALUE 1 FROM c JOIN t IN c.tags JOIN t IN c.tags",
        "SELECT VALUE MAX(c.n) FROM c GROUP BY c.n ORDER BY c.n",
        "SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.orderId",
        "SELECT * FROM c GROUP BY c.orderId",
        "SELECT VALUE {'id': UPPER(c.id)} FROM c GROUP BY c.orderId",
        "SELECT VALUE (SELECT VALUE c.id) FROM c GROUP BY c.orderId",
        "SELECT VALUE {'id': c.id, 'n': COUNT(1)} FROM c",
        "SELECT VALUE COUNT(COUNT(1)) FROM c",
        "SELECT VALUE COUNT() FROM c",
        "SELECT VALUE c.id FROM c WHERE COUNT(1) > 1",
        "SELECT VALUE COUNT(1) FROM c GROUP BY COUNT(1)",
    ],
)
def test_a_query_that_the_service_refuses_is_a_bad_request(orders: Account, text: str) -> None:
    assert orders.query(text).outcome == (400, 0)


@pytest.mark.parametrize(
    ("outside", "inside", "status"), [(5, 0, 200), (6, 0, 400), (3, 2, 200), (3, 3, 400)]
)
def test_a_query_has_five_joins_at_most_and_those_within_it_count(
    orders: Account, outside: int, inside: int, status: int
) -> None:
    joins = [f" JOIN t{number} IN c.tags" for number in range(6)]
    within = f"EXISTS(SELECT VALUE 1 FROM c{''.join(joins[:inside])})"  # noqa: S608
    text = f"SELECT VALUE {within} FROM c{''.join(joins[:outside])}"  # noqa: S608
    answer = orders.query(text)
    assert answer.status == status
    assert ("more than 5 joins" in answer.json.get("message", "")) == (status == 400)


@pytest.mark.parametrize(("paths", "status"), [(8, 200), (9, 400)])
def test_an_order_has_eight_paths_at_most(paths: int, status: int) -> None:
    names = [f"p{number}" for number in range(paths)]
    index = [{"path": f"/{name}"} for name in names]
    account = new_account(
        ContainerProperties(
            database="shop",
            id="orders",
            partition_key_paths=("/orderId",),
            indexing_policy={"compositeIndexes": [index]},
        )
    )
    order = ", ".join(f"c.{name}" for name in names)
    assert account.query(f"SELECT * FROM c ORDER BY {order}").status == status  # noqa: S608


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SELECT id FROM p", "id"),
        ("SELECT VALUE COUNT(1) FROM c WHERE n = 1", "n"),
        ("SELECT d.id FROM c", "d"),
        ("SELECT c.id FROM c d", "c"),
        ("SELECT c.id FROM c AS d", "c"),
        ("SELECT c.id FROM t IN c.tags", "c"),
        ("SELECT VALUE 1 FROM t IN c.tags JOIN u IN c.tags", "c"),
        ("SELECT VALUE 1 FROM c JOIN t IN u JOIN u IN c.tags", "u"),
        ("SELECT VALUE 1 FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN d.tags)", "d"),
        ("SELECT VALUE 1 FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN c.tags) AND t = 1", "t"),
        ("SELECT c.n AS m FROM c ORDER BY m", "m"),
        ("SELECT c.n AS m FROM c GROUP BY m", "m"),
        ("SELECT VALUE C.id FROM c", "C"),
        ("SELECT VALUE c", "c"),
    ],
)
def test_a_name_that_nothing_bears_is_a_bad_request(orders: Account, text: str, name: str) -> None:
    refused = orders.query(text)
    assert refused.outcome == (400, 0)
    error = json.loads(refused.json["message"].partition("\r\n")[0])["errors"][0]
    assert (error["code"], error["severity"]) == ("SC2001", "Error")
    assert error["message"] == f"Identifier '{name}' could not be resolved."
    assert text[error["location"]["start"] : error["location"]["end"]] == name


def test_a_name_in_the_condition_of_a_patch_is_checked_alike(orders: Account) -> None:
    operation = {"op": "set", "path": "/seen", "value": 1}
    assert orders.patch("a", operation, condition="FROM c WHERE n = 1").outcome == (400, 0)
    assert orders.patch("a", operation, condition="FROM c d WHERE c.n = 1").outcome == (400, 0)


@pytest.mark.parametrize(
    "expression",
    [
        "@text || @text || @text",
        "CONCAT(@text, @text, @text)",
        "REPLACE(@text, 'x', 'xyz')",
        "REPLACE(@text, '', 'xy')",
        "[@text, @text, @text]",
        "{'a': @text, 'b': @text, 'c': @text}",
        "ARRAY(SELECT VALUE @text FROM c JOIN x IN [1, 2, 3])",
        "ARRAY_CONCAT([@text, @text], [@text])",
    ],
)
def test_a_value_that_a_query_makes_has_a_size(orders: Account, expression: str) -> None:
    text = {"name": "@text", "value": _TEXT}
    refused = orders.query(f"SELECT VALUE {expression} FROM c", [text])  # noqa: S608
    assert (refused.outcome, "4194304 characters" in refused.json["message"]) == ((400, 0), True)


@pytest.mark.parametrize(
    ("name", "arguments"), [("CONCAT", [_TEXT] * 3), ("REPLACE", [_TEXT, "x", _TEXT])]
)
def test_a_text_is_measured_before_it_is_made(name: str, arguments: list[str]) -> None:
    with pytest.raises(CosmosError, match="4194304 characters"):
        call(name, arguments)


def test_values_within_values_do_not_multiply_without_end(orders: Account) -> None:
    nested = "[0, 1]"
    for _ in range(20):
        nested = f"(SELECT VALUE [x, x, x, x] FROM (SELECT VALUE {nested}) x)"  # noqa: S608
    assert orders.query(f"SELECT VALUE {nested} FROM c").outcome == (400, 0)  # noqa: S608


@pytest.mark.parametrize(
    "condition",
    [
        "1 = (SELECT VALUE COUNT(1) FROM c JOIN a IN @many JOIN b IN @many)",
        f"EXISTS(SELECT VALUE 1 FROM c JOIN a IN @many WHERE {' OR '.join(['a < 0'] * 9)})",  # noqa: S608
        " OR ".join(["@many != @many"] * 2000),
        f"c.id IN ({', '.join(['@many'] * 2000)})",
        " OR ".join(["LOWER(@text) = 'y'"] * 2000),
        " OR ".join(["@text LIKE '%xxxxxxxxxxxxxxxxxxxy%'"] * 2000),
        "c.id LIKE @text",
        " OR ".join(["[@many][1] = 1"] * 2000),
    ],
    ids=[
        "rows",
        "expressions",
        "comparisons",
        "IN",
        "functions",
        "LIKE",
        "patterns",
        "values made",
    ],
)
def test_a_query_that_takes_too_much_work_is_stopped(orders: Account, condition: str) -> None:
    parameters = [
        {"name": "@many", "value": [*range(50_000)]},
        {"name": "@text", "value": _TEXT},
    ]
    refused = orders.query(f"SELECT VALUE c.id FROM c WHERE {condition}", parameters)  # noqa: S608
    assert (refused.outcome, "too much work" in refused.json["message"]) == ((400, 0), True)


def test_a_query_that_takes_too_much_work_to_check_is_stopped(orders: Account) -> None:
    numbers = ", ".join(["1"] * 2000)
    groups = ", ".join(f"c.p{number}" for number in range(1000))
    refused = orders.query(f"SELECT VALUE [{numbers}] FROM c GROUP BY {groups}")  # noqa: S608
    assert (refused.outcome, "too much work" in refused.json["message"]) == ((400, 0), True)


def test_however_many_documents_there_are_a_query_goes_through_them(account: Account) -> None:
    for number in range(1500):
        account.create({"id": str(number), "orderId": "1", "n": 1})
    condition = " OR ".join(["c.n = 0"] * 200)
    found = account.query(f"SELECT VALUE COUNT(1) FROM c WHERE NOT ({condition})")  # noqa: S608
    assert found.json["Documents"] == [1500]


def test_a_syntax_error_says_where(orders: Account) -> None:
    refused = orders.query("SELECT * FORM c").json["message"]
    assert '"location":{"start":9,"end":13}' in refused
    assert "incorrect syntax near 'FORM'" in refused


@pytest.mark.parametrize("path", ["at.city", "id", "_ts", "n"])
def test_an_order_that_an_index_has_is_served(orders: Account, path: str) -> None:
    assert orders.query("SELECT VALUE c.id FROM c ORDER BY c." + path).status == 200  # noqa: S608


def test_one_partition_is_asked_by_header_or_by_condition(orders: Account) -> None:
    text = "SELECT VALUE c.id FROM c"
    not_across = {"x_ms_documentdb_query_enablecrosspartition": "False"}
    assert orders.query(text, pk="1").json["Documents"] == ["a", "c"]
    assert orders.query(f"{text} WHERE c.orderId = '1'", **not_across).json["_count"] == 2
    assert orders.query(text, **not_across).outcome == (400, 0)


def test_functions_and_patterns_that_are_not_emulated_are_named(orders: Account) -> None:
    assert orders.query("SELECT VALUE x FROM (SELECT VALUE c FROM c) x").status == 501
    refused = orders.query("SELECT VALUE ST_DISTANCE(c.a, c.b) FROM c")
    assert (refused.status, "ST_DISTANCE" in refused.json["message"]) == (501, True)
    assert orders.query("SELECT VALUE c.id FROM c WHERE c.id LIKE '[ab]'").status == 501


@pytest.mark.parametrize(
    "body",
    [{}, [], 5, {"query": 5}, {"query": "SELECT 1", "parameters": 5},
     {"query": "SELECT 1", "parameters": [5]}, {"query": "SELECT 1", "parameters": [{"value": 1}]}],
    ids=str,
)  # fmt: skip
def test_bodies_that_are_no_queries(orders: Account, body: Any) -> None:
    asked = {"x_ms_documentdb_isquery": "true"}
    assert orders.ask("POST", "/dbs/shop/colls/orders/docs", body, pk="1", **asked).status == 400


def test_databases_and_containers_are_queried_too(orders: Account) -> None:
    asked = {"x_ms_documentdb_isquery": "true"}
    query = {"query": "SELECT VALUE r.id FROM root r WHERE STARTSWITH(r.id, 'sho')"}
    assert orders.ask("POST", "/dbs", query, **asked).json["Databases"] == ["shop"]
    query = {"query": "SELECT VALUE r.id FROM root r WHERE r.id != 'orders'"}
    found = orders.ask("POST", "/dbs/shop/colls", query, **asked).json
    assert (found["DocumentCollections"], found["_count"]) == ([], 0)
