// A datastore whose requests take at most so long: a runtime gives a call two minutes and then kills it, and says nothing of why. A server
// that does not answer is to be named before that. Lists and watches have bounds of their own, and are passed on as they are.

import { type CallOptions, type Datastore, DatastoreError } from "../../calico/datastore/index.ts";
import { timeLimit } from "./time-limit.ts";

/** Longer than an election of etcd's members and a restart of an API server that others stand in for. */
export const answerLimitMs = 20_000;

export function withTimeLimit(datastore: Datastore, limitMs = answerLimitMs): Datastore {
  const limited = async <T>(
    what: string,
    options: CallOptions | undefined,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const says = `the datastore did not answer (${what}) within ${limitMs / 1000} s`;
    using limit = timeLimit(limitMs, options?.signal);
    try {
      return await ask(limit.signal);
    } catch (error) {
      throw limit.isOver() ? new DatastoreError("unavailable", says, { cause: error }) : error;
    }
  };
  const own: Pick<Datastore, "get" | "create" | "update" | "updateStatus" | "patch" | "delete"> = {
    get: (kind, id, options) =>
      limited(`get ${kind}`, options, (signal) => datastore.get(kind, id, { ...options, signal })),
    create: (kind, value, options) =>
      limited(`create ${kind}`, options, (signal) => datastore.create(kind, value, { ...options, signal })),
    update: (kind, object, options) =>
      limited(`update ${kind}`, options, (signal) => datastore.update(kind, object, { ...options, signal })),
    updateStatus: (kind, object, options) =>
      limited(`update ${kind}`, options, (signal) => datastore.updateStatus(kind, object, { ...options, signal })),
    patch: (kind, id, patch, options) =>
      limited(`patch ${kind}`, options, (signal) => datastore.patch(kind, id, patch, { ...options, signal })),
    delete: (kind, id, options) =>
      limited(`delete ${kind}`, options, (signal) => datastore.delete(kind, id, { ...options, signal })),
  };
  // An API server's datastore has more than the interface, and others look for it.
  return new Proxy(datastore, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
