// A real etcd as the datastore of a case.
import { isRecord, parseJson, writeJson } from "../../../src/base/lib/index.ts";
import type { EtcdMember } from "../../kit/etcd.ts";
import { type Store, withParsedNotes } from "./store.ts";

export function etcdStore(member: EtcdMember): Store {
  const pairs = async (key: string) => (await member.ask({ do: "list", key })).pairs ?? [];
  return {
    async clean() {
      for (const { key } of await pairs("/calico")) await member.ask({ do: "delete", key });
    },
    async create({ key, value }) {
      await member.ask({ do: "put", key: String(key), value: typeof value === "string" ? value : writeJson(value) });
    },
    async dump() {
      const found = (await pairs("/calico")).map(({ key, value }) => ({ key, value: readValue(value) }));
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async revisionOf(reference) {
      return (await pairs(reference)).find(({ key }) => key === reference)?.modRevision ?? "";
    },
    env: { DATASTORE_TYPE: "etcdv3", ETCD_ENDPOINTS: member.url },
    variables: { etcd: member.url },
    masks: [
      [member.url, "<etcd>"],
      [`127.0.0.1:${member.port}`, "<addr>"],
    ],
  };
}

function readValue(text: string): unknown {
  try {
    const value = parseJson(text);
    return isRecord(value) ? withParsedNotes(value, ["projectcalico.org/metadata"], parseJson) : value;
  } catch {
    return text; // some of IPAM's values are no JSON
  }
}
