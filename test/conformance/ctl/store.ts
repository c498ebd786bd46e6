// A datastore as a case sees it: emptied, filled with what was there before, and looked at afterwards.
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";

export type Store = {
  /** Everything that Calico keeps there, and what cases bring with them. */
  readonly clean: () => Promise<void>;
  readonly create: (object: JsonRecord) => Promise<void>;
  /** In a fixed order, without what an API server keeps for itself. */
  readonly dump: () => Promise<JsonRecord[]>;
  /** What @{rv:...} in an input stands for. */
  readonly revisionOf: (reference: string) => Promise<string>;
  /** The environment in which a program finds it. */
  readonly env: { readonly [name: string]: string };
  /** What the other @{...} stand for. */
  readonly variables: { readonly [name: string]: string };
  /** Texts of this run, and the names that recordings have for them. */
  readonly masks: readonly (readonly [text: string, name: string])[];
  /** A kubeconfig of a service account, NAMESPACE/NAME, written into the folder. */
  readonly actAs?: (account: string, folder: string) => Promise<string>;
};

const tiers: { readonly [name: string]: object } = {
  default: { order: 1000000, defaultAction: "Deny" },
  "kube-admin": { order: 1000, defaultAction: "Pass" },
  "kube-baseline": { order: 10000000, defaultAction: "Pass" },
};
const informations: readonly object[] = [
  { clusterGUID: "<guid>", clusterType: "kdd", datastoreReady: true },
  { clusterGUID: "<guid>", datastoreReady: true },
];

/** All but what a first write makes, where that is there as the first write makes it; undefined where it is not. */
export function withoutFirstWrite(objects: readonly JsonRecord[]): readonly JsonRecord[] | undefined {
  const rest = objects.filter((object) => !isOfFirstWrite(object));
  return rest.length === objects.length - 4 ? rest : undefined;
}

function isOfFirstWrite(object: JsonRecord): boolean {
  const { kind, metadata, spec } = typeof object.key === "string" ? Object(object.value) : object;
  const name = isRecord(metadata) ? String(metadata.name) : "";
  if (kind === "Tier") return Object.hasOwn(tiers, name) && isSame(spec, tiers[name]);
  return kind === "ClusterInformation" && name === "default" && informations.some((each) => isSame(spec, each));
}

function isSame(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown) => JSON.stringify(Object.entries(Object(value)).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** JSON inside these annotations is compared as JSON. */
export function withParsedNotes(
  object: JsonRecord,
  names: readonly string[],
  parse: (text: string) => unknown,
): JsonRecord {
  if (!isRecord(object.metadata) || !isRecord(object.metadata.annotations)) return object;
  const notes = Object.entries(object.metadata.annotations).map(([name, text]) => [
    name,
    names.includes(name) ? parse(String(text)) : text,
  ]);
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(notes) } };
}
