// Nodes as namespaces at the ports of a switch that also routes between its networks, and pods behind them as the CNI plugin leaves them.
//
//   switch: br0 172.30.0.254/24 fd30:0::fe/64   br1 172.30.1.254/24 ...      forwards
//     ├── node eth0 172.30.N.M/24 ── caliX ── pod eth0
import { openNamespace, openNetlink, ping, writeSysctl } from "../../../src/base/linux/kernel.ts";
import { freshNamespace } from "../namespace.ts";

export type TestNode = {
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly address6: string;
};
export type TestPod = {
  readonly name: string;
  readonly namespace: string;
  readonly interfaceName: string;
  readonly addresses: readonly string[];
};

/** Canonical, as the kernel writes it. */
const prefix6 = (network: number): string => (network === 0 ? "fd30::" : `fd30:${network}::`);

export class TestNetwork {
  readonly #switch = freshNamespace().path;
  readonly #bridges = new Map<number, number>();
  #ports = 0;
  #pods = 0;

  /** `network`: nodes of different ones reach each other by the switch as router. */
  async addNode(name: string, network = 0): Promise<TestNode> {
    const bridge = this.#bridges.get(network) ?? (await this.#addBridge(network));
    this.#ports += 1;
    const [port, host] = [`p${this.#ports}`, this.#ports];
    const { path } = freshNamespace();
    await using here = openNetlink({ namespace: this.#switch });
    await using there = openNetlink({ namespace: path });
    using namespace = openNamespace(path);
    await here.change({
      do: "create",
      link: { name: port, kind: "veth", master: bridge, peer: { name: "eth0", namespaceFd: namespace.fd } },
    });
    await here.change({ do: "edit", link: { link: port, up: true } });
    await there.change({ do: "edit", link: { link: "lo", up: true } });
    const index = (await there.link("eth0"))?.index ?? 0;
    const [address, address6] = [`172.30.${network}.${host}/24`, `${prefix6(network)}${host}/64`];
    await there.change({ do: "create", address: { index, address } });
    await there.change({ do: "create", address: { index, address: address6, flags: ["nodad"] } });
    await there.change({ do: "edit", link: { link: "eth0", up: true } });
    await there.change({ do: "create", route: { destination: "0.0.0.0/0", gateway: `172.30.${network}.254`, index } });
    await there.change({ do: "create", route: { destination: "::/0", gateway: `${prefix6(network)}fe`, index } });
    return { name, namespace: path, address, address6 };
  }

  /** With the plugin's own route, which has no metric. */
  async addPod(node: TestNode, addresses: readonly string[]): Promise<TestPod> {
    this.#pods += 1;
    const interfaceName = `cali${this.#pods}`;
    const { path } = freshNamespace();
    await using host = openNetlink({ namespace: node.namespace });
    await using pod = openNetlink({ namespace: path });
    using namespace = openNamespace(path);
    await host.change({
      do: "create",
      link: {
        name: interfaceName,
        kind: "veth",
        mac: "ee:ee:ee:ee:ee:ee",
        peer: { name: "eth0", namespaceFd: namespace.fd },
      },
    });
    await host.change({ do: "edit", link: { link: interfaceName, up: true } });
    await pod.change({ do: "edit", link: { link: "eth0", up: true } });
    const outside = (await host.link(interfaceName))?.index ?? 0;
    const index = (await pod.link("eth0"))?.index ?? 0;
    for (const address of addresses) {
      const isV6 = address.includes(":");
      const whole = `${address}/${isV6 ? 128 : 32}`;
      await pod.change({ do: "create", address: { index, address: whole, ...(isV6 && { flags: ["nodad"] }) } });
      const gateway = isV6 ? "fe80::1" : "169.254.1.1";
      // What the node answers for by proxy: with a fixed neighbour nothing depends on when the agent sets that.
      await pod.change({
        do: "replace",
        neighbour: { family: isV6 ? "inet6" : "inet", index, address: gateway, mac: "ee:ee:ee:ee:ee:ee" },
      });
      await pod.change({ do: "create", route: { destination: `${gateway}/${isV6 ? 128 : 32}`, index } });
      await pod.change({ do: "create", route: { destination: isV6 ? "::/0" : "0.0.0.0/0", gateway, index } });
      await host.change({ do: "create", route: { destination: whole, index: outside, protocol: "boot" } });
    }
    return { name: `pod${this.#pods}`, namespace: path, interfaceName, addresses };
  }

  async removePod(node: TestNode, pod: TestPod): Promise<void> {
    await using host = openNetlink({ namespace: node.namespace });
    await host.change({ do: "delete", link: pod.interfaceName });
  }

  async #addBridge(network: number): Promise<number> {
    const name = `br${network}`;
    await using netlink = openNetlink({ namespace: this.#switch });
    await netlink.change({ do: "create", link: { name, kind: "bridge", up: true } });
    const index = (await netlink.link(name))?.index ?? 0;
    await netlink.change({ do: "create", address: { index, address: `172.30.${network}.254/24` } });
    await netlink.change({ do: "create", address: { index, address: `${prefix6(network)}fe/64`, flags: ["nodad"] } });
    const options = { namespace: this.#switch };
    writeSysctl("net.ipv4.ip_forward", 1, options);
    writeSysctl("net.ipv6.conf.all.forwarding", 1, options);
    for (const each of ["all", "default", name])
      writeSysctl(["net", "ipv4", "conf", each, "send_redirects"], 0, options);
    this.#bridges.set(network, index);
    return index;
  }
}

/** Whether a ping is answered, within the seconds that IPv6 takes to make sure that its addresses are nobody else's. */
export async function reaches(from: TestPod | TestNode, to: string, limitMs = 8_000): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  do {
    const { received } = await ping(to, { namespace: from.namespace, count: 1, timeoutMs: 300 });
    if (received === 1) return true;
  } while (performance.now() < endMs);
  return false;
}
