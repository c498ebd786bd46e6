// One node's connections, with everything the server knows of each.
import type { ConnectionView, NodeView } from "../../src/typha/dashboard/contract.ts";
import { amount, bytes, duration } from "../format.ts";
import { Headings } from "../parts/headings.tsx";
import { linkTo } from "../route.ts";

const columns = ["follows", "state", "behind", "answers after", "sent", "waiting", "connected", "from", "speaks"];

export function NodeCard({ node, nowMs }: { node: NodeView; nowMs: number }) {
  return (
    <section class="card" aria-label={`Node ${node.node}`}>
      <h3>
        {node.node} <span class="quiet">{node.state}</span>{" "}
        <a class="close" href={linkTo("nodes")}>
          close
        </a>
      </h3>
      {node.connections.length === 0 ? (
        <p>
          The datastore has this node, but it is not connected here.{" "}
          {node.state === "not here" ? "It may be connected to another of the servers; their pages tell. " : ""}
          If it is connected nowhere it goes on with the policies it had: see whether calico-node runs there and what
          its log says of Typha.
        </p>
      ) : (
        <div class="scroll">
          <table>
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
        </div>
      )}
      <p>
        <a href={linkTo("keys", { kind: "WorkloadEndpoint", search: `/host/${node.node}/` })}>its pods' endpoints</a>
      </p>
    </section>
  );
}

function Connection({ connection, nowMs }: { connection: ConnectionView; nowMs: number }) {
  const { lagUpdates, lagMs, answersAfterMs } = connection;
  return (
    <tr>
      <th scope="row">{connection.syncer}</th>
      <td>{connection.state}</td>
      <td>{lagUpdates === 0 ? "nothing" : `${amount(lagUpdates)} updates, ${duration(lagMs)}`}</td>
      <td>{answersAfterMs === null ? "not asked yet" : duration(answersAfterMs)}</td>
      <td>{bytes(connection.bytesSent)}</td>
      <td>{bytes(connection.queuedBytes)}</td>
      <td>{duration(nowMs - connection.connectedSinceMs)}</td>
      <td>{connection.address}</td>
      <td>
        {connection.version}, {connection.compression === "none" ? "uncompressed" : connection.compression},{" "}
        {connection.policyKeys} policy keys
      </td>
    </tr>
  );
}
