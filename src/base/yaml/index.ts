// YAML: what most files are written in, without a package; what a plain scalar means; and files of one document.
export { meansMoreThanText, type PlainScalar, readPlainScalar } from "./plain-scalar.ts";
export { readQuickly } from "./quick-yaml.ts";
export { readDocument } from "./read-document.ts";
export { type ReadScalar, readWord, unsure } from "./unsure.ts";
