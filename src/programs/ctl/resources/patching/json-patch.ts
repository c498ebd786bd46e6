// A JSON patch (RFC 6902): a list of operations, done one after the other; if one cannot be done, none is.
import { isRecord } from "../../../../base/lib/index.ts";
import { isSameJson } from "../same-json.ts";
import { PatchProblem } from "./merge.ts";

function problemAt(at: number, problem: string): PatchProblem {
  return new PatchProblem(`operation ${at + 1}: ${problem}`);
}

/** Nobody writes that many by hand, and each may copy the whole object. */
const mostOperations = 1000;

/** Throws PatchProblem for an operation that cannot be done, or is none. */
export function jsonPatched(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw problemAt(0, "a JSON patch is a list of operations");
  if (patch.length > mostOperations) throw problemAt(mostOperations, `at most ${mostOperations} are done`);
  return patch.reduce<unknown>((document, operation: unknown, at) => {
    try {
      return done(document, operation);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw problemAt(at, error.message);
    }
  }, target);
}

class Refused extends Error {}

function done(document: unknown, operation: unknown): unknown {
  if (!isRecord(operation)) throw new Refused("must be an object with op and path");
  const path = pointer(operation.path, "path");
  const value = () => {
    if (!Object.hasOwn(operation, "value")) throw new Refused(`${operation.op} needs a value`);
    return operation.value;
  };
  switch (operation.op) {
    case "add":
      return added(document, path, value());
    case "remove":
      return removed(document, path);
    case "replace":
      at(document, path);
      return path.length === 0 ? value() : added(removed(document, path), path, value());
    case "move": {
      const from = pointer(operation.from, "from");
      if (from.length < path.length && from.every((part, index) => part === path[index])) {
        throw new Refused("nothing can be moved into itself");
      }
      return added(removed(document, from), path, at(document, from));
    }
    case "copy":
      return added(document, path, at(document, pointer(operation.from, "from")));
    case "test":
      if (isSameJson(at(document, path), value())) return document;
      throw new Refused(`test failed: ${text(path)} is ${JSON.stringify(at(document, path))}`);
    default:
      throw new Refused(`op ${JSON.stringify(operation.op)} is none of add, remove, replace, move, copy, test`);
  }
}

type Path = readonly string[];

/** RFC 6901 */
function pointer(value: unknown, name: string): Path {
  if (typeof value !== "string") throw new Refused(`${name} must be given, such as /spec/cidr`);
  if (value === "") return [];
  if (!value.startsWith("/")) throw new Refused(`${name} ${JSON.stringify(value)} must begin with /`);
  const parts = value.slice(1).split("/");
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function text(path: Path): string {
  return path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("") || "the object";
}

function at(document: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, part, depth) => {
    const index = Array.isArray(here) ? indexOf(part, here.length - 1) : undefined;
    if (Array.isArray(here) && index !== undefined) return here[index];
    if (isRecord(here) && Object.hasOwn(here, part)) return here[part];
    throw new Refused(`${text(path.slice(0, depth + 1))} is not there`);
  }, document);
}

/** The document with the container at a path replaced by what `change` makes of it. */
function changed(document: unknown, path: Path, change: (container: unknown, key: string) => unknown): unknown {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return change(document, first);
  const inner = changed(at(document, [first]), rest, change);
  if (Array.isArray(document)) return document.with(Number(first), inner);
  return isRecord(document) ? set(document, first, inner) : inner;
}

function added(document: unknown, path: Path, value: unknown): unknown {
  if (path.length === 0) return value;
  return changed(document, path, (container, key) => {
    if (Array.isArray(container)) {
      const index = key === "-" ? container.length : indexOf(key, container.length);
      if (index === undefined) throw new Refused(`${text(path)}: the list has ${container.length} elements`);
      return container.toSpliced(index, 0, value);
    }
    if (isRecord(container)) return set(container, key, value);
    throw new Refused(`${text(path.slice(0, -1))} is no object and no list`);
  });
}

function removed(document: unknown, path: Path): unknown {
  at(document, path);
  if (path.length === 0) return undefined;
  return changed(document, path, (container, key) => {
    if (Array.isArray(container)) return container.toSpliced(Number(key), 1);
    if (!isRecord(container)) return container;
    return Object.fromEntries(Object.entries(container).filter(([name]) => name !== key));
  });
}

/** Also for a key such as __proto__, which an assignment would not set. */
function set(container: object, key: string, value: unknown): object {
  return Object.fromEntries([...Object.entries(container).filter(([name]) => name !== key), [key, value]]);
}

function indexOf(part: string, most: number): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(part)) return undefined;
  return Number(part) <= most ? Number(part) : undefined;
}
