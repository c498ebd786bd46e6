// The recorded cases of a node's start-up (test/vectors/startup), and what of a cluster and a folder counts when they are compared.
import { readFileSync } from "node:fs";
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";

export type CaseInterface = {
  readonly name: string;
  /** ADDRESS/LENGTH, or `ADDRESS peer PEER/LENGTH`. */
  readonly addrs?: readonly string[];
  /** lo: the one that is there already. */
  readonly type?: "veth" | "bridge" | "vxlan" | "lo";
  readonly up?: boolean;
  readonly mac?: string;
  readonly routes?: readonly string[];
};

export type CaseObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: JsonRecord;
  readonly status?: JsonRecord;
};

export type Program = "startup" | "complete" | "shutdown" | "tunnel" | "health";

export type CaseStep = {
  readonly run?: Program;
  readonly flags?: readonly string[];
  readonly apply?: readonly CaseObject[];
  readonly annotate?: readonly {
    readonly node: string;
    readonly annotations: { readonly [name: string]: string | null };
  }[];
};

export type Facts = {
  readonly rc: number | string | null;
  readonly objects: { readonly [name: string]: unknown };
  readonly gone: readonly string[];
  readonly nodes: { readonly [name: string]: unknown };
  readonly files: { readonly [path: string]: string };
};

export type StartupCase = {
  readonly name: string;
  readonly about: string;
  readonly env: { readonly [name: string]: string | null };
  readonly interfaces: readonly CaseInterface[];
  readonly objects?: readonly CaseObject[];
  readonly files?: { readonly [path: string]: string };
  readonly user?: string;
  readonly hostname?: string;
  /** Seconds for which the API server is away from the start. */
  readonly doorShut?: number;
  /** Seconds. */
  readonly limit?: number;
  readonly linkLocal?: boolean;
  readonly steps?: readonly CaseStep[];
  readonly health?: {
    readonly bird?: {
      readonly [socket: string]: { greeting: string; replies: { readonly [command: string]: string } };
    };
    /** Its answers by path. */
    readonly felix?: { readonly [path: string]: number };
    /** Seconds. */
    readonly nameFileAge?: number;
  };
  readonly expect: Facts & { readonly log: readonly string[] };
};

export function startupCases(): readonly StartupCase[] {
  const text = readFileSync(new URL("../../vectors/startup/cases.json", import.meta.url), "utf8");
  return JSON.parse(text) as StartupCase[]; // our own file
}

/** Times and ids differ in each run. */
export function scrubbed(text: string): string {
  return text
    .replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, "<time>")
    .replace(/\b[0-9a-f]{32}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>");
}

const raceNumbers = ["sequenceNumber", "sequenceNumberForAllocation", "strictAffinity", "deleted", "affinityClaimTime"];

/** What counts of a stored object. */
export function shapeOf(kind: string, object: unknown): JsonRecord {
  const spec = isRecord(object) && isRecord(object.spec) ? object.spec : {};
  const shape = JSON.parse(scrubbed(JSON.stringify(spec))) as Record<string, unknown>;
  if (kind === "IPAMBlock") for (const name of raceNumbers) delete shape[name];
  if (kind === "ClusterInformation") {
    delete shape.calicoVersion;
    if (typeof shape.clusterType === "string") shape.clusterType = shape.clusterType.split(",").sort().join(",");
  }
  if (kind === "IPPool" && /^fd[0-9a-f]{2}:.*\/48$/.test(String(shape.cidr))) shape.cidr = "<random ULA /48>";
  return shape;
}
