// The two ways in which a kind can be missing, each with what to do about it.
import { type Flavour, type Kind, kindInfo, storedKind } from "../kinds/index.ts";
import { DatastoreError } from "./errors.ts";

/** The datastore never holds the kind: Kubernetes has other kinds in its place, or etcd has. */
export function neverHeld(kind: Kind, flavour: Flavour): DatastoreError {
  const here = flavour === "kubernetes" ? "Kubernetes" : "etcd";
  const there = flavour === "kubernetes" ? "etcd" : "Kubernetes";
  return new DatastoreError("no-such-kind", `${kind} does not exist in a datastore of ${here}`, {
    next: `ask a datastore of ${there} for it, or leave it out`,
  });
}

/** The API server has no such kind now: its CRD, or the API that would serve it, is not installed. */
export function notInstalled(given: Kind, place: { group: string; plural: string }, cause?: unknown): DatastoreError {
  const kind = storedKind(given, "kubernetes");
  const isCustom = kindInfo(kind).whenMissing === "custom-resource";
  return new DatastoreError("no-such-kind", `the server has no ${place.plural} in ${place.group}`, {
    ...(cause === undefined ? {} : { cause }),
    next: isCustom
      ? `install Calico's resource definitions: cattail manifests crds | kubectl apply -f -, with --only ${kind} for this one alone`
      : `install what serves the API group ${place.group}, or do without ${place.plural}`,
  });
}
