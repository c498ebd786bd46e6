// Values that make no sense, as people are told of them: what they are called, and why they count as absent.
import { pathToKey } from "../model/index.ts";

const longestReason = 300;

/** In the order in which they were said. */
export function describeVoids(
  voids: ReadonlyMap<string, string>,
): readonly { readonly path: string; readonly object: string; readonly why: string }[] {
  return [...voids].map(([path, why]) => ({ path, object: objectAt(path), why: cut(why) }));
}

function objectAt(path: string): string {
  const key = pathToKey(path);
  switch (key?.is) {
    case "Policy":
      return `${key.kind} ${key.namespace === "" ? "" : `${key.namespace}/`}${key.name}`;
    case "WorkloadEndpoint":
      return `workload endpoint ${key.workloadId} of node ${key.hostname}`;
    case "HostEndpoint":
      return `host endpoint ${key.endpointId} of node ${key.hostname}`;
    case "NetworkSet":
      return `network set ${key.name}`;
    case "Tier":
      return `tier ${key.name}`;
    case "ProfileRules":
    case "ProfileLabels":
      return `profile ${key.name}`;
    case "IpPool":
      return `IP pool ${key.cidr}`;
    default:
      return path;
  }
}

/** A reason quotes what was written, which may be as long as somebody likes. */
function cut(why: string): string {
  return why.length <= longestReason ? why : `${why.slice(0, longestReason)}...`;
}
