// ctl ipam show: how full pools and blocks are, who has an address, what was borrowed, and IPAM's settings.
import { type AddressRange, type JsonRecord, parseRange, rangeText } from "../../../../base/lib/index.ts";
import {
  type Block,
  type BlockUse,
  type PoolObject,
  readBlock,
  readPool,
  readReservations,
  utilizationOf,
} from "../../../../calico/ipam/index.ts";
import { cidrName, isResourceError, type Resources, type V3Object } from "../../../../calico/resources/index.ts";
import { boxTable } from "../../box-table.ts";
import type { Run } from "../../command.ts";
import type { Connection } from "../../connection.ts";
import { type Console, CtlError } from "../../console.ts";
import { addressGiven } from "../address-given.ts";
import { expectedBlock, holderOf, ownerLines } from "./address-owner.ts";
import { borrowedIn, borrowedTable } from "./borrowed-table.ts";
import { listBlocks, type StoredBlock, unallocatedOf } from "./stored-blocks.ts";
import { usageTable } from "./usage-table.ts";

export const run: Run = async (invocation, console) => {
  const connection = await invocation.connect();
  const ip = invocation.value("ip") ?? "";
  // In the original's order, where more than one is asked for.
  if (ip !== "") await showAddress(connection, ip, console);
  else if (invocation.isSet("show-blocks")) await showUsage(connection, console, { withBlocks: true });
  else if (invocation.isSet("show-borrowed")) await showBorrowed(connection, console);
  else if (invocation.isSet("show-configuration")) await showConfiguration(connection, console);
  else await showUsage(connection, console, { withBlocks: false });
  return 0;
};

async function showUsage(
  { resources, datastore }: Connection,
  console: Console,
  options: { readonly withBlocks: boolean },
): Promise<void> {
  const { signal } = console;
  const [pools, { picked: blocks, unreadable }, reservations] = await Promise.all([
    resources.list("IPPool", { signal }),
    listBlocks(datastore, blockUse, signal),
    listReservations(resources, signal),
  ]);
  const ranges = pools.items.flatMap(({ spec }) => {
    const range = parseRange(String(spec.cidr ?? ""));
    return range === undefined ? [] : [{ cidr: rangeText(range), range }];
  });
  console.out(usageTable(utilizationOf(ranges, blocks, readReservations(reservations)), options));
  for (const { id, problem } of pools.unreadable) console.err(`IPPool ${id.name} is left out: ${problem}\n`);
  for (const { name, problem } of unreadable) console.err(`IPAMBlock ${name} is left out: ${problem}\n`);
}

function blockUse(block: StoredBlock): BlockUse {
  const { cidr, range } = block;
  return { cidr, range, unallocated: unallocatedOf(block) };
}

/** Clusters before v3.22 do not have the kind. */
async function listReservations(resources: Resources, signal: AbortSignal) {
  try {
    return (await resources.list("IPReservation", { signal })).items.map(({ spec }) => spec);
  } catch (error) {
    if (isResourceError(error, "no-such-kind")) return [];
    throw error;
  }
}

async function showBorrowed({ datastore }: Connection, console: Console): Promise<void> {
  const { picked, unreadable } = await listBlocks(datastore, borrowedIn, console.signal);
  console.out(borrowedTable(picked));
  for (const { name, problem } of unreadable) console.err(`IPAMBlock ${name} is left out: ${problem}\n`);
}

async function showAddress(connection: Connection, text: string, console: Console): Promise<void> {
  const address = addressGiven(text);
  const block = await blockAround(connection, address, console.signal);
  console.out(ownerLines(address, block === undefined ? undefined : holderOf(block, address)));
}

/**
 * Where its pool says that it is, or else wherever it is: a pool may be gone, or may have had blocks of another size. The
 * original then says that an address is not assigned which a pod has.
 */
async function blockAround(
  { resources, datastore }: Connection,
  address: AddressRange,
  signal: AbortSignal,
): Promise<Block | undefined> {
  const { items } = await resources.list("IPPool", { signal });
  const pools = items.flatMap((pool) => readPool(poolObject(pool)) ?? []);
  const range = expectedBlock(pools, address);
  const name = range === undefined ? undefined : cidrName(rangeText(range));
  const found = name === undefined ? undefined : await getBlock(resources, name, signal);
  if (found !== undefined) return found;
  const names = (block: StoredBlock) => (isIn(block, address) ? (cidrName(block.cidr) ?? block.name) : undefined);
  const { picked } = await listBlocks(datastore, names, signal);
  const around = picked.find((each) => each !== undefined);
  return around === undefined ? undefined : await getBlock(resources, around, signal);
}

function isIn({ range }: StoredBlock, { family, first }: AddressRange): boolean {
  const hostBits = BigInt((family === 4 ? 32 : 128) - range.prefixLength);
  return range.family === family && first >> hostBits === range.first >> hostBits;
}

function poolObject({ metadata, spec }: V3Object): PoolObject {
  return { name: metadata.name ?? "", spec };
}

async function getBlock(resources: Resources, name: string, signal: AbortSignal): Promise<Block | undefined> {
  try {
    const { spec } = await resources.get("IPAMBlock", { namespace: "", name }, { signal });
    const read = readBlock(spec);
    if (read.is === "block") return read.block;
    throw new CtlError(`IPAMBlock ${name} cannot be read: ${read.field} ${read.why}`);
  } catch (error) {
    if (isResourceError(error, "not-found")) return undefined;
    throw error;
  }
}

/** Each property, its field, and what holds where a configuration is stored that does not say it. */
const properties = [
  ["StrictAffinity", "strictAffinity", false],
  ["AutoAllocateBlocks", "autoAllocateBlocks", false],
  ["MaxBlocksPerHost", "maxBlocksPerHost", 0],
  ["KubeVirtVMAddressPersistence", "kubeVirtVMAddressPersistence", "Enabled"],
  ["IPCooldownSeconds", "ipCooldownSeconds", 0],
] as const;

async function showConfiguration({ resources }: Connection, console: Console): Promise<void> {
  const stored = await storedSettings(resources, console.signal);
  const rows = properties.map(([property, field, unsaid]) => [property, String(stored[field] ?? unsaid)]);
  console.out(boxTable([{ heading: "PROPERTY" }, { heading: "VALUE" }], rows));
}

/** Where nothing is stored, nodes claim blocks; where something is, only if it says so. */
async function storedSettings(resources: Resources, signal: AbortSignal): Promise<JsonRecord> {
  try {
    return (await resources.get("IPAMConfig", { namespace: "", name: "default" }, { signal })).spec;
  } catch (error) {
    if (isResourceError(error, "not-found")) return { autoAllocateBlocks: true };
    throw error;
  }
}
