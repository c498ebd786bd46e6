// YAML without a package: what most files are written in, and what a plain scalar means.
export { meansMoreThanText, type PlainScalar, readPlainScalar } from "./plain-scalar.ts";
export { readQuickly } from "./quick-yaml.ts";
export { type ReadScalar, readWord, unsure } from "./unsure.ts";
