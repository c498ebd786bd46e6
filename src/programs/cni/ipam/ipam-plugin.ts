// The IPAM plugin: an address for a container's interface, and back. The handle is NETWORK.CONTAINER, so that DEL finds what ADD took
// knowing nothing else; attributes beside each address tell people whose it is.
//
// ADD may be repeated: by a runtime that was killed, or that lost the answer. One for the same container and the same interface gets the
// address that the first got. Interfaces are told apart by the attribute `interface`, which is written for those that are not called
// eth0: that is the name in every cluster, and the original writes none.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addressText, type Clock, type JsonRecord, rangeText, silentLog } from "../../../base/lib/index.ts";
import { waitForFlock } from "../../../base/linux/files.ts";
import { type Datastore, DatastoreError, openDatastore } from "../../../calico/datastore/index.ts";
import { type Ipam, openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import { type NetworkConfiguration, readNetworkConfiguration } from "../configuration.ts";
import { nodeNameOf } from "../node-name.ts";
import { type PluginArguments, readArguments } from "../protocol/arguments.ts";
import type { PluginCall, Variables } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import { ipamResult, type ResultAddress } from "../protocol/ipam-result.ts";
import type { Plugin } from "../protocol/run-plugin.ts";
import type { CniVersion } from "../protocol/versions.ts";
import { heldAddresses } from "./previous-result.ts";

export type IpamPluginOptions = {
  readonly variables: Variables;
  readonly clock: Clock;
  readonly random: () => number;
  readonly version: string;
  /** For what is no reason to fail. */
  readonly warn: (text: string) => void;
};

/** Counted from when we have the lock. */
const limitMs = 90_000;

export function createIpamPlugin(options: IpamPluginOptions): Plugin {
  return {
    about: `Calico CNI IPAM ${options.version}`,
    add: (call, version) => add(options, call, version),
    check: (call) => check(options, call),
    del: (call) => del(options, call),
  };
}

async function add(options: IpamPluginOptions, call: PluginCall, version: CniVersion): Promise<JsonRecord> {
  const configuration = readNetworkConfiguration(call.configuration, options.variables);
  const args = readArguments(call.args);
  const node = await nodeNameOf(configuration);
  return await withIpam(options, configuration, async ({ ipam, namespaceLabels, locked }) => {
    const labels = await namespaceLabels(args);
    const forWhom = {
      node,
      use: "Workload",
      handle: handleOf(configuration, call),
      attributes: attributesOf({ node, call, args, wallMs: options.clock.wallMs() }),
      isSame: (held: { readonly secondary?: { readonly [name: string]: string } }) =>
        held.secondary?.node === node && (held.secondary.interface ?? usualInterface) === call.ifname,
    } as const;
    const addresses = await locked(async (signal): Promise<ResultAddress[]> => {
      if (args.address !== undefined) {
        await upgradeOnce(configuration, ipam, { node, signal });
        const { address } = await ipam.assignIP({ ...forWhom, address: args.address }, { signal });
        return [{ family: address.family, cidr: rangeText(address) }];
      }
      const { assignIpv4, assignIpv6, ipv4Pools, ipv6Pools } = configuration.ipam;
      const { ipv4, ipv6 } = await ipam.autoAssign(
        {
          ...forWhom,
          namespaceLabels: labels,
          ipv4: { count: assignIpv4 ? 1 : 0, pools: ipv4Pools },
          ipv6: { count: assignIpv6 ? 1 : 0, pools: ipv6Pools },
        },
        { signal },
      );
      return [...ipv4.addresses, ...ipv6.addresses].map(({ address, block }) => ({
        family: address.family,
        cidr: `${addressText(address.family, address.first)}/${block.prefixLength}`,
      }));
    });
    return ipamResult(version, addresses);
  });
}

async function del(options: IpamPluginOptions, call: PluginCall): Promise<void> {
  const configuration = readNetworkConfiguration(call.configuration, options.variables);
  const { pod } = readArguments(call.args);
  await withIpam(options, configuration, ({ ipam, locked }) =>
    locked(async (signal) => {
      await ipam.releaseByHandle(handleOf(configuration, call), { signal });
      // As releases before v3 called it.
      await ipam.releaseByHandle(pod === undefined ? call.containerId : `${pod.namespace}.${pod.name}`, { signal });
    }),
  );
}

/** What the runtime says that the interface has must be held for it. A runtime that does not say it asks for nothing. */
async function check(options: IpamPluginOptions, call: PluginCall): Promise<void> {
  const wanted = heldAddresses(call.configuration.prevResult);
  if (wanted.length === 0) return;
  const configuration = readNetworkConfiguration(call.configuration, options.variables);
  const handle = handleOf(configuration, call);
  await withIpam(options, configuration, async ({ ipam }) => {
    const held = (await ipam.ipsByHandle(handle)) ?? [];
    const texts = new Set(held.map(({ address }) => addressText(address.family, address.first)));
    const missing = wanted.filter((address) => !texts.has(address));
    if (missing.length === 0) return;
    throw new CniError(cniErrorCodes.other, `${missing.join(", ")} is not held by ${handle}`, {
      details: "the address may be given to another pod: delete this pod, so that it is made again",
    });
  });
}

type Working = {
  readonly ipam: Ipam;
  readonly namespaceLabels: (args: PluginArguments) => Promise<{ readonly [name: string]: string }>;
  /** One call of this host at a time, whichever program it is. */
  readonly locked: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
};

async function withIpam<T>(
  options: IpamPluginOptions,
  configuration: NetworkConfiguration,
  work: (working: Working) => Promise<T>,
): Promise<T> {
  const { clock, random } = options;
  const settings = configuration.datastore();
  await using datastore = await openDatastore(settings, { clock, log: silentLog });
  const edge = { clock, random };
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  const namespaceLabels = ({ pod }: PluginArguments) => labelsOf(pod?.namespace, { options, configuration, datastore });
  return await work({ ipam, namespaceLabels, locked: (inside) => withHostLock(configuration, options, inside) });
}

/**
 * Affinities that an old release left have no labels, and are not found by them. The original mends that before the first named
 * address after a boot, which a file in a folder that does not outlive it says; so do we.
 */
async function upgradeOnce(
  { lockFile }: NetworkConfiguration,
  ipam: Ipam,
  { node, signal }: { node: string; signal: AbortSignal },
): Promise<void> {
  const marker = join(dirname(lockFile), "cni", "ipam_upgraded");
  if (existsSync(marker)) return;
  await ipam.upgradeHost(node, { signal });
  try {
    mkdirSync(dirname(marker), { recursive: true });
    writeFileSync(marker, "");
  } catch {
    // it is looked for again the next time
  }
}

/** The lock only saves conflicts, so that a host where it cannot be had works nevertheless. */
async function withHostLock<T>(
  { lockFile }: NetworkConfiguration,
  { warn }: IpamPluginOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using _held = hostLock(lockFile, warn);
  return await work(AbortSignal.timeout(limitMs));
}

function hostLock(path: string, warn: (text: string) => void): Disposable | undefined {
  try {
    return waitForFlock(path);
  } catch (error) {
    warn(
      `the host's lock ${path} cannot be had, and is done without: ${error instanceof Error ? error.message : error}`,
    );
    return undefined;
  }
}

async function labelsOf(
  namespace: string | undefined,
  from: { options: IpamPluginOptions; configuration: NetworkConfiguration; datastore: Datastore },
): Promise<{ readonly [name: string]: string }> {
  const { kubernetes } = from.configuration;
  if (namespace === undefined || kubernetes === undefined) return {};
  if (from.datastore.flavour === "kubernetes") return await readLabels(from.datastore, namespace);
  const { clock } = from.options;
  await using cluster = await openDatastore({ type: "kubernetes", ...kubernetes }, { clock, log: silentLog });
  return await readLabels(cluster, namespace);
}

async function readLabels(datastore: Datastore, namespace: string): Promise<{ readonly [name: string]: string }> {
  const failed = (why: string, cause?: unknown) =>
    new CniError(cniErrorCodes.other, `failed to get namespace ${namespace}: ${why}`, { cause });
  try {
    const found = await datastore.get("Namespace", { namespace: "", name: namespace });
    if (found === undefined) throw failed(`namespaces "${namespace}" not found`);
    const { metadata } = found.value as { metadata?: { labels?: { readonly [name: string]: string } } }; // Kubernetes' own
    return metadata?.labels ?? {};
  } catch (error) {
    throw error instanceof DatastoreError ? failed(saidBy(error), error) : error;
  }
}

/** The API server's own words, however often the error was wrapped. */
function saidBy(error: DatastoreError): string {
  for (let at: unknown = error; at instanceof DatastoreError; at = at.cause) if (at.says !== undefined) return at.says;
  return error.message;
}

const usualInterface = "eth0";

function handleOf({ name }: NetworkConfiguration, { containerId }: PluginCall): string {
  return `${name}.${containerId}`;
}

function attributesOf({
  node,
  call,
  args: { pod },
  wallMs,
}: {
  node: string;
  call: PluginCall;
  args: PluginArguments;
  wallMs: number;
}): { readonly [name: string]: string } {
  return {
    ...(call.ifname === usualInterface ? {} : { interface: call.ifname }),
    ...(pod === undefined ? {} : { namespace: pod.namespace }),
    node,
    ...(pod === undefined ? {} : { pod: pod.name }),
    timestamp: goTime(wallMs),
  };
}

/** 2026-11-16 10:19:52.123 +0000 UTC: as Go prints a time, the fraction without zeros at its end. */
function goTime(wallMs: number): string {
  const [date = "", time = ""] = new Date(wallMs).toISOString().split("T");
  return `${date} ${time.replace("Z", "").replace(/\.?0+$/, "")} +0000 UTC`;
}
