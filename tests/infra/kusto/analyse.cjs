// Analyses KQL as Log Analytics would: reads {tables, queries} as JSON from standard input, and
// writes for each query what is wrong with it and the columns of its result.

"use strict";

const { readFileSync } = require("node:fs");

require("@kusto/language-service-next/bridge.min.js");
require("@kusto/language-service-next/Kusto.Language.Bridge.min.js");

const { KustoCode, GlobalState, Symbols } = Kusto.Language;

function items(list) {
  return Array.from({ length: list?.Count ?? 0 }, (_, index) => list.getItem(index));
}

function analyse(query, globals) {
  const code = KustoCode.ParseAndAnalyze(query, globals);
  const columns = items(code.ResultType.Columns);
  return {
    problems: items(code.GetDiagnostics()).map(({ Code, Message }) => `${Code}: ${Message}`),
    columns: Object.fromEntries(columns.map((column) => [column.Name, column.Type.Name])),
  };
}

const { tables, queries } = JSON.parse(readFileSync(0, "utf8"));
const symbols = Object.entries(tables).map(([name, columns]) =>
  Symbols.TableSymbol.From(columns).WithName(name),
);
const database = new Symbols.DatabaseSymbol.ctor("workspace", symbols);
const globals = GlobalState.Default.WithDatabase(database);

const results = Object.entries(queries).map(([name, query]) => [name, analyse(query, globals)]);
process.stdout.write(JSON.stringify(Object.fromEntries(results)));
