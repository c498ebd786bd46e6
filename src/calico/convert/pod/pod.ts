// Pods to workload endpoints. The state kept is the path of each pod that has an endpoint, because a deletion names the
// pod and not its node, and because a pod recreated elsewhere takes its endpoint along.

import { endpointProblem, writeEndpoint } from "../endpoint/endpoint.ts";
import {
  type ConversionProblem,
  type ConvertedKv,
  deletion,
  type FieldProblem,
  invalidKv,
  nothing,
  objectName,
  type Processor,
  type ProcessorId,
  type ProcessorOutput,
  refused,
  type Warning,
} from "../processor/processor.ts";
import { createPodConverter, podPortField } from "./pod-endpoint.ts";

type PodOptions = {
  /** FELIX_INTERFACEPREFIX: the first of a comma-separated list counts; "" means "cali". */
  readonly interfacePrefix?: string;
};

const noProblems: readonly ConversionProblem[] = [];

export function createPodProcessor({ interfacePrefix = "" }: PodOptions = {}): Processor {
  const convert = createPodConverter(interfacePrefix === "" ? "cali" : (interfacePrefix.split(",")[0] ?? ""));
  const paths = new PodPaths();

  const forget = (id: ProcessorId): ConvertedKv[] => {
    const path = paths.take(id);
    return path === undefined ? [] : [deletion(path)];
  };

  const set = (id: ProcessorId, revision: string, value: unknown): ProcessorOutput => {
    const converted = convert(id, value);
    if (converted.is === "absent") return { kvs: forget(id), problems: noProblems };
    if (converted.is === "invalid") {
      return { kvs: forget(id), problems: problemsOf(id, undefined, converted.problem) };
    }
    const { path, endpoint } = converted.value;
    const before = paths.put(id, path);
    const problem = endpointProblem(endpoint, (at, member) => podPortField(value, at, member));
    const kv: ConvertedKv =
      problem === undefined
        ? { path, value: writeEndpoint(endpoint), revision, v3ResourceVersion: "" }
        : invalidKv(path, revision);
    const kvs = before === undefined || before === path ? [kv] : [deletion(before), kv];
    return { kvs, problems: problemsOf(id, converted.warnings, problem) };
  };

  return {
    set,
    delete: (id) => {
      const kvs = forget(id);
      return kvs.length === 0 ? nothing : { kvs, problems: noProblems };
    },
  };
}

/** By namespace, then by name: no text need be made to look one up. */
class PodPaths {
  readonly #byNamespace = new Map<string, Map<string, string>>();

  /** The path that the pod had before. */
  put({ namespace, name }: ProcessorId, path: string): string | undefined {
    let byName = this.#byNamespace.get(namespace);
    if (byName === undefined) {
      byName = new Map();
      this.#byNamespace.set(namespace, byName);
    }
    const before = byName.get(name);
    if (before !== path) byName.set(name, path);
    return before;
  }

  take({ namespace, name }: ProcessorId): string | undefined {
    const byName = this.#byNamespace.get(namespace);
    const path = byName?.get(name);
    byName?.delete(name);
    if (byName?.size === 0) this.#byNamespace.delete(namespace);
    return path;
  }
}

function problemsOf(
  id: ProcessorId,
  warnings: readonly Warning[] | undefined,
  problem: FieldProblem | undefined,
): readonly ConversionProblem[] {
  if (problem === undefined && (warnings === undefined || warnings.length === 0)) return noProblems;
  const object = objectName("Pod", id);
  const found = [...(warnings ?? []), ...(problem === undefined ? [] : [refused(problem)])];
  return found.map((warning) => ({ object, ...warning }));
}
