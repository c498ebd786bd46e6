// Reads what a node says of itself. The node may be anybody's by now: every field is looked at, texts are cut, lists have an end, and what cannot be
// read is an Error with the field's name.
import { isRecord, parseJson, plainLine } from "../../base/lib/index.ts";
import type { BgpDaemon, BgpSession, ComponentReport, NodeReport, PolicyHit, RouteRow, RouteState } from "./report.ts";

/** Of any of the three answers. */
export const mostReportBytes = 4 << 20;

const mostRows = 5_000;
const mostComponents = 100;
const mostCharacters = 500;

export function readNodeReport(body: string): NodeReport {
  const report = parsed(body);
  if (!isRecord(report)) throw new Error("its report is no JSON object");
  const { routes, audit } = report;
  return {
    node: text(report.node),
    version: text(report.version),
    startedAtMs: count(report.startedAtMs),
    live: report.live === true,
    ready: report.ready === true,
    components: list(report.components, "components", mostComponents).map(componentOf),
    bgp: list(report.bgp ?? [], "bgp", 2).map(daemonOf),
    routes: isRecord(routes)
      ? { right: count(routes.right), wrong: count(routes.wrong), first: text(routes.first) }
      : null,
    audit: isRecord(audit)
      ? {
          atMs: count(audit.atMs),
          findings: count(audit.findings),
          says: list(audit.says ?? [], "audit.says", mostComponents).map(text),
        }
      : null,
  };
}

export function readRouteRows(body: string): RouteRow[] {
  return list(parsed(body), "routes", mostRows).map((row) => {
    const { destination, node, expected, actual, state, why } = record(row);
    return {
      destination: text(destination),
      node: text(node),
      expected: text(expected),
      actual: text(actual),
      state: states.find((one) => one === state) ?? "wrong",
      why: text(why),
    };
  });
}

export function readPolicyHits(body: string): PolicyHit[] {
  return list(parsed(body), "policies", mostRows).map((row) => {
    const { policy, rule, direction, action, packets, bytes, reason } = record(row);
    return {
      policy: text(policy),
      rule: count(rule),
      direction: direction === "ingress" || direction === "egress" ? direction : "",
      action: text(action),
      packets: count(packets),
      bytes: count(bytes),
      reason: text(reason),
    };
  });
}

const states: readonly RouteState[] = ["right", "other", "missing", "wrong", "waiting"];

function componentOf(value: unknown): ComponentReport {
  const { name, isLive, isReady, detail } = record(value);
  return { name: text(name), isLive: isLive === true, isReady: isReady === true, detail: text(detail) };
}

function daemonOf(value: unknown): BgpDaemon {
  const { family, silent, version, routerId, bootTime, reconfiguredTime, sessions } = record(value);
  return {
    family: family === 6 ? 6 : 4,
    silent: text(silent),
    version: text(version),
    routerId: text(routerId),
    bootTime: text(bootTime),
    reconfiguredTime: text(reconfiguredTime),
    sessions: list(sessions ?? [], "bgp.sessions", mostRows).map(sessionOf),
  };
}

function sessionOf(value: unknown): BgpSession {
  const { address, kind, state, since } = record(value);
  return { address: text(address), kind: text(kind), state: text(state), since: text(since) };
}

function parsed(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    throw new Error("its report is no JSON");
  }
}

function list(value: unknown, field: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`its report has no list ${field}`);
  return value.slice(0, most);
}

function record(value: unknown): { readonly [name: string]: unknown } {
  return isRecord(value) ? value : {};
}

/** On one line and without control characters: it is shown to people, and logged. */
function text(value: unknown): string {
  return typeof value === "string" ? plainLine(value.slice(0, mostCharacters)) : "";
}

function count(value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : 0;
}
