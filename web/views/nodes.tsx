// Every node with its connections and what its agent says of itself; one that should be here and is not comes first, then those that are behind, then
// those that are not well.
import { useState } from "preact/hooks";
import type {
  ConnectionView,
  HealthView,
  NodeHealthView,
  NodeState,
  NodesView as NodesAnswer,
  NodeView,
  OtherClientView,
  OverviewView,
} from "../../src/typha/dashboard/contract.ts";
import { amount, duration } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { Health, HowToAsk, healthClass } from "../parts/health.tsx";
import { type Column, Rows } from "../parts/rows.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";
import { NodePage } from "./node-page.tsx";

type Row = NodeView & { readonly told: NodeHealthView | undefined };
type Shown = "all" | "not well" | NodeState;
const urgency: readonly NodeState[] = ["not connected", "behind", "starting", "unknown", "up to date"];

export function NodesView({ overview, parameters }: { overview: OverviewView; parameters: URLSearchParams }) {
  // The server asks its clients less often the more there are; asking it for the same answer again would be for nothing.
  const answer = useAnswer<NodesAnswer>("/api/nodes", overview.clientsAtMs);
  // Of thousands of nodes this is half a megabyte, of which little is new after a second.
  const everyMs = overview.nodes.expected > 200 ? 10_000 : 2000;
  const health = useAnswer<HealthView>("/api/health", Math.floor(overview.nowMs / everyMs));
  const chosen = parameters.get("node");
  return (
    <WithAnswer answer={answer}>
      {({ nodes, others }) => {
        const open = nodes.find(({ node }) => node === chosen);
        if (open !== undefined) return <NodePage key={open.node} node={open} overview={overview} />;
        return (
          <>
            <h2>Nodes</h2>
            {chosen !== null && (
              <p class="bad" role="status">
                There is no node {chosen}: neither has the datastore one of this name, nor is its agent connected.
              </p>
            )}
            {nodes.length === 0 ? (
              <Empty title="No nodes yet">
                Neither has the datastore a node, nor is a client connected. Nodes show up here as soon as one of the
                two happens. Clients are to connect to {overview.address}.
              </Empty>
            ) : (
              <NodeList nodes={nodes} health={health.is === "here" ? health.value : undefined} overview={overview} />
            )}
            <OtherClients others={others} nowMs={overview.nowMs} />
          </>
        );
      }}
    </WithAnswer>
  );
}

type ListProps = { nodes: NodeView[]; health: HealthView | undefined; overview: OverviewView };

function NodeList({ nodes, health, overview }: ListProps) {
  const [search, setSearch] = useState("");
  const [show, setShow] = useState<Shown>("all");
  const told = new Map(health?.nodes.map((one) => [one.node, one]));
  const all: Row[] = nodes.map((node) => ({ ...node, told: told.get(node.node) }));
  const rows = all.filter((node) => matches(node, search) && isShown(node, show)).toSorted(mostUrgentFirst);
  const isMute = health !== undefined && health.known === 0 && health.notAsked !== null;
  return (
    <>
      <Filter
        {...{ search, setSearch, show, setShow }}
        isUsed={(state) => state !== "unknown" || overview.unheardServers.length > 0}
        hasHealth={!isMute}
      >
        {amount(rows.length)} of {amount(nodes.length)}
      </Filter>
      {rows.length === 0 ? (
        <Empty title="No such node">None of the {amount(nodes.length)} nodes matches what you ask for.</Empty>
      ) : (
        <Rows
          label="Nodes"
          columns={columns(overview.nowMs)}
          rows={rows}
          rowKey={(node) => node.node}
          rowClass={({ state, told: says }) =>
            state === "up to date" && says !== undefined && healthClass(says) === "bad"
              ? "behind"
              : state.replaceAll(" ", "-")
          }
        />
      )}
      {isMute && <HowToAsk notAsked={health.notAsked} />}
    </>
  );
}

