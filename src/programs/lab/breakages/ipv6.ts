// The same breakages on IPv6 alone, in a lab that has both: IPv4 goes on, and the doctor names the one that does not.
import { openNetlink, writeSysctl } from "../../../base/linux/kernel.ts";
import { openIpamObjects } from "../../../calico/resources/index.ts";
import type { Lab } from "../cluster/lab.ts";
import { pools6, poolsAnnotation6 } from "../cluster/objects.ts";
import type { Breakage } from "./breakage.ts";
import { addBlock, overlapPool, pendingPod, removeBlock, setAddress } from "./datastore.ts";
import {
  nft,
  noPods,
  pause,
  readdress6,
  restart,
  restartBird,
  resume,
  second,
  table,
  tableOf,
  third,
} from "./network.ts";

type Ipv6Breakage = Omit<Breakage, "needs">;

const forwarding = "net.ipv6.conf.all.forwarding";
const pending = { namespace: "default", name: "pending-in-ipv6-pool-2" };
const overlapping = "lab-break-overlap-ipv6";
const stale = { node: "cka009", cidr: "fd00:10:244::ffc0/122" };
const nodes6 = "fd00:172:31::/64";

const all: readonly Ipv6Breakage[] = [
  {
    name: "underlay-ipv6",
    code: "UNDERLAY_DROPS_PODS",
    says: "the network between the nodes drops packets with IPv6 addresses of pods",
    modes: ["direct", "bgp"],
    make: ({ world }) =>
      nft(
        world.switch,
        tableOf(`bridge ${table}6`, "forward", ["ip6 saddr fd00:10:244::/48 drop", "ip6 daddr fd00:10:244::/48 drop"]),
      ),
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}6`),
  },
  {
    name: "vxlan-blocked-ipv6",
    code: "VXLAN_BLOCKED",
    says: "the network between the nodes drops VXLAN over IPv6",
    modes: ["vxlan"],
    make: ({ world }) =>
      nft(world.switch, tableOf(`bridge ${table}6`, "forward", ["ether type ip6 udp dport 4789 drop"])),
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}6`),
  },
  {
    name: "bgp-blocked-ipv6",
    code: "BGP_SESSION_DOWN",
    says: "TCP port 179 is blocked between the IPv6 addresses of two workers",
    modes: ["bgp"],
    async make(lab) {
      await nft(lab.world.switch, blockBgp(lab));
      await restartBird(lab, [second, third]);
    },
    mend: ({ world }) => nft(world.switch, `delete table bridge ${table}6`),
  },
  {
    name: "forwarding-ipv6",
    code: "FORWARDING_OFF",
    says: "a node does not forward IPv6 packets, and the agent that would mind is stopped",
    async make(lab) {
      pause(lab, third);
      writeSysctl(forwarding, 0, { namespace: lab.world.node(third).netns });
    },
    async mend(lab) {
      writeSysctl(forwarding, 1, { namespace: lab.world.node(third).netns });
      resume(lab, third);
    },
  },
  {
    name: "docker-forward-ipv6",
    code: "FOREIGN_FORWARD_DROP",
    says: "Docker with IPv6 has set the policy of FORWARD to drop",
    make: ({ world }) => nft(world.node(third), tableOf("ip6 filter", "FORWARD", ["policy drop"])),
    mend: ({ world }) => nft(world.node(third), "delete table ip6 filter"),
  },
  {
    name: "missing-route-ipv6",
    code: "ROUTE_MISSING",
    says: "an IPv6 route to another node's block is gone, and the agent that would repair it is stopped",
    modes: ["direct", "vxlan"],
    make: makeMissingRoute,
    mend: (lab) => restart(lab, second),
  },
  {
    name: "stale-address-ipv6",
    code: "NODE_ADDRESS_STALE",
    says: "a node got another IPv6 address, and its agent has not noticed yet",
    async make(lab) {
      pause(lab, third);
      await readdress6(lab.world.node(third), { from: 13, to: 33, network: 0 });
    },
    async mend(lab) {
      await readdress6(lab.world.node(third), { from: 33, to: 13, network: 0 });
      await restart(lab, third);
    },
  },
  {
    name: "duplicate-address-ipv6",
    code: "NODE_ADDRESS_DUPLICATE",
    says: "two nodes have the same IPv6 address in the datastore",
    make: async (lab) => setAddress(lab, third, `${lab.world.node(second).address6}/64`),
    mend: async (lab) => setAddress(lab, third, `${lab.world.node(third).address6}/64`),
  },
  {
    name: "pool-disabled-ipv6",
    code: "POOL_ASKED_IS_DISABLED",
    says: "a pod asks for an IPv6 pool that is disabled",
    async make(lab) {
      await lab.setPool(pools6[1].name, { disabled: true });
      await lab.datastore.create("Pod", pendingPod(pending, { [poolsAnnotation6]: JSON.stringify([pools6[1].name]) }));
    },
    async mend(lab) {
      await lab.datastore.delete("Pod", pending, { gracePeriodSeconds: 0 });
      await lab.setPool(pools6[1].name, { disabled: false });
    },
    datastores: ["directory", "kubernetes"],
  },
  {
    name: "stale-block-ipv6",
    code: "BLOCK_WITHOUT_NODE",
    says: "a node was deleted, and its IPv6 block stayed",
    make: ({ datastore }) => addBlock(openIpamObjects(datastore), stale),
    mend: ({ datastore }) => removeBlock(openIpamObjects(datastore), stale),
  },
  {
    name: "overlap-ipv6",
    code: "POOL_OVERLAP",
    says: "an IPv6 pool contains the addresses of the nodes",
    make: (lab) => overlapPool(lab, { name: overlapping, cidr: nodes6 }),
    mend: ({ resources }) => resources.delete("IPPool", { namespace: "", name: overlapping }),
  },
];

export const ipv6Breakages: readonly Breakage[] = all.map((each) => ({ ...each, needs: "ipv6" }));

function blockBgp({ world }: Lab): string {
  const [one = "", other = ""] = [world.node(second).address6, world.node(third).address6];
  const rule = (from: string, to: string, port: string) => `ip6 saddr ${from} ip6 daddr ${to} tcp ${port} 179 drop`;
  const rules = ["dport", "sport"].flatMap((port) => [rule(one, other, port), rule(other, one, port)]);
  return tableOf(`bridge ${table}6`, "forward", rules);
}

async function makeMissingRoute(lab: Lab): Promise<void> {
  const { netns: namespace } = lab.world.node(second);
  const pod = lab.pods.all.find(({ node, address6 }) => node === third && address6 !== undefined);
  if (pod?.address6 === undefined) throw noPods(third);
  pause(lab, second);
  await using netlink = openNetlink({ namespace });
  const routes = await netlink.routes({ family: "inet6" });
  const { gateway } = await netlink.routeTo(pod.address6);
  for (const { destination, type, gateway: via } of routes)
    if (type === "unicast" && via === gateway && destination.endsWith("/122"))
      await netlink.change({ do: "delete", route: { destination } });
}
