// A folder as the datastore of a case that was recorded on etcd: the same v3 objects, each in a file instead of a key.
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";
import type { Store } from "./store.ts";

const root = "/calico/resources/v3/projectcalico.org";

export function folderStore(folder: string): Store {
  return {
    async clean() {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
    },
    async create(object) {
      throw new Error(`cases that begin with something are for etcd: ${JSON.stringify(object)}`);
    },
    async dump() {
      const files = globSync("**/*.yaml", { cwd: folder }).sort();
      return files.map((file): JsonRecord => {
        const value: unknown = parse(readFileSync(join(folder, file), "utf8"));
        return { key: `${root}/${file.replace(/\.yaml$/, "")}`, value: asInEtcd(value) };
      });
    },
    async revisionOf() {
      throw new Error("a folder's revisions are its own");
    },
    env: { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: folder },
    variables: {},
    masks: [[folder, "<folder>"]],
  };
}

const tiered = ["GlobalNetworkPolicy", "NetworkPolicy", "StagedGlobalNetworkPolicy", "StagedNetworkPolicy"];

/** The original keeps the name of a policy a second time, in an annotation, which a folder has no need of. */
function asInEtcd(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value.metadata) || !tiered.includes(String(value.kind))) return value;
  const { annotations, name } = value.metadata;
  const noted = { ...(isRecord(annotations) ? annotations : {}), "projectcalico.org/metadata": { name } };
  return { ...value, metadata: { ...value.metadata, annotations: noted } };
}
