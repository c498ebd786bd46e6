// The first look: is everything up to date, and if not, what to do.
import type { AttentionView, CertificateView, OverviewView } from "../../src/dashboard/contract.ts";
import { amount, bytes, duration } from "../format.ts";
import { Plot } from "../parts/plot.tsx";
import { linkTo } from "../route.ts";

export function OverviewPage({ overview }: { overview: OverviewView }) {
  const { history } = overview;
  const latest = <T,>(values: T[]) => values.at(-1);
  const p99 = latest(history.deliveryP99Ms);
  return (
    <>
      <Attention items={overview.attention} />
      <Tiles overview={overview} />
      <div class="pair">
        <Plot
          title="Updates from the datastore"
          unit="/s"
          timesMs={history.timesMs}
          series={[{ label: "updates", colour: "#2a7de1", values: history.updatesPerSecond }]}
          summary={`now ${amount(latest(history.updatesPerSecond) ?? 0)} a second`}
        />
        <Plot
          title="Delivery to clients"
          unit="ms"
          timesMs={history.timesMs}
          series={[
            { label: "median", colour: "#2f9e62", values: history.deliveryP50Ms },
            { label: "99th percentile", colour: "#c2571a", values: history.deliveryP99Ms },
          ]}
          summary={typeof p99 === "number" ? `99 of 100 within ${amount(p99)} ms` : "no deliveries yet"}
        />
      </div>
      <div class="pair">
        <Syncers overview={overview} />
        <Kinds overview={overview} />
      </div>
      <Certificates certificates={overview.certificates} nowMs={overview.nowMs} />
      <p class="quiet">
        {overview.version} on {overview.address}, {amount(overview.workers)} worker threads, up for{" "}
        {duration(overview.nowMs - overview.startedAtMs)}.
      </p>
    </>
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
          <p class="fix">{item.fix}</p>
        </article>
      ))}
    </section>
  );
}

function Tiles({ overview }: { overview: OverviewView }) {
  const inSync = overview.syncers.filter(({ state }) => state === "in sync").length;
  const keys = overview.syncers.reduce((sum, syncer) => sum + syncer.keys, 0);
  const next = nextToExpire(overview.certificates);
  return (
    <dl class="tiles">
      <Tile
        name="Sync"
        value={`${inSync} of ${overview.syncers.length} in sync`}
        good={inSync === overview.syncers.length}
      />
      <Tile
        name="Datastore"
        value={`${overview.datastore.type}: ${overview.datastore.state}`}
        good={overview.datastore.state === "reachable"}
      />
      <Tile
        name="Nodes"
        value={
          overview.connections === 0
            ? "no clients yet"
            : `${amount(overview.nodes.connected)} of ${amount(overview.nodes.expected)} connected`
        }
        good={overview.nodes.missing.length === 0}
        href={linkTo("nodes")}
      />
      <Tile name="Keys" value={amount(keys)} good href={linkTo("keys")} />
      {next !== undefined && (
        <Tile
          name="Next certificate to expire"
          value={`${next.file.split("/").at(-1)} in ${duration(next.expiresAtMs - overview.nowMs)}`}
          good={next.expiresAtMs - overview.nowMs > 30 * 86_400_000}
        />
      )}
    </dl>
  );
}

function Tile({ name, value, good, href }: { name: string; value: string; good: boolean; href?: string }) {
  return (
    <div class={`tile ${good ? "good" : "bad"}`}>
      <dt>{name}</dt>
      <dd>{href === undefined ? value : <a href={href}>{value}</a>}</dd>
    </div>
  );
}

function Syncers({ overview }: { overview: OverviewView }) {
  return (
    <table class="card">
      <caption>Syncers</caption>
      <thead>
        <tr>
          <th scope="col">syncer</th>
          <th scope="col">state</th>
          <th scope="col">keys</th>
          <th scope="col">size</th>
          <th scope="col">clients</th>
        </tr>
      </thead>
      <tbody>
        {overview.syncers.map((syncer) => (
          <tr key={syncer.syncer}>
            <th scope="row">
              <a href={linkTo("keys", { syncer: syncer.syncer })}>{syncer.syncer}</a>
            </th>
            <td class={syncer.state === "in sync" ? "good" : "bad"}>{syncer.state}</td>
            <td>{amount(syncer.keys)}</td>
            <td>{bytes(syncer.bytes)}</td>
            <td>{amount(syncer.clients)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Kinds({ overview }: { overview: OverviewView }) {
  const most = Math.max(1, ...overview.keysByKind.map(({ keys }) => keys));
  return (
    <table class="card">
      <caption>Keys per kind (felix)</caption>
      <tbody>
        {overview.keysByKind.map(({ kind, keys, bytes: size }) => (
          <tr key={kind}>
            <th scope="row">
              <a href={linkTo("keys", { kind })}>{kind}</a>
            </th>
            <td class="bar">
              <span style={{ width: `${(100 * keys) / most}%` }} />
            </td>
            <td>{amount(keys)}</td>
            <td>{bytes(size)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Certificates({ certificates, nowMs }: { certificates: CertificateView[]; nowMs: number }) {
  if (certificates.length === 0)
    return <p class="bad">This server runs without TLS: anyone who reaches its port can read everything.</p>;
  return (
    <table class="card">
      <caption>Certificates</caption>
      <thead>
        <tr>
          <th scope="col">file</th>
          <th scope="col">subject</th>
          <th scope="col">issuer</th>
          <th scope="col">expires in</th>
        </tr>
      </thead>
      <tbody>
        {certificates.map((certificate) => (
          <tr key={certificate.file}>
            <th scope="row">{certificate.file}</th>
            <td>{certificate.subject}</td>
            <td>{certificate.issuer}</td>
            <td class={certificate.expiresAtMs - nowMs < 30 * 86_400_000 ? "bad" : ""}>
              {duration(certificate.expiresAtMs - nowMs)}{" "}
              <span class="quiet">({new Date(certificate.expiresAtMs).toISOString().slice(0, 10)})</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nextToExpire(certificates: CertificateView[]): CertificateView | undefined {
  return certificates.toSorted((left, right) => left.expiresAtMs - right.expiresAtMs)[0];
}
