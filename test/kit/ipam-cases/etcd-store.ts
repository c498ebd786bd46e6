// An etcd as the cases see it.
import { isRecord, parseJson } from "../../../src/base/lib/index.ts";
import type { EtcdMember } from "../etcd.ts";
import type { CaseObject, Edit } from "./case.ts";
import { type CaseStore, merged, withPoolDefaults } from "./case-store.ts";
import type { KubeStore } from "./kube-store.ts";
import { normalStore } from "./normal-form.ts";

const resources = "/calico/resources/v3/projectcalico.org/";
const plurals: { readonly [kind: string]: string } = {
  IPPool: "ippools",
  IPReservation: "ipreservations",
  ClusterInformation: "clusterinformations",
  Node: "nodes",
};

export class EtcdStore implements CaseStore {
  readonly kind = "etcdv3";
  readonly #etcd: EtcdMember;
  readonly #cluster: KubeStore | undefined;

  /** `cluster`: where pods, namespaces and nodes are beside it; without, nobody asks for them. */
  constructor(etcd: EtcdMember, cluster?: KubeStore) {
    this.#etcd = etcd;
    this.#cluster = cluster;
  }

  async clear(): Promise<void> {
    await this.#cluster?.clear();
    for (const { key } of await this.#pairs("/calico/")) await this.#etcd.ask({ do: "delete", key });
  }

  async apply(given: CaseObject): Promise<void> {
    const { kind, key, value, metadata, spec = {} } = withPoolDefaults(given);
    if (kind === "Namespace" || kind === "Pod") return await this.#cluster?.apply(given);
    if (key !== undefined) return await this.#put(key, typeof value === "string" ? value : JSON.stringify(value));
    if (kind === "IPAMConfig") return await this.#put("/calico/ipam/v2/config", JSON.stringify(storedConfig(spec)));
    if (kind === "Node") await this.#cluster?.apply(given);
    const uid = `00000000-0000-4000-8000-${String(metadata.name.length).padStart(12, "0")}`;
    const object = {
      apiVersion: "projectcalico.org/v3",
      kind,
      metadata: { uid, creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
      spec,
    };
    await this.#put(`${resources}${plurals[kind]}/${metadata.name}`, JSON.stringify(object));
  }

  /** Its name is its key. */
  async edit({ name: key, change }: Edit): Promise<void> {
    const [pair] = await this.#pairs(key);
    await this.#put(key, JSON.stringify(merged(JSON.parse(pair?.value ?? "{}"), change)));
  }

  async delete(given: CaseObject): Promise<void> {
    const { kind, key = `${resources}${plurals[kind]}/${given.metadata.name}` } = given;
    if (["Namespace", "Pod", "Node"].includes(kind)) await this.#cluster?.delete(given);
    if (kind !== "Namespace" && kind !== "Pod") await this.#etcd.ask({ do: "delete", key });
  }

  async dump(startedMs: number) {
    return normalStore(await this.#stored(["/calico/ipam/"]), startedMs);
  }

  async dumpWithEndpoints(startedMs: number) {
    const wanted = ["/calico/ipam/", `${resources}workloadendpoints/`, `${resources}profiles/`];
    const marks = (await this.#cluster?.podMarks()) ?? new Map();
    return normalStore(new Map([...(await this.#stored(wanted)), ...marks]), startedMs);
  }

  async #stored(prefixes: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const found = new Map<string, unknown>();
    for (const prefix of prefixes)
      for (const { key, value } of await this.#pairs(prefix))
        found.set(key, value === "" ? "" : ofOurs(parseJson(value)));
    return found;
  }

  async #pairs(key: string): Promise<readonly { key: string; value: string }[]> {
    return (await this.#etcd.ask({ do: "list", key })).pairs ?? [];
  }

  async #put(key: string, value: string): Promise<void> {
    await this.#etcd.ask({ do: "put", key, value });
  }
}

/** Without what is another in every run. */
function ofOurs(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value.metadata)) return value;
  const { uid: _, creationTimestamp: __, ...metadata } = value.metadata;
  return { ...value, metadata };
}

function storedConfig(spec: { readonly [name: string]: unknown }): object {
  const { strictAffinity = false, autoAllocateBlocks = false, maxBlocksPerHost, ipCooldownSeconds } = spec;
  return {
    strict_affinity: strictAffinity,
    auto_allocate_blocks: autoAllocateBlocks,
    ...(maxBlocksPerHost ? { maxBlocksPerHost } : {}),
    ...(ipCooldownSeconds ? { ipCooldownSeconds } : {}),
  };
}
