// What an API server's refusal means. Rights are checked before existence, so "forbidden" may hide a kind that is not
// there; and "not found" is said of an object, of the whole kind, and by proxies of everything. Discovery, which every
// authenticated user may ask, tells them apart.
import { isKubeError } from "../../../base/kube/index.ts";
import type { Kind } from "../../kinds/index.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { readVerbs, ruleYaml } from "../missing-rights.ts";
import { notInstalled } from "../no-such-kind.ts";
import type { Served } from "./paths.ts";
import { datastoreErrorOf } from "./read-object.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export type Refused = {
  readonly kind: Kind;
  readonly served: Served;
  readonly verb: Verb;
  readonly subresource?: "status" | undefined;
  /** Asks discovery; may fail. */
  readonly isServed: () => Promise<boolean>;
};

/** The error to throw instead of the one that was thrown. */
export async function explainRefusal(thrown: unknown, refused: Refused): Promise<unknown> {
  const error = datastoreErrorOf(thrown);
  // The server's own word for an object, or its namespace, that is not there. For a missing kind it has none.
  const isAboutObject = isKubeError(thrown, "not-found") && thrown.reason === "NotFound" && isOfObject(refused.verb);
  if (!isDatastoreError(error, "forbidden", "not-found") || isAboutObject) return error;
  const { kind, served } = refused;
  if (error.code === "not-found" && builtInGroups.includes(served.group)) {
    return new DatastoreError("invalid", `${error.message}: is this a Kubernetes API server?`, { cause: error });
  }
  const isServed = await refused.isServed().catch(() => true);
  if (!isServed) return notInstalled(kind, served, error);
  const { message, status = 0 } = error;
  // One 404 is not enough to believe that a kind is gone, with all its objects: a proxy in the way says it too.
  if (error.code === "not-found") return new DatastoreError("unavailable", message, { cause: error, status });
  return new DatastoreError("forbidden", message, { cause: error, status, missingRule: missingRule(refused) });
}

/** Every API server has these. */
const builtInGroups = ["", "networking.k8s.io"];

function isOfObject(verb: Verb): boolean {
  return verb !== "list" && verb !== "watch";
}

export function missingRule({ served, verb, subresource }: Pick<Refused, "served" | "verb" | "subresource">): string {
  const { group, plural } = served;
  const isRead = (readVerbs as readonly string[]).includes(verb);
  return ruleYaml(group, subresource === undefined ? plural : `${plural}/${subresource}`, isRead ? readVerbs : [verb]);
}
