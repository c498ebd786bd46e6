// Namespaces and service accounts to profiles: what a pod in them inherits. No state: a profile's name follows from the
// object's.
import { FieldError, recordAt, recordOf, type StringMap, stringAt, stringMapAt } from "../../model/index.ts";
import { creationTimeOf } from "../object/kubernetes-metadata.ts";
import { writeResource } from "../object/resource.ts";
import { requiredUid } from "../object/uid.ts";
import { unreadable } from "../processor/keyed-processor.ts";
import {
  attempt,
  type ConvertedKv,
  objectName,
  type Processor,
  type ProcessorId,
  refused,
} from "../processor/processor.ts";
import { prefixLabels, profileDeletions, profileKvs, profileProblem, writeLabels } from "./profile-kvs.ts";

type ProfileSource = {
  readonly kind: "Namespace" | "ServiceAccount";
  readonly labelPrefix: "pcns." | "pcsa.";
  profileName(id: ProcessorId): string;
  /** The pair of versions that a profile carries; the half that is not its own stays empty. */
  revision(version: string): string;
  readonly allowsAll: boolean;
};

const sources = {
  Namespace: {
    kind: "Namespace",
    labelPrefix: "pcns.",
    profileName: ({ name }) => `kns.${name}`,
    revision: (version) => `${version}/`,
    allowsAll: true,
  },
  ServiceAccount: {
    kind: "ServiceAccount",
    labelPrefix: "pcsa.",
    profileName: ({ namespace, name }) => `ksa.${namespace === "" ? "default" : namespace}.${name}`,
    revision: (version) => `/${version}`,
    allowsAll: false,
  },
} as const satisfies { readonly [kind: string]: ProfileSource };

export function createNamespaceProcessor(): Processor {
  return createProfileProcessor(sources.Namespace);
}

export function createServiceAccountProcessor(): Processor {
  return createProfileProcessor(sources.ServiceAccount);
}

export type SourceProfile = SourceMetadata & {
  readonly name: string;
  /** The profile's, made of the object's. */
  readonly revision: string;
  readonly allowsAll: boolean;
};

/** What a namespace or service account says about its profile; the labels as the profile gives them. Throws FieldError. */
export function sourceProfile(
  kind: keyof typeof sources,
  { id, version, value }: { id: ProcessorId; version: string; value: unknown },
): SourceProfile {
  const source: ProfileSource = sources[kind];
  const read = readSource(value);
  return {
    ...read,
    name: source.profileName(id),
    labels: Object.fromEntries(prefixLabels(source.labelPrefix, read.labels, id.name)),
    revision: source.revision(version),
    allowsAll: source.allowsAll,
  };
}

const allowRules = '"ingress":[{"action":"Allow"}],"egress":[{"action":"Allow"}]';
const allowV1Rules = '{"inbound_rules":[{"action":"allow"}],"outbound_rules":[{"action":"allow"}]}';

/** The profile that is always there, whatever the datastore holds. */
export const defaultAllowProfile = "projectcalico-default-allow";
export const defaultAllowKvs: readonly ConvertedKv[] = profileKvs(
  defaultAllowProfile,
  {
    labels: undefined,
    rules: allowV1Rules,
    resource: writeResource("Profile", { name: defaultAllowProfile }, { spec: `{${allowRules}}` }),
  },
  { revision: "1" },
);

function createProfileProcessor(source: ProfileSource): Processor {
  return {
    set: (id, version, value) => {
      const object = objectName(source.kind, id);
      const name = source.profileName(id);
      const read = attempt(() => readSource(value));
      if (read instanceof FieldError) return unreadable(object, profileDeletions(name), read);
      const { uid, creationTimestamp } = read;
      const labels = prefixLabels(source.labelPrefix, read.labels, id.name);
      const labelText = writeLabels(labels);
      const spec = `{${source.allowsAll ? `${allowRules},` : ""}"labelsToApply":${labelText}}`;
      const resource = writeResource("Profile", { name, uid, creationTimestamp }, { spec });
      const problem = profileProblem(name, labels);
      const kvs = profileKvs(
        name,
        { labels: labelText, rules: source.allowsAll ? allowV1Rules : "{}", resource },
        { revision: source.revision(version), isResourceInvalid: problem !== undefined },
      );
      return { kvs, problems: problem === undefined ? [] : [{ object, ...refused(problem) }] };
    },
    delete: (id) => ({ kvs: profileDeletions(source.profileName(id)), problems: [] }),
  };
}

type SourceMetadata = { readonly uid: string; readonly creationTimestamp: string; readonly labels: StringMap };

function readSource(value: unknown): SourceMetadata {
  const metadata = recordAt(recordOf(value, ""), "metadata", "");
  return {
    uid: requiredUid(stringAt(metadata, "uid", "metadata") ?? ""),
    creationTimestamp: creationTimeOf(metadata),
    labels: stringMapAt(metadata, "labels", "metadata") ?? {},
  };
}
