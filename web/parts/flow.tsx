// The way of the data on one line, datastore to server to nodes, each with how it is doing: what runs here, and where it
// is stuck if it is.
import type { ComponentChildren } from "preact";
import type { OverviewView } from "../../src/typha/dashboard/contract.ts";
import { nextToExpireFirst, soonMs } from "../expiry.ts";
import { amount, duration } from "../format.ts";
import { linkTo } from "../route.ts";

type Mood = "good" | "warn" | "bad";

export function Flow({ overview }: { overview: OverviewView }) {
  return (
    <ol class="flow" aria-label="How data flows here">
      <DatastoreStage overview={overview} />
      <ServerStage overview={overview} />
      <NodesStage overview={overview} />
      <CertificateStage overview={overview} />
    </ol>
  );
}

function DatastoreStage({ overview }: { overview: OverviewView }) {
  const { type, state } = overview.datastore;
  const mood = state === "reachable" ? "good" : state === "starting" ? "warn" : "bad";
  return (
    <Stage name="Datastore" mood={mood} value={state} href={linkTo("watches")} link="its watches">
      {type === "memory" ? "in memory" : type}
    </Stage>
  );
}

function ServerStage({ overview }: { overview: OverviewView }) {
  const { syncers } = overview;
  const inSync = syncers.filter(({ state }) => state === "in sync").length;
  const keys = syncers.reduce((sum, syncer) => sum + syncer.keys, 0);
  const isWhole = inSync === syncers.length;
  const mood = isWhole && overview.ready ? "good" : isWhole ? "bad" : "warn";
  const value = !isWhole ? `${inSync} of ${syncers.length} in sync` : overview.ready ? "in sync" : "not ready";
  return (
    <Stage name="This server" mood={mood} value={value} href={linkTo("keys")} link="its keys">
      {isWhole && !overview.ready ? (overview.notReady[0] ?? "") : `${amount(keys)} keys`}
    </Stage>
  );
}

function NodesStage({ overview }: { overview: OverviewView }) {
  const { expected, here, elsewhere, upToDate, missing, behind, unknown } = overview.nodes;
  const connected = here + elsewhere;
  const total = connected + missing.length;
  const isAll = missing.length + behind.length === 0;
  const mood = connected === 0 || (isAll && unknown > 0) ? "warn" : isAll ? "good" : "bad";
  const value = connected === 0 ? "none connected yet" : `${amount(upToDate)} of ${amount(total)} up to date`;
  const details = [
    missing.length > 0 ? `${amount(missing.length)} not connected` : "",
    behind.length > 0 ? `${amount(behind.length)} behind` : "",
    elsewhere > 0 ? `${amount(elsewhere)} on other servers` : "",
    unknown > 0 ? `${amount(unknown)} unknown: not every server was heard` : "",
  ].filter((text) => text !== "");
  return (
    <Stage name="Nodes" mood={mood} value={value} href={linkTo("nodes")} link="all nodes">
      {connected === 0 && expected === 0
        ? "no node in the datastore"
        : details.join(", ") || "none missing, none behind"}
    </Stage>
  );
}

function CertificateStage({ overview }: { overview: OverviewView }) {
  const next = nextToExpireFirst(overview.certificates)[0];
  if (next === undefined) {
    return (
      <Stage name="Certificates" mood="bad" value="TLS is off" isAside>
        whoever reaches the port can read everything
      </Stage>
    );
  }
  const leftMs = next.expiresAtMs - overview.nowMs;
  const mood = leftMs > soonMs ? "good" : leftMs > soonMs / 4 ? "warn" : "bad";
  const value = leftMs > 0 ? `${duration(leftMs)} left` : "expired";
  return (
    <Stage name="Certificates" mood={mood} value={value} isAside>
      {next.file.split("/").at(-1)} expires next
    </Stage>
  );
}

type StageProps = {
  name: string;
  mood: Mood;
  value: string;
  href?: string;
  link?: string;
  isAside?: boolean;
  children: ComponentChildren;
};

function Stage({ name, mood, value, href, link, isAside, children }: StageProps) {
  return (
    <li class={`stage ${mood} ${isAside === true ? "aside" : ""}`}>
      <span class="name">{name}</span>
      <span class="value">{value}</span>
      <span class="quiet">
        {children}
        {href !== undefined && (
          <>
            {" · "}
            <a href={href}>{link}</a>
          </>
        )}
      </span>
    </li>
  );
}
