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
  const ordered = [...troubled, ...watches.filter(isCalm)];
  return (
    <>
      <p class={troubled.length === 0 ? "allgood" : "bad"} role="status">
        {troubled.length === 0
          ? `All ${amount(watches.length)} kinds of objects are followed.`
          : `${amount(troubled.length)} of ${amount(watches.length)} kinds of objects are not followed.`}
      </p>
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
        {watch.lastError ?? ""}
        {watch.missingRule !== null && <pre>{watch.missingRule}</pre>}
      </td>
    </tr>
  );
}

const isCalm = ({ state, rights }: WatchView) => calm.includes(state) || rights === "missing";

function stateText({ state, rights }: WatchView): string {
  if (rights === "forbidden") return "may not be read";
  if (rights === "missing") return "not installed here";
  return state === "waiting" ? "waiting to try again" : state;
}
