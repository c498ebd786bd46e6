// How a node is, in a word with its reason; and what to set where nobody says it.
import type { NodeHealthView } from "../../src/typha/dashboard/contract.ts";
import { duration } from "../format.ts";

type Shown = Pick<NodeHealthView, "health" | "reasons" | "silent" | "source">;

/** Red where packets may not arrive, grey where nothing is known. */
export function healthClass({ health, reasons, silent, source }: Shown): "good" | "bad" | "unknown" {
  if (silent !== null) return source === "report" ? "bad" : "unknown";
  if (health === null && reasons.length === 0) return source === "none" ? "unknown" : "good";
  return health === "well" && reasons.length === 0 ? "good" : reasons.length > 0 || health !== null ? "bad" : "unknown";
}

export function Health({ node, nowMs }: { node: Shown; nowMs: number }) {
  const { silent, reasons, source } = node;
  const mood = healthClass(node);
  const dot = mood === "bad" ? "behind" : mood === "unknown" ? "unknown" : "";
  const [first] = reasons;
  const more = reasons.length > 1 ? `, and ${reasons.length - 1} more` : "";
  const detail = silent !== null ? silent.why : first === undefined ? "" : `${first}${more}`;
  return (
    <span title={detail}>
      <span class={`dot ${dot}`} aria-hidden="true" />
      {word(node, nowMs)}
      {detail !== "" && source !== "none" && <span class="quiet reason"> {detail}</span>}
    </span>
  );
}

function word({ health, reasons, silent, source }: Shown, nowMs: number): string {
  if (silent !== null) {
    if (source === "report") return `silent for ${duration(nowMs - silent.sinceMs)}`;
    if (source === "none") return "no report";
  }
  if (health === "well") return reasons.length === 0 ? "well" : "ready, but";
  if (health !== null) return health;
  if (source === "none") return "not known";
  return reasons.length === 0 ? "sessions are up" : "not well";
}

/** The empty state of everything that nodes say of themselves. */
export function HowToAsk({ notAsked }: { notAsked: string | null }) {
  return (
    <div class="hint">
      {notAsked === null ? (
        <p>Nothing was heard yet. Nodes are asked one after the other while this page is open.</p>
      ) : (
        <>
          <p>
            <strong>Nodes are not asked how they are</strong> ({notAsked}). To see health, versions, BGP sessions,
            routes and packets by rule:
          </p>
          <ul>
            <li>
              on the nodes set <kbd>FELIX_REPORTENABLED=true</kbd>, and on this server{" "}
              <kbd>TYPHA_NODEREPORTPORT=9096</kbd>
            </li>
            <li>
              for nodes of Calico make a <kbd>CalicoNodeStatus</kbd> object for each: it tells of sessions and routes
            </li>
          </ul>
        </>
      )}
    </div>
  );
}
