// YAML by the package, loaded by whoever has something out of the ordinary. A module of its own, because a package of CommonJS that is
// imported late loses its names where it is bundled.
import { parse } from "yaml";

/** Throws for what is not YAML. Integers keep all their digits: a password may be one. */
export function parseYaml(text: string): unknown {
  return parse(text, { intAsBigInt: true, logLevel: "error" });
}
