// YAML, loaded by whoever needs it: a kubeconfig in JSON, an API server named in the settings and a pod's service account do
// not. A module of its own, because a package of CommonJS that is imported late loses its names where it is bundled.
import { parse } from "yaml";

/** Throws for what is not YAML. Integers keep all their digits: a password may be one. */
export function parseYaml(text: string): unknown {
  return parse(text, { intAsBigInt: true, logLevel: "error" });
}
