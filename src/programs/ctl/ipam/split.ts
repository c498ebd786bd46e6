// ctl ipam split: a pool becomes several smaller ones, while the datastore is locked; its blocks stay as they are. Everything that
// can be wrong is looked for before the first write: the original disables the pool first, and leaves it so.
import { type AddressRange, messageOf, parseRange, rangeText } from "../../../base/lib/index.ts";
import {
  forCreate,
  isResourceError,
  openResources,
  type Resources,
  type V3Object,
} from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import { CtlError } from "../console.ts";
import { goInteger } from "./go-number.ts";
import { splitRange } from "./split-range.ts";

export const run: Run = async (invocation, console) => {
  const count = countGiven(invocation.words[0] ?? "");
  const given = { name: invocation.value("name") ?? "", cidr: invocation.value("cidr") ?? "" };
  if (given.name === "" && given.cidr === "")
    throw new CtlError("no name or CIDR provided. Provide a name or CIDR to denote the IP pool to split");
  const { datastore, resources } = await invocation.connect();
  const { signal } = console;
  await requireLock(resources, signal);
  const pool = await poolGiven(resources, given, signal);
  const cidr = String(pool.spec.cidr);
  const range = parseRange(cidr);
  if (range === undefined) throw new CtlError(`the CIDR ${cidr} of IP pool ${nameOf(pool)} cannot be read`);
  const split = splitRange(range, count, Number(pool.spec.blockSize ?? (range.family === 4 ? 26 : 122)));
  if (split.is === "problem") throw new CtlError(`error splitting the CIDR ${cidr} into ${count} CIDRs: ${split.says}`);
  const parts = split.parts.map((part, at) => partOf(pool, part, `split-${nameOf(pool)}-${at}`));
  await replacePool(openResources(datastore, { withoutRules: true }), pool, { parts, signal });
  console.out(`IP Pool ${nameOf(pool)} was successfully split into ${count} smaller pools.`);
  for (const part of parts) console.out(`Created ${nameOf(part)} with CIDR ${part.spec.cidr}.\n`);
  console.out("Please refer to the documentation for final steps.");
  return 0;
};

function countGiven(text: string): number {
  const count = goInteger(text, "strconv.Atoi");
  if (count.is === "number") return count.value;
  throw new CtlError(`error reading number to split IP pools into. ${text} is not a valid number: ${count.says}`);
}

async function requireLock(resources: Resources, signal: AbortSignal): Promise<void> {
  try {
    const { spec } = await resources.get("ClusterInformation", { namespace: "", name: "default" }, { signal });
    if (spec.datastoreReady === false) return;
  } catch (error) {
    if (!isResourceError(error)) throw error;
    const text = `error while checking if datastore was locked: error retrieving ClusterInformation: ${error.message}`;
    throw new CtlError(text, { cause: error });
  }
  throw new CtlError(
    "datastore is not locked. Run the `calicoctl datastore migrate lock` command in order split the IP pools",
  );
}

type Given = { readonly name: string; readonly cidr: string };

async function poolGiven(resources: Resources, { name, cidr }: Given, signal: AbortSignal): Promise<V3Object> {
  if (name !== "") {
    const pool = await poolNamed(resources, name, signal);
    if (cidr === "" || isSame(pool, cidr)) return pool;
    throw new CtlError(`IP pool ${name} has the CIDR ${pool.spec.cidr}, not ${cidr}. Provide one of the two`);
  }
  const { items } = await resources.list("IPPool", { signal });
  const found = items.find((pool) => isSame(pool, cidr));
  if (found === undefined) throw new CtlError(`unable to find IP pool  covering the specified CIDR ${cidr}`);
  return found;
}

async function poolNamed(resources: Resources, name: string, signal: AbortSignal): Promise<V3Object> {
  try {
    return await resources.get("IPPool", { namespace: "", name }, { signal });
  } catch (error) {
    if (!isResourceError(error)) throw error;
    throw new CtlError(`unable to find IP pool with name ${name}: ${error.message}`, { cause: error });
  }
}

function isSame({ spec }: V3Object, cidr: string): boolean {
  const [a, b] = [parseRange(String(spec.cidr)), parseRange(cidr)];
  return a !== undefined && b !== undefined && rangeText(a) === rangeText(b);
}

function partOf(pool: V3Object, range: AddressRange, name: string): V3Object {
  const { labels, annotations } = pool.metadata;
  return forCreate({
    ...pool,
    metadata: { name, labels, annotations },
    spec: { ...pool.spec, cidr: rangeText(range) },
  });
}

/** Disabled, then its parts made, then removed: at no time do two enabled pools have an address in common. What fails is undone. */
async function replacePool(
  resources: Resources,
  pool: V3Object,
  { parts, signal }: { readonly parts: readonly V3Object[]; readonly signal: AbortSignal },
): Promise<void> {
  const disabled = await resources.update("IPPool", { ...pool, spec: { ...pool.spec, disabled: true } }, { signal });
  const made: V3Object[] = [];
  try {
    for (const part of parts) made.push(await resources.create("IPPool", part, { signal }));
    const { resourceVersion } = disabled.metadata;
    const at = resourceVersion === undefined ? {} : { resourceVersion };
    await resources.delete("IPPool", { namespace: "", name: nameOf(pool) }, { signal, ...at });
  } catch (error) {
    const left = await undo(resources, pool, made);
    const text = `error making the pools that ${nameOf(pool)} is split into: ${messageOf(error)}`;
    throw new CtlError([text, ...left].join("\n"), { cause: error });
  }
}

/** What could not be undone, each with what to do about it. The caller's time may be up, so nothing here listens to its signal. */
async function undo(resources: Resources, pool: V3Object, made: readonly V3Object[]): Promise<string[]> {
  const left: string[] = [];
  for (const part of made) {
    const name = nameOf(part);
    await resources
      .delete("IPPool", { namespace: "", name })
      .catch((error) =>
        left.push(`IP pool ${name} is still there (${messageOf(error)}): delete it with kubectl, not with ctl`),
      );
  }
  const { disabled = false } = pool.spec;
  await resources
    .edit("IPPool", { namespace: "", name: nameOf(pool) }, (current) =>
      current === undefined ? "nothing" : { ...current, spec: { ...current.spec, disabled } },
    )
    .catch((error) =>
      left.push(`IP pool ${nameOf(pool)} is still disabled (${messageOf(error)}): patch its spec.disabled`),
    );
  return left;
}

function nameOf({ metadata }: V3Object): string {
  return metadata.name ?? "";
}
