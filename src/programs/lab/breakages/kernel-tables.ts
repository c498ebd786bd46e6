// What is wrong in the tables of one kernel: a rule of a firewall, a route, a neighbour. Everything else is as it should be, and all agents run.
import { type Netlink, openNetlink, writeSysctl } from "../../../base/linux/kernel.ts";
import type { Lab } from "../cluster/lab.ts";
import { type LabPod, type Place, switchAddress } from "../world/index.ts";
import type { Breakage } from "./breakage.ts";
import { nft, noPods, pause, restart, second, table, third } from "./network.ts";

/** Of nobody: locally administered. */
const strange = "02:00:00:00:00:01";
const gateway = "169.254.1.1";

export const kernelTableBreakages: readonly Breakage[] = [
  {
    name: "firewall-rule",
    code: "FOREIGN_FORWARD_DROP",
    says: "a rule of another firewall on a node drops packets with addresses of pods",
    modes: ["direct", "bgp"],
    make: ({ world }) =>
      nft(
        world.node(third),
        [
          `table ip ${table} {`,
          "  chain early {",
          "    type filter hook prerouting priority -300;",
          '    iifname "eth0" ip saddr 10.244.0.0/16 drop;',
          "  }",
          "}",
        ].join("\n"),
      ),
    mend: ({ world }) => nft(world.node(third), `delete table ip ${table}`),
  },
  {
    name: "interface-forwarding",
    code: "FORWARDING_OFF",
    says: "a node forwards packets, but not those that arrive on its network card",
    modes: ["direct", "bgp"],
    make: async ({ world }) => writeSysctl(uplinkForwarding, 0, { namespace: world.node(third).netns }),
    mend: async ({ world }) => writeSysctl(uplinkForwarding, 1, { namespace: world.node(third).netns }),
  },
  {
    name: "blackhole",
    modes: ["direct", "vxlan"], // BIRD would announce it to all
    code: "ROUTE_WRONG",
    says: "a more specific route to a pod leads nowhere",
    make: async (lab) => {
      const destination = `${podOn(lab, third).address}/32`;
      await within(lab.world.node(second), (netlink) =>
        netlink.change({ do: "create", route: { destination, type: "blackhole" } }),
      );
    },
    mend: async (lab) => {
      const destination = `${podOn(lab, third).address}/32`;
      await within(lab.world.node(second), (netlink) =>
        netlink.change({ do: "delete", route: { destination, type: "blackhole" } }),
      );
    },
  },
  {
    name: "routing-rule",
    code: "ROUTING_RULE",
    says: "a rule of routing (policy routing) sends what the pods of a node send to another table",
    make: ({ world }) =>
      within(world.node(second), async (netlink) => {
        const way = { destination: "0.0.0.0/0", gateway: switchAddress(0), table: strangeTable };
        await netlink.change({ do: "create", route: way });
        await netlink.change({ do: "create", rule: strangeRule });
      }),
    mend: ({ world }) =>
      within(world.node(second), async (netlink) => {
        await netlink.change({ do: "delete", rule: strangeRule });
        await netlink.change({ do: "delete", route: { destination: "0.0.0.0/0", table: strangeTable } });
      }),
  },
  {
    name: "neighbour",
    code: "NEIGHBOUR_WRONG",
    says: "a node has a hardware address of nobody for another node",
    make: (lab) => setNeighbour(lab, strange),
    mend: (lab) => setNeighbour(lab, undefined),
  },
  {
    name: "tunnel-entry",
    code: "TUNNEL_WRONG",
    says: "the VXLAN device of a node has no entry for another node, and the agent that would repair it is stopped",
    modes: ["vxlan"],
    make: dropTunnelEntry,
    mend: (lab) => restart(lab, second),
  },
  {
    name: "pod-route",
    code: "POD_INTERFACE",
    says: "a pod has lost its default route",
    make: (lab) =>
      within(podOn(lab, third).place, (netlink) =>
        netlink.change({ do: "delete", route: { destination: "0.0.0.0/0" } }),
      ),
    mend: (lab) =>
      within(podOn(lab, third).place, async (netlink) => {
        const index = (await netlink.link("eth0"))?.index ?? 0;
        await netlink.change({ do: "create", route: { destination: "0.0.0.0/0", gateway, index } });
      }),
  },
];

const strangeTable = 100;
const strangeRule = { family: "inet", priority: 1_000, from: "10.244.0.0/16", table: strangeTable } as const;

const uplinkForwarding = ["net", "ipv4", "conf", "eth0", "forwarding"] as const;

async function within({ netns: namespace }: Pick<Place, "netns">, act: (netlink: Netlink) => Promise<unknown>) {
  await using netlink = openNetlink({ namespace });
  await act(netlink);
}

function podOn({ pods }: Lab, node: string): LabPod {
  const pod = pods.all.find((each) => each.node === node);
  if (pod === undefined) throw noPods(node);
  return pod;
}

/** Undefined: the kernel finds it out by itself. */
async function setNeighbour({ world }: Lab, mac: string | undefined): Promise<void> {
  const { address } = world.node(third);
  await within(world.node(second), async (netlink) => {
    const index = (await netlink.link("eth0"))?.index ?? 0;
    const neighbour = { family: "inet", index, address } as const;
    await netlink.change(
      mac === undefined ? { do: "delete", neighbour } : { do: "replace", neighbour: { ...neighbour, mac } },
    );
  });
}

async function dropTunnelEntry(lab: Lab): Promise<void> {
  const { world } = lab;
  pause(lab, second);
  await within(world.node(second), async (netlink) => {
    const index = (await netlink.link("vxlan.calico"))?.index ?? 0;
    const entries = await netlink.neighbours({ family: "bridge", index });
    for (const { mac, address } of entries.filter((each) => each.address === world.node(third).address))
      if (mac !== undefined && address !== undefined)
        await netlink.change({ do: "delete", neighbour: { family: "bridge", index, mac, address } });
  });
}
