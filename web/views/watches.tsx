// Each kind's list and watch: what it is doing, and what went wrong last. Those with something to say come first.
import type { WatchView } from "../../src/typha/dashboard/contract.ts";
import { ago, amount } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";

const columns = [
  "kind",
  "state",
  { number: "objects" },
  { number: "last event" },
  { number: "watches reopened" },
  { number: "lists made again" },
  "last error",
];
const calm = ["watching", "polling", "listing"];

export function WatchesView({ nowMs }: { nowMs: number }) {
  const answer = useAnswer<WatchView[]>("/api/watches", nowMs);
  return (
    <>
      <h2>Watches</h2>
      <WithAnswer answer={answer}>
        {(watches) =>
          watches.length === 0 ? (
            <Empty title="No watches yet">
              The server has not started to follow its datastore. It waits until the datastore answers.
            </Empty>
          ) : (
            <Watches watches={watches} nowMs={nowMs} />
          )
        }
      </WithAnswer>
    </>
  );
}

function Watches({ watches, nowMs }: { watches: WatchView[]; nowMs: number }) {
  const troubled = watches.filter((watch) => !isCalm(watch));
  const absent = watches.filter(({ rights }) => rights === "missing");
  const ordered = [...troubled, ...watches.filter((watch) => isCalm(watch) && !absent.includes(watch)), ...absent];
  const installed = watches.length - absent.length;
  const rest = absent.length === 0 ? "" : ` ${amount(absent.length)} more are not installed in this cluster.`;
  return (
    <>
      <p class={troubled.length === 0 ? "allgood" : "bad"} role="status">
        {troubled.length === 0
          ? `All ${amount(installed)} kinds of objects are followed.${rest}`
          : `${amount(troubled.length)} of ${amount(installed)} kinds of objects are not followed.${rest}`}
      </p>
      <MissingRules watches={watches} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
      <section class="card scroll" aria-label="Watches" tabIndex={0}>
        <table class="wide">
          <thead>
            <Headings columns={columns} />
          </thead>
          <tbody>
            {ordered.map((watch) => (
              <Watch key={watch.kind} watch={watch} nowMs={nowMs} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Watch({ watch, nowMs }: { watch: WatchView; nowMs: number }) {
  return (
    <tr>
      <th scope="row">{watch.kind}</th>
      <td class={isCalm(watch) ? "" : "bad"}>{stateText(watch)}</td>
      <td class="number">{amount(watch.objects)}</td>
      <td class="number">{watch.lastEventAtMs === null ? "none yet" : ago(watch.lastEventAtMs, nowMs)}</td>
      <td class="number">{amount(watch.restarts)}</td>
      <td class="number">{amount(watch.relists)}</td>
      <td class="quiet wrap">
        <LastError error={watch.lastError} nowMs={nowMs} />
      </td>
    </tr>
  );
}

/** One that is over is folded away, with its time: it explains a gap, it asks for nothing. */
function LastError({ error, nowMs }: { error: WatchView["lastError"]; nowMs: number }) {
  if (error === null) return null;
  if (!error.isOver) return <>{error.message}</>;
  return (
    <details>
      <summary>over, {ago(error.atMs, nowMs)}</summary>
      {error.message}
    </details>
  );
}

/** All of them in one piece: to be pasted once. */
function MissingRules({ watches }: { watches: WatchView[] }) {
  const rules = [
    ...new Set(watches.flatMap(({ missingRule }) => (missingRule === null ? [] : [missingRule.trimEnd()]))),
  ];
  if (rules.length === 0) return null;
  return (
    <section class="card" aria-label="Missing rights">
      <h3>Missing rights</h3>
      <p>
        Run <kbd>cattail manifests rbac | kubectl apply -f -</kbd>, or add these rules to the ClusterRole of this
        server:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
      <pre tabIndex={0}>{rules.join("\n")}</pre>
    </section>
  );
}

const isCalm = ({ state, rights }: WatchView) => calm.includes(state) || rights === "missing";

function stateText({ state, rights }: WatchView): string {
  if (rights === "forbidden") return "may not be read";
  if (rights === "missing") return "not installed here";
  return state === "waiting" ? "waiting to try again" : state;
}
