// Namespaces and service accounts to profiles: what a pod in them inherits. No state: a profile's name follows from the
// object's.
import {
  canonicalTime,
  FieldError,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
  stringMapAt,
  writeGoString,
} from "../model/index.ts";
import { attempt } from "./attempt.ts";
import type { ConvertedKv } from "./converted.ts";
import { objectName, type Processor, type ProcessorId } from "./processor.ts";
import { prefixLabels, profileDeletions, profileKvs, profileProblem, writeLabels } from "./profile-kvs.ts";
import { translateUid } from "./uid.ts";

type ProfileSource = {
  readonly kind: "Namespace" | "ServiceAccount";
  readonly labelPrefix: "pcns." | "pcsa.";
  profileName(id: ProcessorId): string;
  /** The pair of versions that a profile carries; the half that is not its own stays empty. */
  revision(version: string): string;
  readonly allowsAll: boolean;
};

export function createNamespaceProcessor(): Processor {
  return createProfileProcessor({
    kind: "Namespace",
    labelPrefix: "pcns.",
    profileName: ({ name }) => `kns.${name}`,
    revision: (version) => `${version}/`,
    allowsAll: true,
  });
}

export function createServiceAccountProcessor(): Processor {
  return createProfileProcessor({
    kind: "ServiceAccount",
    labelPrefix: "pcsa.",
    profileName: ({ namespace, name }) => `ksa.${namespace === "" ? "default" : namespace}.${name}`,
    revision: (version) => `/${version}`,
    allowsAll: false,
  });
}

const allowRules = '"ingress":[{"action":"Allow"}],"egress":[{"action":"Allow"}]';
const allowV1Rules = '{"inbound_rules":[{"action":"allow"}],"outbound_rules":[{"action":"allow"}]}';

/** The profile that is always there, whatever the datastore holds. */
export const defaultAllowProfile = "projectcalico-default-allow";
export const defaultAllowKvs: readonly ConvertedKv[] = profileKvs(
  defaultAllowProfile,
  { labels: undefined, rules: allowV1Rules, resource: writeProfile({ name: defaultAllowProfile }, `{${allowRules}}`) },
  { revision: "1", v3ResourceVersion: "", isInvalid: false },
);

function createProfileProcessor(source: ProfileSource): Processor {
  return {
    set: (id, version, value) => {
      const object = objectName(source.kind, id);
      const name = source.profileName(id);
      const read = attempt(() => readSource(value));
      if (read instanceof FieldError) {
        const { field, rule } = read;
        return { kvs: profileDeletions(name), problems: [{ object, field, rule, effect: "deleted" }] };
      }
      const labels = prefixLabels(source.labelPrefix, read.labels, id.name);
      const labelText = writeLabels(labels);
      const spec = `{${source.allowsAll ? `${allowRules},` : ""}"labelsToApply":${labelText}}`;
      const resource = writeProfile({ name, ...read }, spec);
      const problem = profileProblem(name, labels);
      const kvs = profileKvs(
        name,
        { labels: labelText, rules: source.allowsAll ? allowV1Rules : "{}", resource },
        { revision: source.revision(version), v3ResourceVersion: "", isInvalid: problem !== undefined },
      );
      return { kvs, problems: problem === undefined ? [] : [{ object, ...problem }] };
    },
    delete: (id) => ({ kvs: profileDeletions(source.profileName(id)), problems: [] }),
  };
}

type SourceMetadata = { readonly uid: string; readonly creationTimestamp: string; readonly labels: StringMap };

function readSource(value: unknown): SourceMetadata {
  const metadata = recordAt(recordOf(value, ""), "metadata", "");
  const uid = translateUid(stringAt(metadata, "uid", "metadata") ?? "");
  if (uid === undefined) throw new FieldError("metadata.uid", "must be a UUID");
  const created = stringAt(metadata, "creationTimestamp", "metadata");
  const creationTimestamp = created === undefined ? "" : canonicalTime(created);
  if (creationTimestamp === undefined) throw new FieldError("metadata.creationTimestamp", "must be a time");
  return { uid, creationTimestamp, labels: stringMapAt(metadata, "labels", "metadata") ?? {} };
}

function writeProfile(metadata: { name: string; uid?: string; creationTimestamp?: string }, spec: string): string {
  const { name, uid, creationTimestamp } = metadata;
  let text = `"name":${writeGoString(name)}`;
  if (uid !== undefined) text += `,"uid":"${uid}"`;
  if (creationTimestamp !== undefined && creationTimestamp !== "")
    text += `,"creationTimestamp":"${creationTimestamp}"`;
  return `{"kind":"Profile","apiVersion":"projectcalico.org/v3","metadata":{${text}},"spec":${spec}}`;
}
