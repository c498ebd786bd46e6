// Browse and search the keys; open one to see its value, its last changes and how far it has travelled.
import { useState } from "preact/hooks";
import type { KeyRow, KeysView as KeysAnswer, OverviewView } from "../../src/typha/dashboard/contract.ts";
import { ago, amount, bytes } from "../format.ts";
import { useAnswer } from "../live.ts";
import { type Column, Rows } from "../parts/rows.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { Total } from "../parts/total.tsx";
import { linkTo } from "../route.ts";
import { explainKind, nameOfKey } from "../words.ts";
import { OneKey } from "./one-key.tsx";

const pageSize = 1000;

export function KeysView({ overview, parameters }: { overview: OverviewView; parameters: URLSearchParams }) {
  const path = parameters.get("path");
  const syncer = parameters.get("syncer") ?? "felix";
  if (path !== null) return <OneKey syncer={syncer} path={path} nowMs={overview.nowMs} />;
  return <KeyList overview={overview} parameters={parameters} syncer={syncer} />;
}

type KeyListProps = { overview: OverviewView; parameters: URLSearchParams; syncer: string };

function KeyList({ overview, parameters, syncer }: KeyListProps) {
  const kind = parameters.get("kind") ?? "";
  const [search, setSearch] = useState(parameters.get("search") ?? "");
  const query = new URLSearchParams({ syncer, kind, search: search.trim(), limit: String(pageSize) });
  const answer = useAnswer<KeysAnswer>(`/api/keys?${query}`, overview.nowMs);
  return (
    <>
      <h2>Keys</h2>
      <SearchForm label="Find" placeholder="part of a key, e.g. a pod's name" search={search} setSearch={setSearch}>
        <Choice
          label="Data set"
          value={syncer}
          options={overview.syncers.map((one) => [one.syncer, one.syncer])}
          choose={(value) => linkTo("keys", { syncer: value })}
        />
        {syncer === "felix" && (
          <Choice
            label="Kind"
            value={kind}
            options={[
              ["", "all kinds"],
              ...overview.keysByKind.map((one): [string, string] => [one.kind, `${one.kind} (${amount(one.keys)})`]),
            ]}
            choose={(value) => linkTo("keys", { syncer, kind: value })}
          />
        )}
      </SearchForm>
      <WithAnswer answer={answer}>
        {({ rows, total }) => (
          <>
            <Total total={total} shown={rows.length} one="key">
              {kind !== "" && explainKind(kind) !== "" ? ` (${explainKind(kind)})` : ""}
            </Total>
            {rows.length === 0 ? (
              <Empty title="No keys">
                {search === "" && kind === ""
                  ? "This data set has nothing yet."
                  : "Nothing matches. Keys are paths such as /calico/v1/host/NODE/workload/…; a part of one is enough."}
              </Empty>
            ) : (
              <Rows
                label="Keys"
                columns={columns(syncer, overview.nowMs)}
                rows={rows}
                rowKey={(row) => row.path}
                rowPx={52}
              />
            )}
          </>
        )}
      </WithAnswer>
    </>
  );
}

type ChoiceProps = { label: string; value: string; options: [string, string][]; choose: (value: string) => string };

function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => location.assign(choose(event.currentTarget.value))}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function columns(syncer: string, nowMs: number): Column<KeyRow>[] {
  return [
    {
      title: "key",
      width: "58%",
      cell: (row) => (
        <>
          <a href={linkTo("keys", { syncer, path: row.path })}>{nameOfKey(row.path)}</a>
          <small>{row.path}</small>
        </>
      ),
      sortBy: (row) => row.path,
    },
    { title: "kind", width: "20%", isMinor: true, cell: (row) => row.kind, sortBy: (row) => row.kind },
    {
      title: "size",
      width: "9%",
      isNumber: true,
      isMinor: true,
      cell: (row) => bytes(row.bytes),
      sortBy: (row) => row.bytes,
    },
    {
      title: "changed",
      width: "13%",
      isNumber: true,
      cell: (row) => (row.changedAtMs === null ? "before it was noted" : ago(row.changedAtMs, nowMs)),
      sortBy: (row) => -(row.changedAtMs ?? 0),
    },
  ];
}
