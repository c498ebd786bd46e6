// Which namespace an object is in, of what the object says and what -n and -A say. The texts are the original's.
import { type ApiKind, isNamespaced } from "../../../../calico/resources/index.ts";

export type Flags = {
  /** -n; "" where it is not given. */
  readonly namespace: string;
  /** -A */
  readonly isEverywhere: boolean;
};

/** "all": a list of every namespace's objects. */
export type InNamespace =
  | { readonly is: "namespace"; readonly namespace: string }
  | { readonly is: "all" }
  | { readonly is: "refused"; readonly why: string };

export function namespaceOf(
  kind: ApiKind,
  { namespace = "", name = "" }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  flags: Flags,
): InNamespace {
  const refused = (why: string): InNamespace => ({ is: "refused", why });
  if (!isNamespaced(kind)) {
    if (namespace !== "") {
      return refused(
        `namespace should not be specified for a non-namespaced resource. ${kind} is not a namespaced resource`,
      );
    }
    if (flags.isEverywhere || flags.namespace !== "") return refused(`${kind} is not namespaced`);
    return { is: "namespace", namespace: "" };
  }
  if (flags.isEverywhere && flags.namespace !== "") {
    return refused("cannot use both --namespace and --all-namespaces flags at the same time");
  }
  if (namespace !== "" && flags.namespace !== "" && namespace !== flags.namespace) {
    return refused(`resource namespace does not match client namespace. ${namespace} != ${flags.namespace}`);
  }
  if (flags.isEverywhere) {
    return name === "" ? { is: "all" } : refused("cannot use --all-namespace flag for getting a single resource");
  }
  return { is: "namespace", namespace: namespace || flags.namespace || "default" };
}
