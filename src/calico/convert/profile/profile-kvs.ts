// The three key/values that every profile becomes, in the order in which they are sent: labels, rules, the profile itself.

import { isDnsSubdomain, labelsProblem } from "../../kinds/index.ts";
import { escapeName, resourcePrefix, type StringMap, sortByUtf8, writeGoString } from "../../model/index.ts";
import { type ConvertedKv, deletion, type FieldProblem, invalidKv } from "../processor/processor.ts";

const profilePrefix = resourcePrefix("Profile");

type ProfilePaths = { readonly labels: string; readonly rules: string; readonly resource: string };

function profilePaths(name: string): ProfilePaths {
  const root = `/calico/v1/policy/profile/${escapeName(name)}`;
  return {
    labels: `${root}/labels`,
    rules: `${root}/rules`,
    resource: profilePrefix + name,
  };
}

/** Each of them JSON already. */
type ProfileValues = {
  /** Undefined: a profile without labels has no such key. */
  readonly labels: string | undefined;
  readonly rules: string;
  readonly resource: string;
};

/** Labels are not validated. */
type ProfileVersion = {
  readonly revision: string;
  readonly v3ResourceVersion?: string;
  readonly areRulesInvalid?: boolean;
  readonly isResourceInvalid?: boolean;
};

export function profileKvs(name: string, values: ProfileValues, version: ProfileVersion): ConvertedKv[] {
  const { revision, v3ResourceVersion = "", areRulesInvalid, isResourceInvalid } = version;
  const { labels, rules, resource } = profilePaths(name);
  return [
    values.labels === undefined
      ? deletion(labels)
      : { path: labels, value: values.labels, revision, v3ResourceVersion: "" },
    areRulesInvalid
      ? invalidKv(rules, revision)
      : { path: rules, value: values.rules, revision, v3ResourceVersion: "" },
    isResourceInvalid
      ? invalidKv(resource, revision)
      : { path: resource, value: values.resource, revision, v3ResourceVersion },
  ];
}

export function profileDeletions(name: string): ConvertedKv[] {
  const { labels, rules, resource } = profilePaths(name);
  return [deletion(labels), deletion(rules), deletion(resource)];
}

/** What the validation filter finds wrong with a profile's name and the labels it gives; undefined: nothing. */
export function profileProblem(name: string, labels: ReadonlyMap<string, string>): FieldProblem | undefined {
  if (!isDnsSubdomain(name)) {
    return { field: "metadata.name", rule: `the profile's name ${name} must be a DNS name` };
  }
  return labelsProblem(labels, "metadata.labels");
}

/** The labels a profile gives, prefixed so that they cannot be mistaken for a workload's own. */
export function prefixLabels(prefix: string, labels: StringMap, name: string): ReadonlyMap<string, string> {
  const prefixed = new Map(Object.entries(labels).map(([key, value]) => [prefix + key, value]));
  prefixed.set(`${prefix}projectcalico.org/name`, name);
  return prefixed;
}

export function writeLabels(labels: ReadonlyMap<string, string>): string {
  const members = sortByUtf8([...labels.keys()]).map(
    (key) => `${writeGoString(key)}:${writeGoString(labels.get(key) ?? "")}`,
  );
  return `{${members.join(",")}}`;
}
