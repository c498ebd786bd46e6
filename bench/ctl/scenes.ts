// What bench/ctl runs, and the cluster that it runs on: nodes with a block of addresses each, half of them in use.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../../test/kit/cluster.ts";

export type Scene = {
  readonly what: string;
  /** How many blocks, and nodes, there are. */
  readonly blocks: 20 | 1000;
  readonly argv: (folder: string) => readonly string[];
  /** One round of it takes the original minutes. */
  readonly isLong: boolean;
  /** What it writes must not be there. */
  readonly onNew: boolean;
};

const scene = (what: string, argv: Scene["argv"], more: Partial<Scene> = {}): Scene => ({
  what,
  argv,
  blocks: 20,
  isLong: false,
  onNew: false,
  ...more,
});

export const scenes: readonly Scene[] = [
  scene("get nodes", () => ["get", "nodes"]),
  scene("get ippools -o wide", () => ["get", "ippools", "-o", "wide"]),
  scene("apply one pool", (folder) => ["apply", "-f", join(folder, "one.yaml")]),
  scene("ipam show --show-blocks", () => ["ipam", "show", "--show-blocks"]),
  scene("apply 200 objects, new", (folder) => ["apply", "-f", join(folder, "many.yaml")], {
    isLong: true,
    onNew: true,
  }),
  scene("apply 200 objects, unchanged", (folder) => ["apply", "-f", join(folder, "many.yaml")], { isLong: true }),
  scene("ipam show --show-blocks, 1000 blocks", () => ["ipam", "show", "--show-blocks"], { blocks: 1000 }),
  scene("get nodes, 1000 nodes", () => ["get", "nodes"], { blocks: 1000 }),
];

const pool = `apiVersion: projectcalico.org/v3
kind: IPPool
metadata: {name: bench}
spec: {cidr: 10.99.0.0/16, natOutgoing: true}
`;

const set = (index: number) => `apiVersion: projectcalico.org/v3
kind: GlobalNetworkSet
metadata: {name: set-${index}, labels: {n: "${index}"}}
spec: {nets: [10.${index >> 8}.${index & 255}.0/24, 192.168.${index & 255}.0/28]}
`;

export function writeInputs(folder: string): void {
  writeFileSync(join(folder, "one.yaml"), pool);
  writeFileSync(join(folder, "many.yaml"), Array.from({ length: 200 }, (_, index) => set(index)).join("---\n"));
}

const api = "/apis/crd.projectcalico.org/v1";

/** Adds what is missing; nothing is taken away. */
export async function fill(cluster: Cluster, blocks: number): Promise<void> {
  const apiVersion = "crd.projectcalico.org/v1";
  const add = async (path: string, object: object) => {
    const { status, body } = await cluster.ask("POST", path, object);
    if (status !== 201 && status !== 409) throw new Error(body);
  };
  const range = { cidr: "10.64.0.0/14", blockSize: 26, ipipMode: "Never", vxlanMode: "Never", nodeSelector: "all()" };
  await add(`${api}/ippools`, { apiVersion, kind: "IPPool", metadata: { name: "pool" }, spec: range });
  const inTurn = Array.from({ length: blocks }, (_, index) => index);
  const some = 8;
  await Promise.all(
    Array.from({ length: some }, async (_, worker) => {
      for (const index of inTurn.filter((each) => each % some === worker)) {
        const node = `node-${String(index).padStart(4, "0")}`;
        const cidr = `10.${64 + (index >> 8)}.${index & 255}.0/26`;
        const annotations = { "projectcalico.org/IPv4Address": `172.18.${index >> 7}.${(index & 127) + 1}/16` };
        await add("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: node, annotations } });
        await add(`${api}/ipamblocks`, {
          apiVersion,
          kind: "IPAMBlock",
          metadata: { name: cidr.replaceAll(/[./]/g, "-") },
          spec: {
            cidr,
            affinity: `host:${node}`,
            strictAffinity: false,
            deleted: false,
            allocations: Array.from({ length: 64 }, (_, at) => (at < 32 ? 0 : null)),
            unallocated: Array.from({ length: 32 }, (_, at) => at + 32),
            attributes: [{ handle_id: `h-${node}`, secondary: { node } }],
          },
        });
      }
    }),
  );
}

export async function removeSets(cluster: Cluster): Promise<void> {
  await cluster.must("DELETE", `${api}/globalnetworksets`);
}