type FilterProps = {
  isUsed: (state: NodeState) => boolean;
  hasHealth: boolean;
  search: string;
  setSearch: (text: string) => void;
  show: Shown;
  setShow: (show: Shown) => void;
  children: preact.ComponentChildren;
};

function Filter({ isUsed, hasHealth, search, setSearch, show, setShow, children }: FilterProps) {
  return (
    <SearchForm label="Find" placeholder="node, address or version" search={search} setSearch={setSearch}>
      <label>
        Show{" "}
        <select value={show} onChange={(event) => setShow(event.currentTarget.value as Shown)}>
          <option value="all">all nodes</option>
          {hasHealth && <option value="not well">not well</option>}
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

function columns(nowMs: number): Column<Row>[] {
  const share = (of: { up: number; all: number } | null | undefined) => (of ? of.up / Math.max(1, of.all) : 2);
  return [
    {
      title: "node",
      width: "15%",
      cell: ({ node }) => <a href={linkTo("nodes", { node })}>{node}</a>,
      sortBy: ({ node }) => node,
    },
    { title: "state", width: "18%", cell: stateText, sortBy: (node) => urgency.indexOf(node.state) },
    {
      title: "health",
      width: "24%",
      cell: ({ told }) => (told === undefined ? "" : <Health node={told} nowMs={nowMs} />),
      sortBy: ({ told }) => (told === undefined ? 3 : ["bad", "unknown", "good"].indexOf(healthClass(told))),
    },
    {
      title: "sessions",
      width: "11%",
      isNumber: true,
      isMinor: true,
      cell: ({ told }) => told?.sessions && <Share good={told.sessions.up} all={told.sessions.all} />,
      sortBy: ({ told }) => share(told?.sessions),
    },
    {
      title: "routes",
      width: "9%",
      isNumber: true,
      isMinor: true,
      cell: ({ told }) =>
        told?.routes && <Share good={told.routes.right} all={told.routes.right + told.routes.wrong} />,
      sortBy: ({ told }) => -(told?.routes?.wrong ?? -1),
    },
    {
      title: "pods",
      width: "7%",
      isNumber: true,
      isMinor: true,
      cell: ({ told }) => told !== undefined && amount(told.pods),
      sortBy: ({ told }) => told?.pods ?? 0,
    },
    { title: "version", width: "16%", isMinor: true, cell: versionOf, sortBy: versionOf },
  ];
}

function Share({ good, all }: { good: number; all: number }) {
  return <span class={good < all ? "bad" : ""}>{good < all ? `${amount(good)} of ${amount(all)}` : amount(all)}</span>;
}

/** What it says of itself, or else what it said when it connected; one that is elsewhere or nowhere has told nobody here. */
function versionOf({ told, connections, server }: Row): string {
  if (told !== undefined && told.version !== "") return told.version;
  if (connections.length > 0) return unique(connections, ({ version }) => version);
  return server === null ? "" : `on ${server}`;
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

const unique = (connections: ConnectionView[], of: (connection: ConnectionView) => string) =>
  [...new Set(connections.map(of))].sort().join(", ");

function mostUrgentFirst(left: Row, right: Row): number {
  const rank = ({ state, told }: Row) =>
    state === "up to date"
      ? urgency.length + (told !== undefined && healthClass(told) === "bad" ? 0 : 1)
      : urgency.indexOf(state);
  return rank(left) - rank(right) || (left.node < right.node ? -1 : 1);
}

function isShown({ state, told }: Row, show: Shown): boolean {
  if (show === "not well") return told !== undefined && healthClass(told) === "bad";
  return show === "all" || state === show;
}

function matches(node: Row, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return true;
  const own = [node.node, node.told?.address ?? "", node.told?.version ?? ""];
  return [...own, ...node.connections.flatMap(({ address, version, syncer }) => [address, version, syncer])].some(
    (text) => text.toLowerCase().includes(wanted),
  );
}
