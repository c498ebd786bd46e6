// Coming from the original: its tables and chains go once ours are in force, and never before. Going back: our table goes, once the
// original's is there again.
import { readFile } from "node:fs/promises";
import { CattailError, type Log, messageOf } from "../../../base/lib/index.ts";
import { errnoOf, runProgram } from "../../../base/linux/index.ts";
import type { NftTable } from "../../../base/linux/kernel.ts";
import { families, tableName } from "../nft/names.ts";
import { Nft, type NftOptions } from "./nft.ts";

const theirs: readonly NftTable[] = [
  { family: "ip", name: "calico" },
  { family: "ip6", name: "calico" },
  { family: "arp", name: "calico-arp" },
];

export function originalTables(nft: Nft): readonly NftTable[] {
  const there = nft.tables();
  return theirs.filter((one) => there.some(({ family, name }) => family === one.family && name === one.name));
}

/** What cannot be removed is said, and does not stop anybody: their drops stay drops. */
export async function removeOriginal(options: {
  readonly nft: Nft;
  readonly namespace?: string | undefined;
  readonly log: Log;
}): Promise<void> {
  const { nft, log } = options;
  try {
    const tables = originalTables(nft);
    if (tables.length > 0) {
      // All of them at once: half of the original's rules would be neither the old state nor the new.
      const outcome = await nft.apply(tables.map(({ family, name }) => `delete table ${family} ${name}\n`).join(""));
      if (outcome.is === "refused") log.warn("Tables of the original cannot be removed", { why: outcome.why });
      else log.info("Removed the tables of the original", { tables: tables.map((one) => `${one.family} ${one.name}`) });
    }
    await removeChains(options);
  } catch (error) {
    log.warn("What the original left cannot be removed", { why: messageOf(error) });
  }
}

/** For a node that is handed back to the original, or to nobody. */
export async function removeOwnTables(options: NftOptions = {}): Promise<void> {
  using nft = new Nft(options);
  const own = nft.tables().filter(({ family, name }) => name === tableName && families.some((one) => one === family));
  if (own.length === 0) return;
  const outcome = await nft.apply(own.map(({ family, name }) => `delete table ${family} ${name}\n`).join(""));
  if (outcome.is === "refused")
    throw new Error(
      `our tables (${own.map(({ family, name }) => `${family} ${name}`).join(", ")}) cannot be removed: ${outcome.why}`,
    );
}

const backends = ["iptables-nft", "ip6tables-nft", "iptables-legacy", "ip6tables-legacy"] as const;
type Backend = (typeof backends)[number];

/** Chains of its iptables mode, in whichever kind of iptables they are. */
async function removeChains({
  nft,
  namespace,
  log,
}: {
  readonly nft: Nft;
  readonly namespace?: string | undefined;
  readonly log: Log;
}): Promise<void> {
  const tables = nft.tables();
  for (const backend of backends) {
    const legacy = namespace === undefined ? await legacyTables(backend) : undefined;
    if (!mayHaveChains(backend, tables, legacy)) continue;
    const saved = await savedRules(`${backend}-save`, namespace);
    if (saved === "not installed")
      log.warn(
        "Chains of the original cannot be looked for: the kernel may have some, and the program is missing here",
        {
          program: `${backend}-save`,
        },
      );
    const restore = saved === undefined || saved === "not installed" ? "" : withoutCali(saved);
    if (restore === "") continue;
    await runProgram(`${backend}-restore`, ["--noflush"], { stdin: restore, namespace });
    log.info("Removed the chains of the original", { backend });
  }
}

const iptablesTables = ["raw", "mangle", "nat", "filter", "security"];

/**
 * False where the kernel has no table of that kind of iptables: to start four programs only to hear so is a tenth of what the start of an agent
 * costs, because the kernel copies the maps of our memory for each (docs/performance.md). `legacy` has the kernel's list of the older kind; undefined: it cannot be seen from here.
 */
export function mayHaveChains(backend: Backend, tables: readonly NftTable[], legacy: string | undefined): boolean {
  if (backend.endsWith("-legacy")) return legacy?.trim() !== "";
  return tables.some(({ family, name }) => family === familyOf(backend) && iptablesTables.includes(name));
}

const familyOf = (backend: Backend) => (backend.startsWith("ip6") ? "ip6" : "ip");

/** "": there is no such file, so the kernel does not have that kind. */
async function legacyTables(backend: Backend): Promise<string | undefined> {
  try {
    return await readFile(`/proc/net/${familyOf(backend)}_tables_names`, "utf8");
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "" : undefined;
  }
}

async function savedRules(
  program: string,
  namespace: string | undefined,
): Promise<string | "not installed" | undefined> {
  try {
    return (await runProgram(program, [], { namespace, maxOutputBytes: 64 << 20 })).stdout;
  } catch (error) {
    // A container's image may lack what the host, or another image, has used. Otherwise the kernel does not have it: then there is nothing of it.
    return error instanceof CattailError && error.code === "PROGRAM_NOT_FOUND" ? "not installed" : undefined;
  }
}

/** What iptables-restore has to do so that no chain of the original is left: the ways in first, then all chains at once. */
function withoutCali(saved: string): string {
  const tables: string[] = [];
  for (const block of saved.split(/^(?=\*)/m)) {
    const table = /^\*(\S+)/.exec(block)?.[1];
    const chains = [...block.matchAll(/^:(cali-\S+)/gm)].flatMap(([, name]) => name ?? []);
    if (table === undefined || chains.length === 0) continue;
    const jumps = [...block.matchAll(/^-A ((?!cali-)\S+ .*(?:-[jg] cali-\S+|cali:).*)$/gm)].map(
      ([, rule]) => `-D ${rule}`,
    );
    tables.push(
      [
        `*${table}`,
        ...jumps,
        ...chains.map((name) => `-F ${name}`),
        ...chains.map((name) => `-X ${name}`),
        "COMMIT",
        "",
      ].join("\n"),
    );
  }
  return tables.join("");
}
