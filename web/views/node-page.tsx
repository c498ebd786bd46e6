// One node: what its agent says of itself (health, BGP, routes), and what this server knows of its connections.
import type {
  BgpDaemonView,
  NodePageView,
  NodeView,
  OverviewView,
  RouteRowView,
} from "../../src/typha/dashboard/contract.ts";
import { ago, amount, duration } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { Health, HowToAsk } from "../parts/health.tsx";
import { type Column, Rows } from "../parts/rows.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";
import { Connections } from "./node-card.tsx";

export function NodePage({ node, overview }: { node: NodeView; overview: OverviewView }) {
  const { nowMs } = overview;
  const answer = useAnswer<NodePageView | null>(`/api/node?${new URLSearchParams({ node: node.node })}`, nowMs);
  return (
    <section aria-label={`Node ${node.node}`}>
      <h2>{node.node}</h2>
      <p>
        <a href={linkTo("nodes")}>← all nodes</a> ·{" "}
        <a href={linkTo("keys", { kind: "WorkloadEndpoint", search: `/host/${node.node}/` })}>its pods' endpoints</a> ·{" "}
        <a href={linkTo("addresses", { node: node.node })}>its blocks of addresses</a>
      </p>
      <WithAnswer
        answer={answer}
        missing="The datastore has no node of this name: nothing is known but its connections."
      >
        {(view) => <Facts view={view} nowMs={nowMs} />}
      </WithAnswer>
      <Connections node={node} nowMs={nowMs} />
    </section>
  );
}

function Facts({ view, nowMs }: { view: NodePageView; nowMs: number }) {
  return (
    <>
      <dl class="card facts">
        <dt>Health</dt>
        <dd>
          <Health node={view} nowMs={nowMs} />
        </dd>
        <dt>Version</dt>
        <dd>
          {view.version || <span class="quiet">not told</span>}
          {view.startedAtMs !== null && (
            <span class="quiet">{`, running for ${duration(nowMs - view.startedAtMs)}`}</span>
          )}
        </dd>
        <dt>Address</dt>
        <dd>{view.address ?? "none in the datastore"}</dd>
        <dt>Pods</dt>
        <dd>{amount(view.pods)}</dd>
        <dt>Told by</dt>
        <dd>{toldBy(view, nowMs)}</dd>
      </dl>
      {view.silent !== null && (
        <p class="bad" role="status">
          {`It has not answered for ${duration(nowMs - view.silent.sinceMs)}: ${view.silent.why}.`}
          {view.atMs !== null && ` What stands here was said ${ago(view.atMs, nowMs)}.`}
        </p>
      )}
      {view.source !== "report" && view.silent === null && <HowToAsk notAsked={view.notAsked} />}
      <Components view={view} />
      <Bgp view={view} />
      <Routes view={view} />
      <Audit view={view} nowMs={nowMs} />
    </>
  );
}

function toldBy({ source, atMs }: NodePageView, nowMs: number): string {
  if (source === "report") return `its agent, ${ago(atMs, nowMs)}`;
  return source === "status" ? `a CalicoNodeStatus object, ${ago(atMs, nowMs)}` : "nobody yet";
}

/** What is not well is in sight; the rest is there for who wants to know. */
function Components({ view: { components } }: { view: NodePageView }) {
  if (components.length === 0) return null;
  const isWell = ({ isLive, isReady }: Component) => isLive && isReady;
  const [unwell, well] = [components.filter((one) => !isWell(one)), components.filter(isWell)];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section class="card scroll" aria-label="Health" tabIndex={0}>
      <h3>
        Health <span class="quiet">{`${amount(well.length)} of ${amount(components.length)} parts are well`}</span>
      </h3>
      {unwell.length > 0 && <ComponentTable components={unwell} />}
      {well.length > 0 && (
        <details>
          <summary>{unwell.length === 0 ? "All parts" : "The others"}</summary>
          <ComponentTable components={well} />
        </details>
      )}
    </section>
  );
}

type Component = NodePageView["components"][number];

