// One node's connections to this server, with everything it knows of each.
import type { ConnectionView, NodeView } from "../../src/typha/dashboard/contract.ts";
import { amount, bytes, duration } from "../format.ts";
import { Headings } from "../parts/headings.tsx";

const columns = ["follows", "state", "behind by", "not sent yet", "sent", "waiting", "connected", "from", "speaks"];

export function Connections({ node, nowMs }: { node: NodeView; nowMs: number }) {
  return (
    <section class="card" aria-label="Connections">
      <h3>
        Connections to Typha <span class="quiet">{node.state}</span>
      </h3>
      {node.connections.length === 0 ? (
        <p>
          {node.server !== null
            ? `It is connected to another server, ${node.server}, which says that it is ${node.state}. The page of that server shows its connections.`
            : node.state === "unknown"
              ? "It is not connected here. Another server may have it: not every one has said which nodes it has."
              : "It is in the datastore, and connected to no server. It receives no updates, and still enforces the policies it has. See whether calico-node runs there, and what its log says of Typha."}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
        <section class="scroll" aria-label="List of connections" tabIndex={0}>
          <table class="oneline">
            <thead>
              <Headings columns={columns} />
            </thead>
            <tbody>
              {node.connections
                .toSorted((left, right) => (left.syncer < right.syncer ? -1 : 1))
                .map((connection) => (
                  <Connection key={connection.id} connection={connection} nowMs={nowMs} />
                ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Connection({ connection, nowMs }: { connection: ConnectionView; nowMs: number }) {
  const { lagUpdates, lagMs, answersAfterMs } = connection;
  // The same two numbers that make a node "behind": what waits to be sent, and a ping that waits behind what was sent.
  const lateMs = Math.max(lagMs, answersAfterMs ?? 0);
  return (
    <tr>
      <th scope="row">{connection.syncer}</th>
      <td>{connection.state}</td>
      <td>{answersAfterMs === null && lagMs === 0 ? "not asked yet" : duration(lateMs)}</td>
      <td>{lagUpdates === 0 ? "nothing" : `${amount(lagUpdates)} updates`}</td>
      <td>{bytes(connection.bytesSent)}</td>
      <td>{bytes(connection.queuedBytes)}</td>
      <td>{duration(nowMs - connection.connectedSinceMs)}</td>
      <td>{connection.address}</td>
      <td>
        {[
          connection.version,
          connection.compression === "none" ? "uncompressed" : connection.compression,
          `${connection.policyKeys} policy keys`,
        ]
          .filter((text) => text !== "")
          .join(", ")}
      </td>
    </tr>
  );
}
