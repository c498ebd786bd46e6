// One key: its value, how far its last change has travelled, and its last changes.
import type { KeyView } from "../../src/typha/dashboard/contract.ts";
import { ago, amount, bytes, clock, duration, readable } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";
import { explainKind, nameOfKey } from "../words.ts";

export function OneKey({ syncer, path, nowMs }: { syncer: string; path: string; nowMs: number }) {
  const answer = useAnswer<KeyView | null>(`/api/key?${new URLSearchParams({ syncer, path })}`, nowMs);
  return (
    <>
      <h2>{nameOfKey(path)}</h2>
      <p>
        <a href={linkTo("keys", { syncer })}>← all keys of {syncer}</a>
        {path.includes("/workload/") && (
          <>
            {" · "}
            <a href={linkTo("endpoints", { path })}>policies on this pod</a>
          </>
        )}
      </p>
      <p class="path">{path}</p>
      <WithAnswer answer={answer} missing="There is no such key, and none has gone lately.">
        {(key) => (
          <>
            <p class="quiet">
              {key.kind}
              {explainKind(key.kind) === "" ? "" : ` (${explainKind(key.kind)})`}, {bytes(key.bytes)}, revision{" "}
              {key.revision || "none"}
              {key.changedAtMs === null ? "" : `, changed ${ago(key.changedAtMs, nowMs)}`}
            </p>
            <Trace view={key} />
            <div class="pair">
              <section aria-label="Value">
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
                <pre tabIndex={0}>{key.value === null ? "This key is gone." : readable(key.value)}</pre>
              </section>
              <History view={key} />
            </div>
          </>
        )}
      </WithAnswer>
    </>
  );
}

function Trace({ view }: { view: KeyView }) {
  const { trace } = view;
  const after = (ms: number | null, otherwise: string) =>
    ms === null || trace.receivedAtMs === null ? otherwise : afterwards(ms - trace.receivedAtMs);
  const total = trace.clients + trace.clientsBehind;
  // Written before this server's memory of writes begins, or to clients that got it with their snapshot.
  const unwritten = total === 0 ? "no clients" : trace.clients === 0 ? "not yet" : "with their snapshot, or long ago";
  return (
    <ol class="flow" aria-label="How far the last change has travelled">
      <li class="stage">
        <span class="name">Received</span>
        <span class="value">{trace.receivedAtMs === null ? "not noted" : clock(trace.receivedAtMs)}</span>
        <span class="quiet">from the datastore</span>
      </li>
      <li class="stage">
        <span class="name">Cached</span>
        <span class="value">{after(trace.cachedAtMs, "not noted")}</span>
        <span class="quiet">encoded once for everybody</span>
      </li>
      <li class="stage">
        <span class="name">Written</span>
        <span class="value">{after(trace.firstWriteAtMs, unwritten)}</span>
        <span class="quiet">
          {trace.lastWriteAtMs === null ? "to the first client" : `last client ${after(trace.lastWriteAtMs, "")}`}
        </span>
      </li>
      <li class={`stage ${trace.clientsBehind === 0 ? "good" : "bad"}`}>
        <span class="name">Clients that have it</span>
        <span class="value">
          {amount(trace.clients)} of {amount(total)}
        </span>
        <span class="quiet">{trace.slowestClient === null ? "none is behind" : `behind: ${trace.slowestClient}`}</span>
      </li>
    </ol>
  );
}

function afterwards(ms: number): string {
  return ms < 1 ? "within 1 ms" : `${duration(ms)} later`;
}

function History({ view }: { view: KeyView }) {
  if (view.history.length === 0) {
    return (
      <section class="card" aria-label="Last changes">
        <strong>Last changes</strong>
        <p class="quiet">None of the changes that the server remembers was to this key.</p>
      </section>
    );
  }
  return (
    <table class="card">
      <caption>
        Last changes <span class="quiet">newest first</span>
      </caption>
      <thead>
        <Headings columns={["when", "what", { number: "value" }, "revision"]} />
      </thead>
      <tbody>
        {view.history.map((change) => (
          <tr key={`${change.atMs} ${change.revision} ${change.change}`}>
            <td>{clock(change.atMs)}</td>
            <td class={change.change === "invalid" ? "bad" : ""}>{change.change}</td>
            <td class="number">{change.bytes === 0 ? "" : bytes(change.bytes)}</td>
            <td>{change.revision}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
