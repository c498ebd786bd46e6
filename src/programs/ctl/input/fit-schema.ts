// Makes JSON that came from YAML fit its kind, as the original's decoder does: names of fields in any letter case, numbers
// and truth values as text where the field is text, null as the empty value in maps and lists. A field that the kind does
// not have is an error.
import { isRecord } from "../../../base/lib/index.ts";
import { scalarAsText } from "../yaml/scalar-text.ts";

/** The part of OpenAPI that the schemas of kinds are written in. */
export type OpenApi = { readonly [keyword: string]: unknown };

export class UnknownField extends Error {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
  constructor(path: readonly (string | number)[], known: readonly string[]) {
    super(`unknown field ${path.join(".")}`);
    this.path = path;
    this.known = known;
  }
}

type Path = readonly (string | number)[];

export type FitOptions = {
  /** Numbers and truth values stay what they are, and whoever reads on refuses them where text belongs. */
  readonly keepsScalars: boolean;
};

/** Throws UnknownField for the first one, in the order of names. */
export function fitSchema(
  schema: OpenApi | undefined,
  value: unknown,
  path: Path = [],
  how: FitOptions = { keepsScalars: false },
): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const element = inner(schema.items);
    return value.map((one, index) => fitSchema(element, one ?? zeroOf(element), [...path, index], how));
  }
  if (isRecord(value)) return fitMembers(schema, value, path, how);
  const isScalar = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
  return schema.type === "string" && isScalar && !how.keepsScalars ? scalarAsText(value) : value;
}

function fitMembers(
  schema: OpenApi,
  value: { readonly [name: string]: unknown },
  path: Path,
  how: FitOptions,
): unknown {
  const members = inner(schema.properties);
  const element = inner(schema.additionalProperties);
  if (members === undefined && element === undefined) return value;
  const fitted: { [name: string]: unknown } = {};
  for (const name of Object.keys(value).sort()) {
    if (members === undefined)
      set(fitted, name, fitSchema(element, value[name] ?? zeroOf(element), [...path, name], how));
    else {
      const known = knownName(name, members);
      if (known === undefined) throw new UnknownField([...path, name], Object.keys(members));
      // What is written as the kind has it wins over other letter cases.
      if (known === name || !Object.hasOwn(value, known)) {
        set(fitted, known, fitSchema(inner(members[known]), value[name], [...path, name], how));
      }
    }
  }
  return fitted;
}

/** Also for a member named __proto__, which a reader further on refuses. */
function set(target: { [name: string]: unknown }, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function knownName(name: string, members: OpenApi): string | undefined {
  if (Object.hasOwn(members, name)) return name;
  const folded = name.toLowerCase();
  return Object.keys(members).find((known) => known.toLowerCase() === folded);
}

function zeroOf(schema: OpenApi | undefined): unknown {
  switch (schema?.type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "object":
      return {};
    default:
      return null;
  }
}

function inner(schema: unknown): OpenApi | undefined {
  return isRecord(schema) ? schema : undefined;
}