function ComponentTable({ components }: { components: readonly Component[] }) {
  return (
    <table class="wide">
      <thead>
        <Headings columns={["part", "state", "what it says"]} />
      </thead>
      <tbody>
        {components.map(({ name, isLive, isReady, detail }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class={isLive && isReady ? "good oneline" : "bad oneline"}>
              {isLive ? (isReady ? "well" : "not ready") : "not live"}
            </td>
            <td class="words">{detail}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bgp({ view: { daemons, source } }: { view: NodePageView }) {
  if (source === "none") return null;
  if (daemons.length === 0)
    return (
      <section class="card" aria-label="BGP">
        <h3>BGP</h3>
        <p class="quiet">
          {source === "report"
            ? "No BIRD is used on this node: its routes are written by the agent."
            : "The CalicoNodeStatus object does not ask for it: add BGP and Agent to its classes."}
        </p>
      </section>
    );
  return (
    <>
      {daemons.map((daemon) => (
        <Daemon key={daemon.family} daemon={daemon} />
      ))}
    </>
  );
}

function Daemon({ daemon }: { daemon: BgpDaemonView }) {
  const { family, silent, version, routerId, bootTime, reconfiguredTime, sessions } = daemon;
  const facts = [
    version,
    routerId && `router ${routerId}`,
    bootTime && `started ${withoutFraction(bootTime)}`,
    reconfiguredTime && `configured ${withoutFraction(reconfiguredTime)}`,
  ].filter((text) => text !== "");
  const up = sessions.filter(isUp).length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section class="card scroll" aria-label={`BGP, IPv${family}`} tabIndex={0}>
      <h3>
        BGP, IPv{family} <span class="quiet">{`${amount(up)} of ${amount(sessions.length)} sessions are up`}</span>
      </h3>
      {silent === "" ? <p class="quiet">{`BIRD ${facts.join(", ")}`}</p> : <p class="bad">BIRD: {silent}</p>}
      {sessions.length === 0 ? (
        <p class="quiet">
          No session is configured: this is the only node, or the mesh is off and no BGPPeer selects it.
        </p>
      ) : (
        <table class="wide">
          <thead>
            <Headings columns={["with", "node", "state", "since", "kind"]} />
          </thead>
          <tbody>
            {sessions
              .toSorted((a, b) => Number(isUp(a)) - Number(isUp(b)))
              .map((session) => (
                <tr key={`${session.kind} ${session.address}`}>
                  <th scope="row">{session.address}</th>
                  <td>
                    {session.node !== undefined && <a href={linkTo("nodes", { node: session.node })}>{session.node}</a>}
                  </td>
                  <td class={isUp(session) ? "good" : "bad"}>{session.state || "unknown"}</td>
                  <td class="oneline">{withoutFraction(session.since)}</td>
                  <td>{session.kind}</td>
                </tr>
              ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** BIRD's times have more digits than a person wants. */
const withoutFraction = (time: string) => time.replace(/(:\d\d)\.\d+$/, "$1");
const isUp = ({ state }: { state: string }) => state === "Established";

const routeWords: { readonly [state in RouteRowView["state"]]: string } = {
  right: "right",
  other: "another way",
  missing: "missing",
  wrong: "wrong",
  waiting: "waiting",
};

const routeColumns: Column<RouteRowView>[] = [
  { title: "block", width: "17%", cell: ({ destination }) => destination, sortBy: ({ destination }) => destination },
  {
    title: "state",
    width: "12%",
    cell: ({ state }) => (
      <span class={state === "right" ? "good" : state === "other" || state === "waiting" ? "warn" : "bad"}>
        {routeWords[state]}
      </span>
    ),
    sortBy: ({ state }) => state,
  },
  {
    title: "node",
    width: "13%",
    isMinor: true,
    cell: ({ node }) => node !== "" && <a href={linkTo("nodes", { node })}>{node}</a>,
    sortBy: ({ node }) => node,
  },
  { title: "should be", width: "24%", isMinor: true, cell: ({ expected }) => expected },
  { title: "is", width: "34%", isMinor: true, cell: ({ actual, why }) => (why === "" ? actual : `${actual}: ${why}`) },
];

/** Counts come with what an agent says of itself; the list is asked for by itself. */
function unlisted({ source, silent, routes }: NodePageView): string {
  if (source === "status") return "Add Routes to the classes of the CalicoNodeStatus object.";
  if (silent === null) return "No part of this agent keeps routes.";
  if (routes === null) return "Its agent does not answer.";
  return `Its agent does not answer. When it did, ${amount(routes.right)} were right and ${amount(routes.wrong)} were not.`;
}

function Routes({ view }: { view: NodePageView }) {
  const { routeRows, source } = view;
  if (source === "none") return null;
  return (
    <>
      <h3>
        Routes to blocks <span class="quiet">{routeRows !== null && `${amount(routeRows.length)} blocks`}</span>
      </h3>
      {routeRows === null ? (
        <p class="quiet">{unlisted(view)}</p>
      ) : routeRows.length === 0 ? (
        <Empty title="No block">No node has claimed one yet: the first pod of a node does.</Empty>
      ) : (
        <Rows
          label="Routes"
          columns={routeColumns}
          rows={routeRows}
          rowKey={({ destination }) => destination}
          isShort
        />
      )}
    </>
  );
}

function Audit({ view: { audit }, nowMs }: { view: NodePageView; nowMs: number }) {
  if (audit === null) return null;
  return (
    <section class="card" aria-label="Audit of addresses">
      <h3>Audit of addresses</h3>
      <p class={audit.findings === 0 ? "good" : "bad"}>
        {`${audit.findings === 0 ? "Nothing" : amount(audit.findings)} found, ${ago(audit.atMs, nowMs)}`}
      </p>
      <ul>
        {audit.says.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}
