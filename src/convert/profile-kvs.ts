// The three key/values that every profile becomes, in the order in which they are sent: labels, rules, the profile itself.
import { compareUtf8, escapeName, type StringMap, writeGoString } from "../model/index.ts";
import { type ConvertedKv, deletion, type Warning } from "./converted.ts";
import { isDnsSubdomain, isLabelValue, isQualifiedName } from "./name-rules.ts";

export type ProfilePaths = { readonly labels: string; readonly rules: string; readonly resource: string };

export function profilePaths(name: string): ProfilePaths {
  const root = `/calico/v1/policy/profile/${escapeName(name)}`;
  return {
    labels: `${root}/labels`,
    rules: `${root}/rules`,
    resource: `/calico/resources/v3/projectcalico.org/profiles/${name}`,
  };
}

/** Each of them JSON already. */
export type ProfileValues = {
  /** Undefined: a profile without labels has no such key. */
  readonly labels: string | undefined;
  readonly rules: string;
  readonly resource: string;
};

export type ProfileVersion = {
  readonly revision: string;
  readonly v3ResourceVersion: string;
  /** The resource breaks a validation rule; the other two are not validated. */
  readonly isInvalid: boolean;
};

export function profileKvs(name: string, values: ProfileValues, version: ProfileVersion): ConvertedKv[] {
  const { revision, v3ResourceVersion, isInvalid } = version;
  const paths = profilePaths(name);
  return [
    values.labels === undefined
      ? deletion(paths.labels)
      : { path: paths.labels, value: values.labels, revision, v3ResourceVersion: "" },
    { path: paths.rules, value: values.rules, revision, v3ResourceVersion: "" },
    isInvalid
      ? { path: paths.resource, value: undefined, revision, v3ResourceVersion: "", isInvalid: true }
      : { path: paths.resource, value: values.resource, revision, v3ResourceVersion },
  ];
}

export function profileDeletions(name: string): ConvertedKv[] {
  const { labels, rules, resource } = profilePaths(name);
  return [deletion(labels), deletion(rules), deletion(resource)];
}

/** What the validation filter finds wrong with a profile's name and the labels it gives; undefined: nothing. */
export function profileProblem(name: string, labels: ReadonlyMap<string, string>): Warning | undefined {
  if (!isDnsSubdomain(name)) {
    return { field: "metadata.name", rule: `the profile's name ${name} must be a DNS name`, effect: "deleted" };
  }
  for (const [key, value] of labels) {
    const field = `metadata.labels[${JSON.stringify(key)}]`;
    if (!isQualifiedName(key)) {
      return { field, rule: "the label, with Calico's prefix, must be a qualified name", effect: "deleted" };
    }
    if (!isLabelValue(value)) return { field, rule: "must be a label value of up to 63 characters", effect: "deleted" };
  }
  return undefined;
}

/** The labels a profile gives, prefixed so that they cannot be mistaken for a workload's own. */
export function prefixLabels(prefix: string, labels: StringMap, name: string): ReadonlyMap<string, string> {
  const prefixed = new Map(Object.entries(labels).map(([key, value]) => [prefix + key, value]));
  prefixed.set(`${prefix}projectcalico.org/name`, name);
  return prefixed;
}

export function writeLabels(labels: ReadonlyMap<string, string>): string {
  const members = [...labels]
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([key, value]) => `${writeGoString(key)}:${writeGoString(value)}`);
  return `{${members.join(",")}}`;
}
