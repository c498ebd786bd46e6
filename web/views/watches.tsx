// Each kind's list and watch: what it is doing, and what went wrong last.
import type { WatchView } from "../../src/dashboard/contract.ts";
import { ago, amount } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Empty, WithAnswer } from "../parts/state.tsx";

export function WatchesView({ nowMs }: { nowMs: number }) {
  const answer = useAnswer<WatchView[]>("/api/watches", nowMs);
  return (
    <WithAnswer answer={answer}>
      {(watches) =>
        watches.length === 0 ? (
          <Empty title="No watches yet">
            The server has not started to follow its datastore. It waits until the datastore answers.
          </Empty>
        ) : (
          <table class="card wide">
            <thead>
              <tr>
                <th scope="col">kind</th>
                <th scope="col">state</th>
                <th scope="col">objects</th>
                <th scope="col">last event</th>
                <th scope="col">watch restarts</th>
                <th scope="col">lists</th>
                <th scope="col">last error</th>
              </tr>
            </thead>
            <tbody>
              {watches.map((watch) => (
                <tr key={watch.kind}>
                  <th scope="row">{watch.kind}</th>
                  <td>
                    {watch.rights === "granted"
                      ? watch.state
                      : watch.rights === "forbidden"
                        ? "may not be read"
                        : "not installed"}
                  </td>
                  <td>{amount(watch.objects)}</td>
                  <td>{ago(watch.lastEventAtMs, nowMs)}</td>
                  <td>{amount(watch.restarts)}</td>
                  <td>{amount(watch.relists)}</td>
                  <td class={watch.lastError === null ? "" : "bad"}>{watch.lastError ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </WithAnswer>
  );
}
