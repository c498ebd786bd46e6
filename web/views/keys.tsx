// Browse and search the keys; open one to see its value, its last changes and how far it has travelled.
import { useState } from "preact/hooks";
import type { KeyRow, KeysView as KeysAnswer, KeyView } from "../../src/dashboard/contract.ts";
import { ago, amount, bytes, duration, readable } from "../format.ts";
import { useAnswer } from "../live.ts";
import { type Column, Rows } from "../parts/rows.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";

const syncers = ["felix", "bgp", "tunnel-ip-allocation", "node-status"];
const pageSize = 500;

export function KeysView({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const syncer = parameters.get("syncer") ?? "felix";
  const kind = parameters.get("kind") ?? "";
  const path = parameters.get("path");
  const [search, setSearch] = useState("");
  const query = new URLSearchParams({ syncer, kind, search, limit: String(pageSize) });
  const answer = useAnswer<KeysAnswer>(`/api/keys?${query}`, nowMs);
  if (path !== null) return <OneKey syncer={syncer} path={path} nowMs={nowMs} />;
  return (
    <>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          Syncer{" "}
          <select
            value={syncer}
            onChange={(event) => location.assign(linkTo("keys", { syncer: event.currentTarget.value }))}
          >
            {syncers.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Find{" "}
          <input
            type="search"
            value={search}
            placeholder="part of a key, e.g. a pod's name"
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        {kind !== "" && (
          <a class="chip" href={linkTo("keys", { syncer })}>
            {kind} ✕
          </a>
        )}
      </form>
      <WithAnswer answer={answer}>
        {({ rows, total }) => (
          <>
            <p class="quiet">
              {amount(total)} keys
              {total > rows.length ? `, the first ${amount(rows.length)} are shown; type to narrow them down` : ""}
            </p>
            {rows.length === 0 ? (
              <Empty title="No keys">
                {search === "" && kind === ""
                  ? "This syncer has nothing yet."
                  : "Nothing matches. Keys are paths such as /calico/v1/host/NODE/workload/…"}
              </Empty>
            ) : (
              <Rows label="Keys" columns={columns(syncer, nowMs)} rows={rows} rowKey={(row) => row.path} />
            )}
          </>
        )}
      </WithAnswer>
    </>
  );
}

function columns(syncer: string, nowMs: number): Column<KeyRow>[] {
  return [
    {
      title: "key",
      width: "60%",
      cell: (row) => <a href={linkTo("keys", { syncer, path: row.path })}>{row.path}</a>,
      sortBy: (row) => row.path,
    },
    { title: "kind", width: "18%", cell: (row) => row.kind, sortBy: (row) => row.kind },
    { title: "size", width: "9%", cell: (row) => bytes(row.bytes), sortBy: (row) => row.bytes },
    { title: "changed", width: "13%", cell: (row) => ago(row.changedAtMs, nowMs), sortBy: (row) => -row.changedAtMs },
  ];
}

function OneKey({ syncer, path, nowMs }: { syncer: string; path: string; nowMs: number }) {
  const answer = useAnswer<KeyView>(`/api/key?${new URLSearchParams({ syncer, path })}`, nowMs);
  return (
    <>
      <p>
        <a href={linkTo("keys", { syncer })}>← all keys of {syncer}</a>
        {path.includes("/workload/") && (
          <>
            {" · "}
            <a href={linkTo("endpoints", { path })}>policies on this endpoint</a>
          </>
        )}
      </p>
      <h3 class="path">{path}</h3>
      <WithAnswer answer={answer}>
        {(key) => (
          <>
            <p class="quiet">
              {key.kind}, {bytes(key.bytes)}, revision {key.revision || "none"}, changed {ago(key.changedAtMs, nowMs)}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
            <pre tabIndex={0}>{key.value === null ? "deleted" : readable(key.value)}</pre>
            <Trace view={key} />
            <table class="card">
              <caption>Last changes</caption>
              <tbody>
                {key.history.map((change) => (
                  <tr key={`${change.atMs}${change.revision}`}>
                    <td>{new Date(change.atMs).toLocaleTimeString()}</td>
                    <td>{change.change}</td>
                    <td>{bytes(change.bytes)}</td>
                    <td>revision {change.revision || "none"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </WithAnswer>
    </>
  );
}

function Trace({ view }: { view: KeyView }) {
  const { trace } = view;
  const after = (ms: number | null) => (ms === null ? "not yet" : `${duration(ms - trace.receivedAtMs)} later`);
  return (
    <ol class="trace" aria-label="How far the last change has travelled">
      <li>
        <strong>received</strong> {new Date(trace.receivedAtMs).toLocaleTimeString()}
      </li>
      <li>
        <strong>cached</strong> {after(trace.cachedAtMs)}
      </li>
      <li>
        <strong>first client</strong> {after(trace.firstWriteAtMs)}
      </li>
      <li>
        <strong>last client</strong> {after(trace.lastWriteAtMs)}
        {trace.slowestClient !== null && ` (${trace.slowestClient})`}
      </li>
      <li>
        <strong>written to</strong> {amount(trace.clients)} clients
      </li>
    </ol>
  );
}
