// The first look: is everything up to date, and if not, what to do.
import type { AttentionView, CertificateView, OverviewView } from "../../src/typha/dashboard/contract.ts";
import { nextToExpireFirst, soonMs } from "../expiry.ts";
import { amount, bytes, duration } from "../format.ts";
import { Flow } from "../parts/flow.tsx";
import { Headings } from "../parts/headings.tsx";
import { Plot } from "../parts/plot.tsx";
import { linkTo } from "../route.ts";
import { explainKind, explainSyncer } from "../words.ts";

export function OverviewPage({ overview }: { overview: OverviewView }) {
  const { history } = overview;
  const p99 = history.deliveryP99Ms.at(-1);
  return (
    <>
      <h2>{verdict(overview)}</h2>
      <Flow overview={overview} />
      <Attention items={overview.attention} />
      <div class="pair">
        <Plot
          title="Updates from the datastore"
          unit="/s"
          timesMs={history.timesMs}
          series={[{ label: "updates", colour: "#2a7de1", values: history.updatesPerSecond }]}
          summary={`now ${amount(history.updatesPerSecond.at(-1) ?? 0)} a second`}
        />
        <Plot
          title="Delivery to nodes"
          unit="ms"
          timesMs={history.timesMs}
          series={[
            { label: "median", colour: "#2f9e62", values: history.deliveryP50Ms },
            { label: "99th", colour: "#c2571a", values: history.deliveryP99Ms },
          ]}
          summary={typeof p99 === "number" ? `99 of 100 within ${amount(p99)} ms` : "nothing delivered lately"}
        />
      </div>
      <div class="pair">
        <div>
          <Syncers overview={overview} />
          <Connections overview={overview} />
          <Certificates certificates={overview.certificates} nowMs={overview.nowMs} />
          <Scope overview={overview} />
        </div>
        <Kinds overview={overview} />
      </div>
      <p class="quiet">
        Cattail {overview.version} on {overview.address}, {threads(overview.workers)}, up for{" "}
        {duration(overview.nowMs - overview.startedAtMs)}.
      </p>
    </>
  );
}

/** The one sentence to read if there is time for one. */
function verdict({ datastore, syncers, nodes, attention }: OverviewView): string {
  const connected = nodes.here + nodes.elsewhere;
  const total = connected + nodes.missing.length;
  if (datastore.state === "unreachable") return "The datastore cannot be reached: nodes go on with what they have";
  if (syncers.some(({ state }) => state !== "in sync")) {
    // Reading goes on and on without the rights: to promise that nodes are served soon would be wrong.
    const isForbidden = attention.some(({ look }) => look === "watches");
    return isForbidden
      ? "Not ready: the server lacks rights to read the cluster"
      : "Reading the datastore; nodes are served once that is done";
  }
  if (connected === 0) return "Ready, and waiting for the first node to connect";
  const which = nodes.unknown > 0 ? " nodes that are known of" : " nodes";
  if (nodes.upToDate === total)
    return total === 1 ? "The one node is up to date" : `All ${amount(total)}${which} are up to date`;
  return `${amount(nodes.upToDate)} of ${amount(total)}${which} are up to date`;
}

