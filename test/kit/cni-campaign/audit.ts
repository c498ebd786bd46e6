// What must not be left of a sequence: addresses and handles in the datastore, interfaces and routes on the node, addresses on pods. By kubectl's eyes and
// ip's, not by ours.
import { runProgram } from "../../../src/base/linux/index.ts";
import type { Cluster } from "../cluster.ts";

const group = "/apis/crd.projectcalico.org/v1";

type Block = {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly allocations: readonly (number | null)[];
    readonly attributes: readonly { readonly handle_id?: string }[];
  };
};
type Handle = { readonly metadata: { readonly name: string }; readonly spec: { readonly handleID: string } };
type Pod = {
  readonly metadata: { readonly name: string; readonly annotations?: { readonly [name: string]: string } };
};

export type Audited = {
  readonly node: string;
  /** Of the node's network namespace. */
  readonly namespace: string;
  /** Pods and containers of the sequence begin so. */
  readonly prefix: string;
};

/** What was left, in words. */
export async function leftOvers(cluster: Cluster, { namespace, prefix }: Audited): Promise<string[]> {
  const [blocks, handles, pods, onNode] = await Promise.all([
    items<Block>(cluster, `${group}/ipamblocks`),
    items<Handle>(cluster, `${group}/ipamhandles`),
    items<Pod>(cluster, "/api/v1/namespaces/default/pods"),
    ofNetwork(namespace),
  ]);
  const isOurs = (handle = "") => handle.startsWith(`campaign.${prefix}`);
  const held = blocks.flatMap(({ metadata, spec }) =>
    spec.allocations.flatMap((at, ordinal) => {
      const handle = at === null ? undefined : spec.attributes[at]?.handle_id;
      return isOurs(handle) ? [`address ${ordinal} of block ${metadata.name} is held by ${handle}`] : [];
    }),
  );
  const named = handles.flatMap(({ spec }) => (isOurs(spec.handleID) ? [`handle ${spec.handleID} is there`] : []));
  const marked = pods.flatMap(({ metadata: { name, annotations = {} } }) => {
    const address = annotations["cni.projectcalico.org/podIP"] ?? "";
    return name.startsWith(prefix) && address !== "" ? [`pod ${name} is said to have ${address}`] : [];
  });
  return [...held, ...named, ...marked, ...onNode];
}

async function ofNetwork(namespace: string): Promise<string[]> {
  const [links, routes4, routes6] = await Promise.all([
    ip<{ ifname?: string }>(namespace, "link"),
    ip<{ dst: string; dev?: string }>(namespace, "-4", "route", "show", "table", "all"),
    ip<{ dst: string; dev?: string }>(namespace, "-6", "route", "show", "table", "all"),
  ]);
  return [
    ...links.flatMap(({ ifname = "lo" }) => (ifname === "lo" ? [] : [`interface ${ifname} is on the node`])),
    ...[...routes4, ...routes6].flatMap(({ dst, dev = "lo" }) =>
      dev === "lo" ? [] : [`route ${dst} dev ${dev} is on the node`],
    ),
  ];
}

/** What a pod has that was told to be in order; undefined: all of it. */
export async function missingOf(
  namespace: string,
  hostSide: string,
  addresses: readonly string[],
): Promise<string | undefined> {
  const routes = [
    ...(await ip<{ dst: string; dev?: string }>(namespace, "-4", "route")),
    ...(await ip<{ dst: string; dev?: string }>(namespace, "-6", "route")),
  ];
  const lost = addresses.filter((address) => !routes.some(({ dst, dev }) => dst === address && dev === hostSide));
  return lost.length === 0
    ? undefined
    : `ADD said ${lost.join(", ")}, and the node has no route to it over ${hostSide}`;
}

async function items<T>(cluster: Cluster, path: string): Promise<readonly T[]> {
  return ((await cluster.must("GET", path)) as { items: T[] }).items;
}

async function ip<T extends object>(namespace: string, ...words: string[]): Promise<T[]> {
  const { stdout } = await runProgram("ip", ["-n", namespace, "-j", ...words]);
  if (stdout.trim() === "") return [];
  return (JSON.parse(stdout) as T[]).filter((each) => Object.keys(each).length > 0); // what ip prints
}
