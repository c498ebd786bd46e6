// One golden case as data: what was written to the API server, what it stored, and what the real Typha then said. The
// recordings have placeholders where a run differs from the next (versions, UIDs, times); here each gets one fixed value,
// in input and expectation alike, so that outputs can be compared as bytes.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Kind } from "../../src/calico/kinds/index.ts";
import type { SyncerType } from "../../src/calico/model/index.ts";

const root = join(import.meta.dirname, "../vectors/golden/cases");

export type ExpectedKv = {
  readonly key: string;
  /** Null also stands for an empty text, which the wire cannot tell from none. */
  readonly value: string | null;
  readonly revision: string;
  readonly v3rv: string;
  readonly type: number;
};
export type ExpectedEvent = { readonly kv: ExpectedKv } | { readonly status: number };
export type ExpectedSnapshot = { readonly removed: readonly string[]; readonly kvs: readonly ExpectedKv[] };
export type ExpectedWrite = { readonly unordered?: boolean; readonly events: readonly ExpectedEvent[] };

export type ApiObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec?: { readonly finalizers?: readonly string[] };
};

export type Write = {
  readonly op: string;
  /** apiVersion, kind, namespace (where there is one) and name. */
  readonly object: string;
  /** The stored object, or a Status. */
  readonly answer: ApiObject;
};

export type GoldenCase = {
  readonly name: string;
  readonly usePodCidr: boolean;
  readonly writes: readonly Write[];
  snapshot(syncer: SyncerType, form?: "cold" | "legacy"): ExpectedSnapshot | undefined;
  /** One entry per write, each recorded on its own; undefined where none were recorded. */
  deltas(syncer: SyncerType): readonly ExpectedWrite[] | undefined;
  readonly hasCold: boolean;
};

export function goldenCaseNames(): string[] {
  return readdirSync(root).sort();
}

type Steps = {
  readonly env?: { readonly USE_POD_CIDR?: string };
  readonly noCold?: boolean;
  readonly steps: readonly { op: string; count?: number; start?: number; template?: unknown }[];
};

export function loadGoldenCase(name: string): GoldenCase {
  // Files of ours whose shape the corpus' README.md gives.
  const read = (file: string): unknown => JSON.parse(fillIn(readFileSync(join(root, name, file), "utf8")));
  const has = (file: string) => existsSync(join(root, name, file));
  const steps = read("steps.json") as Steps;
  return {
    name,
    usePodCidr: steps.env?.USE_POD_CIDR === "true",
    writes: has("observed.json") ? (read("observed.json") as Write[]) : generatedWrites(steps),
    snapshot: (syncer, form) => {
      const file = `expect-${syncer}${form === undefined ? "" : `.${form}`}.json`;
      return has(file) ? (read(file) as ExpectedSnapshot) : undefined;
    },
    deltas: (syncer) => {
      const file = `expect-${syncer}.deltas.json`;
      return has(file) ? (read(file) as { writes: ExpectedWrite[] }).writes : undefined;
    },
    hasCold: steps.noCold !== true,
  };
}

const time = "2026-01-02T03:04:05Z";

function versionOf(index: number): string {
  return String(90_000 + index);
}

function fillIn(text: string): string {
  return text
    .replaceAll(/<rv:(\d+)>/g, (_, index) => versionOf(Number(index)))
    .replaceAll(/<uid:(\d+)>/g, (_, index) => uid(Number(index)))
    .replaceAll(/<uid:(\d+):rev>/g, (_, index) => reverseUid(uid(Number(index))))
    .replaceAll("<time>", time);
}

function uid(index: number): string {
  return `1f2e3d4c-5b6a-4788-9${index.toString(16).padStart(3, "0")}-0123456789ab`;
}

/** The second UID that Calico derives: the bits of every byte reversed, but for the seventh and the ninth. */
function reverseUid(text: string): string {
  const bytes = (text.replaceAll("-", "").match(/../g) ?? []).map((pair, at) => {
    if (at === 6 || at === 8) return pair;
    const bits = Number.parseInt(pair, 16).toString(2).padStart(8, "0");
    return Number.parseInt([...bits].reverse().join(""), 2)
      .toString(16)
      .padStart(2, "0");
  });
  return bytes.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A case of many objects has no recording of what was stored: it is the template plus what every object gets. */
function generatedWrites({ steps }: Steps): Write[] {
  let version = 0;
  return steps.flatMap(({ op, count = 0, start = 0, template }) => {
    if (op !== "generate") throw new Error(`a case without observed.json may only generate, not ${op}`);
    return Array.from({ length: count }, (_, at) => {
      version += 1;
      const answer = expand(template, start + at) as ApiObject; // the template is an API object
      const metadata = { ...answer.metadata, resourceVersion: versionOf(version), uid: uid(version % 4096) };
      const { apiVersion, kind } = answer;
      return { op: "create", object: `${apiVersion} ${kind} ${metadata.name}`, answer: { ...answer, metadata } };
    });
  });
}

/** The object that a bulk step's template stands for at this index. */
export function expand<T>(template: T, index: number): T {
  const text = JSON.stringify(template)
    .replaceAll("{i}", String(index).padStart(5, "0"))
    .replaceAll("{hi}", String(Math.floor(index / 256)))
    .replaceAll("{lo}", String(index % 256));
  return JSON.parse(text);
}

/** Which of our kinds an API object is; undefined: one that no syncer looks at. */
export function kindOf(object: string): Kind | undefined {
  const [apiVersion = "", kind = ""] = object.split(" ");
  if (apiVersion === "networking.k8s.io/v1") return "KubernetesNetworkPolicy";
  const unwatched = ["IPAMConfig", "IPAMHandle", "IPReservation", "KubeControllersConfiguration", "Secret"];
  return unwatched.includes(kind) ? undefined : (kind as Kind); // elsewhere the names are the same
}
