// A datastore that answers from a script, one line per call, and writes down what it was asked.
//   { list: ["a@3", "b@4"], at: "10" }     a complete list (pages: [["a@1"], ["b@2"]] for several)
//   { list: ["a@3"], fails: "expired" }    a list that breaks off after these
//   { watch: ["a@5", "-b@6", "=7"] }       set, deletion, bookmark; then the server closes the stream
//   { watch: [...], fails: "expired" }     ... or the stream fails
//   { watch: [...], stays: "open" }         ... or stays open without a word
// A call beyond the script hangs.
import type { Datastore, ObjectId, Revision, StoredObject, WatchEvent } from "../../src/calico/datastore/index.ts";
import {
  DatastoreError,
  type DatastoreErrorCode,
  type DatastoreErrorOptions,
} from "../../src/calico/datastore/index.ts";

type Failure = { fails?: DatastoreErrorCode; with?: DatastoreErrorOptions };
export type ScriptLine =
  | ({ list?: string[]; pages?: string[][]; at?: string } & Failure)
  | ({ watch: string[]; stays?: "open" } & Failure);

export type ScriptedDatastore = Datastore & { readonly calls: string[] };

export function scriptedDatastore(lines: ScriptLine[], onCall: (call: string) => void = () => undefined) {
  const script = [...lines];
  const calls: string[] = [];
  const note = (call: string) => {
    calls.push(call);
    onCall(call);
  };
  const unused = () => Promise.reject(new Error("not in the script"));
  const datastore: ScriptedDatastore = {
    calls,
    flavour: "kubernetes",
    async *list(_kind, { signal }) {
      note("List");
      const line = script.shift();
      if (line === undefined) return await hang(signal);
      if ("watch" in line) throw new Error(`asked to list, but the script says watch ${line.watch}`);
      for (const page of line.pages ?? [line.list ?? []]) {
        if (page.length > 0 || line.fails === undefined) {
          yield { items: page.map(objectOf), revision: (line.at ?? "") as Revision };
        }
      }
      fail(line);
    },
    async *watch(_kind, { from, signal }) {
      note(`Watch ${from}`);
      const line = script.shift();
      if (line === undefined) return await hang(signal);
      if (!("watch" in line)) throw new Error("asked to watch, but the script says list");
      for (const event of line.watch) yield [eventOf(event)];
      fail(line);
      if (line.stays === "open") await hang(signal);
    },
    get: unused,
    create: unused,
    update: unused,
    updateStatus: unused,
    patch: unused,
    delete: unused,
    async [Symbol.asyncDispose]() {},
  };
  return datastore;
}

function fail(line: Failure): void {
  if (line.fails !== undefined) throw new DatastoreError(line.fails, `scripted ${line.fails}`, line.with);
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function idOf(name: string): ObjectId {
  return { namespace: "", name };
}

function objectOf(text: string): StoredObject {
  const [name = "", revision = ""] = text.split("@");
  return { id: idOf(name), revision: revision as Revision, value: { metadata: { name } } };
}

function eventOf(text: string): WatchEvent {
  if (text.startsWith("=")) return { is: "bookmark", revision: text.slice(1) as Revision };
  const object = objectOf(text.replace(/^-/, ""));
  return text.startsWith("-") ? { is: "delete", id: object.id, revision: object.revision } : { is: "set", object };
}