/** What this page cannot see, said once: whoever has three servers must know which of them they look at. */
function Scope({ overview }: { overview: OverviewView }) {
  const { servers, unheardServers } = overview;
  if (servers === 1) {
    return <p class="quiet">This page shows this server alone: it knows of no other.</p>;
  }
  if (unheardServers.length === 0) {
    return <p class="quiet">Nodes are those of all {amount(servers)} servers; everything else is of this server.</p>;
  }
  return (
    <section class="quiet" aria-label="Servers that are not heard">
      <p>
        {amount(unheardServers.length)} of the {amount(servers - 1)} other servers did not say which nodes they have. A
        node that is not connected here may be connected there:
      </p>
      <ul>
        {unheardServers.map(({ server, why }) => (
          <li key={server}>
            {server}: {why}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Attention({ items }: { items: AttentionView[] }) {
  if (items.length === 0) return <p class="allgood">Nothing needs attention.</p>;
  return (
    <section aria-label="Needs attention" class="attention">
      {items.map((item) => (
        <article key={item.what} class={item.severity}>
          <strong>{item.what}</strong>
          <p>{item.why}</p>
          <p class="fix">
            {item.fix}
            {item.look !== undefined && (
              <>
                {" "}
                <a href={linkTo(item.look)}>Show {item.look === "nodes" ? "the nodes" : "the watches"}</a>
              </>
            )}
          </p>
        </article>
      ))}
    </section>
  );
}

function Syncers({ overview }: { overview: OverviewView }) {
  return (
    <table class="card">
      <caption>
        What nodes are told <span class="quiet">four data sets; each client follows one</span>
      </caption>
      <thead>
        <Headings columns={["data set", "state", { number: "keys" }, { number: "size" }, { number: "clients" }]} />
      </thead>
      <tbody>
        {overview.syncers.map((syncer) => (
          <tr key={syncer.syncer}>
            <th scope="row">
              <a href={linkTo("keys", { syncer: syncer.syncer })}>{syncer.syncer}</a>
              <small>{explainSyncer(syncer.syncer)}</small>
            </th>
            <td class={syncer.state === "in sync" ? "good oneline" : "bad"}>{syncer.state}</td>
            <td class="number">{amount(syncer.keys)}</td>
            <td class="number">{bytes(syncer.bytes)}</td>
            <td class="number">{amount(syncer.clients)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Why there are more connections than nodes. */
function Connections({ overview }: { overview: OverviewView }) {
  const { connections, otherClients, nodes } = overview;
  return (
    <dl class="card facts">
      <dt>Connections here</dt>
      <dd>
        {amount(connections)}: {amount(connections - otherClients)} from {amount(nodes.here)}{" "}
        {nodes.here === 1 ? "node" : "nodes"} (a node has one for each data set it follows)
        {otherClients > 0 && (
          <>
            , {amount(otherClients)} from <a href={linkTo("nodes")}>other programs</a>
          </>
        )}
      </dd>
      {overview.servers > 1 && (
        <>
          <dt>Nodes elsewhere</dt>
          <dd>
            {amount(nodes.elsewhere)} on {amount(overview.servers - 1)} other{" "}
            {overview.servers === 2 ? "server" : "servers"}
          </dd>
        </>
      )}
    </dl>
  );
}

function Kinds({ overview }: { overview: OverviewView }) {
  const most = Math.max(1, ...overview.keysByKind.map(({ keys }) => keys));
  const shown = overview.keysByKind.slice(0, mostKinds);
  const others = overview.keysByKind.slice(mostKinds);
  return (
    <table class="card">
      <caption>
        Keys per kind <span class="quiet">of the data set felix</span>
      </caption>
      <thead class="unseen">
        <tr>
          <th scope="col">kind</th>
          <td />
          <th scope="col">keys</th>
          <th scope="col">size</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ kind, keys, bytes: size }) => (
          <tr key={kind}>
            <th scope="row">
              <a href={linkTo("keys", { kind })}>{kind}</a>
              <small>{explainKind(kind)}</small>
            </th>
            <td class="bar">
              <span style={{ width: `${barPercent(keys, most)}%` }} />
            </td>
            <td class="number">{amount(keys)}</td>
            <td class="number">{bytes(size)}</td>
          </tr>
        ))}
        {others.length > 0 && (
          <tr>
            <th scope="row">
              <a href={linkTo("keys")}>
                {others.length === 1 ? "one more kind" : `${amount(others.length)} more kinds`}
              </a>
            </th>
            <td class="bar" />
            <td class="number">{amount(total(others, ({ keys }) => keys))}</td>
            <td class="number">{bytes(total(others, ({ bytes: size }) => size))}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** As many as stand beside the data sets; the rest is a click away. */
const mostKinds = 8;

function total<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

/** On a logarithmic scale: there are a thousand pods to a tier, and both are to be seen. The figures stand beside it. */
function barPercent(keys: number, most: number): number {
  return (100 * Math.log(1 + keys)) / Math.log(1 + most);
}

function Certificates({ certificates, nowMs }: { certificates: CertificateView[]; nowMs: number }) {
  if (certificates.length === 0) return null;
  return (
    <table class="card certificates">
      <caption>
        Certificates <span class="quiet">the next to expire first</span>
      </caption>
      <thead>
        <Headings columns={["expires", "subject", "issuer", "file"]} />
      </thead>
      <tbody>
        {nextToExpireFirst(certificates).map((certificate) => (
          <tr key={`${certificate.file} ${certificate.subject} ${certificate.expiresAtMs}`}>
            <th scope="row" class={certificate.expiresAtMs - nowMs < soonMs ? "bad" : ""}>
              {certificate.expiresAtMs > nowMs ? `in ${duration(certificate.expiresAtMs - nowMs)}` : "expired"}{" "}
              <span class="quiet">{new Date(certificate.expiresAtMs).toISOString().slice(0, 10)}</span>
            </th>
            <td>{certificate.subject}</td>
            <td>{certificate.issuer}</td>
            <td class="quiet wrap">{certificate.file}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function threads(workers: number): string {
  if (workers === 0) return "no worker threads";
  return workers === 1 ? "one worker thread" : `${amount(workers)} worker threads`;
}
