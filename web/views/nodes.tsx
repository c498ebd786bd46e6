// Every node with its connections; one that should be here and is not comes first, then those that are behind.
import { useState } from "preact/hooks";
import type {
  ConnectionView,
  NodeState,
  NodesView as NodesAnswer,
  NodeView,
  OtherClientView,
  OverviewView,
} from "../../src/typha/dashboard/contract.ts";
import { amount, bytes, duration } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { type Column, Rows } from "../parts/rows.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";
import { NodeCard } from "./node-card.tsx";

type Shown = "all" | NodeState;
const urgency: readonly NodeState[] = ["not connected", "behind", "starting", "unknown", "up to date"];

export function NodesView({ overview, parameters }: { overview: OverviewView; parameters: URLSearchParams }) {
  // The server asks its clients less often the more there are; asking it for the same answer again would be for nothing.
  const answer = useAnswer<NodesAnswer>("/api/nodes", overview.clientsAtMs);
  const [search, setSearch] = useState("");
  const [show, setShow] = useState<Shown>("all");
  const { nowMs } = overview;
  const chosen = parameters.get("node");
  return (
    <>
      <h2>Nodes</h2>
      <WithAnswer answer={answer}>
        {({ nodes, others }) => {
          const rows = nodes.filter((node) => matches(node, search) && isShown(node, show)).toSorted(mostUrgentFirst);
          const open = nodes.find(({ node }) => node === chosen);
          return (
            <>
              <Filter
                {...{ search, setSearch, show, setShow }}
                isUsed={(state) => state !== "unknown" || overview.unheardServers.length > 0}
              >
                {amount(rows.length)} of {amount(nodes.length)}
              </Filter>
              {open !== undefined && <NodeCard node={open} nowMs={nowMs} />}
              {chosen !== null && open === undefined && (
                <p class="bad" role="status">
                  There is no node {chosen}: neither has the datastore one of this name, nor is its agent connected.
                </p>
              )}
              {nodes.length === 0 ? (
                <Empty title="No nodes yet">
                  Neither has the datastore a node, nor is a client connected. Nodes show up here as soon as one of the
                  two happens. Clients are to connect to {overview.address}.
                </Empty>
              ) : rows.length === 0 ? (
                <Empty title="No such node">None of the {amount(nodes.length)} nodes matches what you ask for.</Empty>
              ) : (
                <Rows
                  label="Nodes"
                  columns={columns(nowMs)}
                  rows={rows}
                  rowKey={(node) => node.node}
                  rowClass={({ state, node }) => `${state.replaceAll(" ", "-")} ${node === chosen ? "chosen" : ""}`}
                />
              )}
              <OtherClients others={others} nowMs={nowMs} />
            </>
          );
        }}
      </WithAnswer>
    </>
  );
}

type FilterProps = {
  isUsed: (state: NodeState) => boolean;
  search: string;
  setSearch: (text: string) => void;
  show: Shown;
  setShow: (show: Shown) => void;
  children: preact.ComponentChildren;
};

function Filter({ isUsed, search, setSearch, show, setShow, children }: FilterProps) {
  return (
    <SearchForm label="Find" placeholder="node, address or version" search={search} setSearch={setSearch}>
      <label>
        Show{" "}
        <select value={show} onChange={(event) => setShow(event.currentTarget.value as Shown)}>
          <option value="all">all nodes</option>
          {urgency.filter(isUsed).map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
      </label>
      <output>{children}</output>
    </SearchForm>
  );
}

function columns(nowMs: number): Column<NodeView>[] {
  return [
    {
      title: "node",
      width: "20%",
      cell: ({ node }) => <a href={linkTo("nodes", { node })}>{node}</a>,
      sortBy: ({ node }) => node,
    },
    { title: "state", width: "22%", cell: stateText, sortBy: (node) => urgency.indexOf(node.state) },
    {
      title: "follows",
      width: "20%",
      isMinor: true,
      cell: ({ connections, server }) =>
        server === null ? unique(connections, ({ syncer }) => syncer) : <span class="quiet">on {server}</span>,
      sortBy: ({ connections }) => connections.length,
    },
    {
      title: "version",
      width: "14%",
      isMinor: true,
      cell: ({ connections }) => unique(connections, ({ version }) => version),
      sortBy: ({ connections }) => connections[0]?.version ?? "",
    },
    {
      title: "sent",
      width: "11%",
      isNumber: true,
      isMinor: true,
      cell: ({ connections }) => (connections.length === 0 ? "" : bytes(sum(connections))),
      sortBy: ({ connections }) => sum(connections),
    },
    {
      title: "connected",
      width: "13%",
      isNumber: true,
      isMinor: true,
      cell: (node) => (node.connections.length === 0 ? "" : duration(nowMs - since(node))),
      sortBy: since,
    },
  ];
}

function stateText(node: NodeView) {
  const lateMs = Math.max(0, ...node.connections.map((one) => Math.max(one.lagMs, one.answersAfterMs ?? 0)));
  const waiting = Math.max(0, ...node.connections.map(({ lagUpdates }) => lagUpdates));
  const details = [
    node.state === "behind" && lateMs > 0 ? `by ${duration(lateMs)}` : "",
    waiting > 0 ? `${amount(waiting)} updates wait` : "",
    node.expected ? "" : "not in the datastore",
  ].filter((text) => text !== "");
  return (
    <>
      <span class={`dot ${node.state.replaceAll(" ", "-")}`} aria-hidden="true" />
      {node.state}
      {details.length > 0 && <span class="quiet"> {details.join(", ")}</span>}
    </>
  );
}

/** Programs that follow this server and work for no node: they are looked at, not counted. */
function OtherClients({ others, nowMs }: { others: OtherClientView[]; nowMs: number }) {
  if (others.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section class="scroll below" aria-label="Other clients" tabIndex={0}>
      <table class="card">
        <caption>
          Other clients <span class="quiet">programs that follow this server and are no node's agent</span>
        </caption>
        <thead>
          <Headings columns={["program", "on", "from", "follows", { number: "connected" }]} />
        </thead>
        <tbody>
          {others.map(({ host, connection }) => (
            <tr key={connection.id}>
              <th scope="row">{connection.info}</th>
              <td>{host}</td>
              <td>{connection.address}</td>
              <td>{connection.syncer}</td>
              <td class="number">{duration(nowMs - connection.connectedSinceMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const since = (node: NodeView) =>
  Math.min(Number.MAX_SAFE_INTEGER, ...node.connections.map(({ connectedSinceMs }) => connectedSinceMs));
const sum = (connections: ConnectionView[]) => connections.reduce((total, { bytesSent }) => total + bytesSent, 0);
const unique = (connections: ConnectionView[], of: (connection: ConnectionView) => string) =>
  [...new Set(connections.map(of))].sort().join(", ");

function mostUrgentFirst(left: NodeView, right: NodeView): number {
  return urgency.indexOf(left.state) - urgency.indexOf(right.state) || (left.node < right.node ? -1 : 1);
}

function isShown(node: NodeView, show: Shown): boolean {
  return show === "all" || node.state === show;
}

function matches(node: NodeView, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return true;
  return [node.node, ...node.connections.flatMap(({ address, version, syncer }) => [address, version, syncer])].some(
    (text) => text.toLowerCase().includes(wanted),
  );
}
