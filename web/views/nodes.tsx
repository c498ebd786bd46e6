// Every node with its connections; one that should be here and is not comes first.
import { useState } from "preact/hooks";
import type { ConnectionView, NodeView } from "../../src/dashboard/contract.ts";
import { amount, bytes, duration } from "../format.ts";
import { useAnswer } from "../live.ts";
import { type Column, Rows } from "../parts/rows.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";

export function NodesView({ nowMs }: { nowMs: number }) {
  const answer = useAnswer<NodeView[]>("/api/nodes", nowMs);
  const [search, setSearch] = useState("");
  const [show, setShow] = useState<"all" | "missing" | "behind">("all");
  return (
    <WithAnswer answer={answer}>
      {(nodes) => {
        const rows = nodes.filter((node) => matches(node, search) && isShown(node, show)).toSorted(missingFirst);
        return (
          <>
            <form class="filter" onSubmit={(event) => event.preventDefault()}>
              <label>
                Find{" "}
                <input
                  type="search"
                  value={search}
                  placeholder="node, address or version"
                  onInput={(event) => setSearch(event.currentTarget.value)}
                />
              </label>
              <label>
                Show{" "}
                <select value={show} onChange={(event) => setShow(event.currentTarget.value as typeof show)}>
                  <option value="all">all nodes</option>
                  <option value="missing">not connected</option>
                  <option value="behind">behind</option>
                </select>
              </label>
              <output>
                {amount(rows.length)} of {amount(nodes.length)}
              </output>
            </form>
            {nodes.length === 0 ? (
              <Empty title="No nodes yet">
                Neither has the datastore a node, nor is a client connected. Nodes show up here as soon as one of the
                two happens.
              </Empty>
            ) : (
              <Rows
                label="Nodes"
                columns={columns(nowMs)}
                rows={rows}
                rowKey={(node) => node.node}
                rowClass={(node) => (isMissing(node) ? "missing" : lag(node) > 10_000 ? "behind" : "")}
              />
            )}
          </>
        );
      }}
    </WithAnswer>
  );
}

function columns(nowMs: number): Column<NodeView>[] {
  return [
    { title: "node", width: "22%", cell: ({ node }) => node, sortBy: ({ node }) => node },
    { title: "syncers", width: "22%", cell: syncers, sortBy: ({ connections }) => connections.length },
    {
      title: "version",
      width: "14%",
      cell: ({ connections }) => unique(connections, (connection) => connection.version),
      sortBy: ({ connections }) => connections[0]?.version ?? "",
    },
    { title: "behind", width: "14%", cell: (node) => (isMissing(node) ? "" : lagText(node)), sortBy: lag },
    {
      title: "sent",
      width: "14%",
      cell: ({ connections }) => bytes(sum(connections, (connection) => connection.bytesSent)),
      sortBy: ({ connections }) => sum(connections, (connection) => connection.bytesSent),
    },
    { title: "connected", width: "14%", cell: (node) => connectedFor(node, nowMs), sortBy: since },
  ];
}

function syncers({ connections, expected }: NodeView) {
  if (connections.length === 0) return <span class="bad">not connected here</span>;
  return (
    <span
      title={connections
        .map(
          ({ syncer, compression, policyKeys, address }) => `${syncer}: ${compression}, ${policyKeys} keys, ${address}`,
        )
        .join("\n")}
    >
      {unique(connections, ({ syncer }) => syncer)}
      {expected ? "" : " (unknown node)"}
    </span>
  );
}

function lagText(node: NodeView): string {
  const updates = Math.max(0, ...node.connections.map(({ lagUpdates }) => lagUpdates));
  return updates === 0 ? "up to date" : `${amount(updates)} / ${duration(lag(node))}`;
}

const isMissing = (node: NodeView) => node.expected && node.connections.length === 0;
const lag = (node: NodeView) => Math.max(0, ...node.connections.map(({ lagMs }) => lagMs));
const since = (node: NodeView) =>
  Math.min(Number.MAX_SAFE_INTEGER, ...node.connections.map(({ connectedSinceMs }) => connectedSinceMs));
const sum = (connections: ConnectionView[], of: (connection: ConnectionView) => number) =>
  connections.reduce((total, connection) => total + of(connection), 0);
const unique = (connections: ConnectionView[], of: (connection: ConnectionView) => string) =>
  [...new Set(connections.map(of))].join(", ");

function connectedFor(node: NodeView, nowMs: number): string {
  return node.connections.length === 0 ? "" : duration(nowMs - since(node));
}

function missingFirst(left: NodeView, right: NodeView): number {
  return Number(isMissing(right)) - Number(isMissing(left)) || (left.node < right.node ? -1 : 1);
}

function isShown(node: NodeView, show: "all" | "missing" | "behind"): boolean {
  if (show === "missing") return isMissing(node);
  return show === "all" || lag(node) > 0;
}

function matches(node: NodeView, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return true;
  return [node.node, ...node.connections.flatMap(({ address, version, syncer }) => [address, version, syncer])].some(
    (text) => text.toLowerCase().includes(wanted),
  );
}
