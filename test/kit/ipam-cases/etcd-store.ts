// An etcd as the cases see it.
import { parseJson } from "../../../src/base/lib/index.ts";
import type { EtcdMember } from "../etcd.ts";
import type { CaseObject, Edit } from "./case.ts";
import { type CaseStore, merged, withPoolDefaults } from "./case-store.ts";
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

  constructor(etcd: EtcdMember) {
    this.#etcd = etcd;
  }

  async clear(): Promise<void> {
    for (const { key } of await this.#pairs("/calico/")) await this.#etcd.ask({ do: "delete", key });
  }

  async apply(given: CaseObject): Promise<void> {
    const { kind, key, value, metadata, spec = {} } = withPoolDefaults(given);
    if (kind === "Namespace" || kind === "Pod") return;
    if (key !== undefined) return await this.#put(key, typeof value === "string" ? value : JSON.stringify(value));
    if (kind === "IPAMConfig") return await this.#put("/calico/ipam/v2/config", JSON.stringify(storedConfig(spec)));
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

  async dump(startedMs: number) {
    const pairs = await this.#pairs("/calico/ipam/");
    return normalStore(new Map(pairs.map(({ key, value }) => [key, value === "" ? "" : parseJson(value)])), startedMs);
  }

  async #pairs(key: string): Promise<readonly { key: string; value: string }[]> {
    return (await this.#etcd.ask({ do: "list", key })).pairs ?? [];
  }

  async #put(key: string, value: string): Promise<void> {
    await this.#etcd.ask({ do: "put", key, value });
  }
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
