// `cattail watch`: follow any Typha and show what it serves. A table in a terminal, JSON lines for programs.
import { once } from "node:events";
import { Command, Option } from "commander";
import { CattailError, type Log, plainLine, silentLog } from "../../base/lib/index.ts";
import { loadTlsMaterial } from "../../base/security/index.ts";
import { keyKind, type SyncerType, syncerTypes, syncStatus } from "../../calico/model/index.ts";
import { followBatches, keyOf, optionsFromEnvironment, type SetUpdate, type Update } from "../../typha/client/index.ts";
import { isPlainText } from "../../typha/client/parts.ts";
import { gather } from "../shared/option-values.ts";
import { type TlsFlags, tlsOf, tlsOptions } from "../shared/server-flags.ts";
import { patternMatcher } from "./key-patterns.ts";
import { linesView, type Screen, statsView, tableView, type WatchView } from "./watch-views.ts";

type WatchFlags = TlsFlags & {
  server: string[];
  type: SyncerType;
  keys: string[];
  output: "table" | "json";
  until?: "in-sync";
  stats: boolean;
  legacyKeys: boolean;
  compression: "snappy" | "zstd" | "none";
};

export function watchCommand(): Command {
  const command = new Command("watch")
    .option(
      "--server <host:port>",
      "address of the server (or FELIX_TYPHAADDR); several are tried one after another",
      gather,
      [],
    )
    .addOption(new Option("--type <syncer>", "data set to follow").choices(syncerTypes).default("felix"))
    .option(
      "--keys <pattern>",
      "only keys that match the pattern (* matches anything); may be given several times",
      gather,
      [],
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json"]).default("table"))
    .addOption(new Option("--until <state>", "exit when the server is in this state").choices(["in-sync"]))
    .option("--stats", "print keys per kind, bytes and rate instead of the keys", false)
    .option("--legacy-keys", "connect like a client of v3.31 or older", false)
    .addOption(
      new Option("--compression <algorithm>", "compression to offer")
        .choices(["snappy", "zstd", "none"])
        .default("snappy"),
    );
  return tlsOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  cattail watch --server 127.0.0.1:5473 --certs certs
  cattail watch --server typha:5473 --ca ca.crt --cert node.crt --key node.key
  cattail watch --server typha:5473 --plaintext --type bgp --until in-sync -o json
  cattail watch … --keys '/calico/v1/host/*/workload/*'
  cattail watch … --until in-sync --stats`,
    )
    .action(watch);
}

async function watch(flags: WatchFlags): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  // Whoever read our output has gone (head, for one): that is no error of ours.
  process.stdout.once("error", () => stop.abort());
  const isWanted = patternMatcher(flags.keys);
  const servers = serversOf(flags);
  const tls = tlsOf(flags, process.env);
  // Each connection reads them anew; files that are wrong from the start are said once, rather than tried again.
  if (tls !== undefined) await loadTlsMaterial(tls);
  const view = flags.output === "json" ? undefined : viewOf(flags);
  const batches = followBatches({
    servers,
    type: flags.type,
    signal: stop.signal,
    info: "cattail watch",
    compression: flags.compression === "none" ? [] : [flags.compression],
    policyKeys: flags.legacyKeys ? "legacy" : "modern",
    // A person at a terminal wants to hear what is wrong, not to wait for a server that never comes.
    maxFailures: 3 + flags.server.length,
    log: view === undefined || !process.stdout.isTTY ? complaints() : silentLog,
    ...(tls === undefined ? {} : { tls }),
  });
  const ticking = setInterval(() => view?.tick(performance.now()), 200);
  try {
    for await (const batch of batches) {
      const wanted = batch.filter((update) => update.is === "status" || isWanted(update.path));
      const end = flags.until === "in-sync" ? wanted.findIndex(isInSync) : -1;
      const shown = end < 0 ? wanted : wanted.slice(0, end + 1);
      if (view === undefined) await print(shown.map((update) => `${jsonLine(update)}\n`).join(""));
      else for (const update of shown) view.take(update, performance.now());
      if (view !== undefined && process.stdout.writableNeedDrain) await drained();
      if (end >= 0) break;
    }
  } finally {
    clearInterval(ticking);
    view?.close(performance.now());
  }
}

function viewOf(flags: WatchFlags): WatchView {
  const { stdout } = process;
  const screen: Screen = {
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
    write: (text) => void stdout.write(text),
  };
  const title = flags.server.length === 0 ? flags.type : `${flags.type} of ${flags.server.join(", ")}`;
  const nowMs = performance.now();
  if (flags.stats) return statsView(screen, { isTerminal: stdout.isTTY, title, nowMs });
  return stdout.isTTY ? tableView(screen, { title, nowMs }) : linesView(screen);
}

// A pipe that is full slows us down, and we the server; nothing piles up in between.
async function print(text: string): Promise<void> {
  if (text !== "" && !process.stdout.write(text)) await drained();
}

async function drained(): Promise<void> {
  await Promise.race([once(process.stdout, "drain"), once(process.stdout, "close")]).catch(() => undefined); // its error stops us
}

/**
 * Says what is wrong, and not again while it stays the same. What to do about it is said once, in the error at the end if
 * it is none that passes.
 */
function complaints(): Log {
  const said = new Set<unknown>();
  return {
    ...silentLog,
    info: () => said.clear(), // connected
    warn: (_, fields) => {
      const reason = fields?.reason;
      if (!said.has(reason)) console.error(`cattail: trying again: ${plainLine(String(reason))}`);
      said.add(reason);
    },
  };
}

function serversOf(flags: WatchFlags) {
  const servers = flags.server.length > 0 ? flags.server : optionsFromEnvironment(process.env).servers;
  if (servers !== undefined) return servers;
  throw new CattailError("WATCH_NO_SERVER", {
    problem: "no server is named",
    next: "Give --server HOST:PORT, or set FELIX_TYPHAADDR or FELIX_TYPHAK8SSERVICENAME as on the nodes",
  });
}

function isInSync(update: Update): boolean {
  return update.is === "status" && update.status === syncStatus.inSync;
}

const statusNames = ["wait-for-ready", "resync", "in-sync"] as const;

function jsonLine(update: Update): string {
  if (update.is === "status") return JSON.stringify({ status: statusNames[update.status] });
  const kind = keyKind(update.path);
  if (update.is === "delete") return JSON.stringify({ delete: { key: update.path, kind, why: update.why } });
  const { path, revision, v3ResourceVersion, isNew } = update;
  const rest = JSON.stringify({ revision, v3ResourceVersion, isNew }).slice(1, -1);
  return `{"set":{"key":${JSON.stringify(path)},"kind":"${kind}","value":${valueJson(update)},${rest}}}`;
}

// JSON is nested as it came, byte for byte: read and written again, integers beyond 2^53 would change. Text that is no
// JSON becomes a string.
function valueJson(update: SetUpdate): string {
  if (isPlainText(keyOf(update))) return JSON.stringify(update.value);
  try {
    JSON.parse(update.value);
  } catch {
    return JSON.stringify(update.value); // not what the key promises, and shown as it is
  }
  return update.value.replace(/[\r\n]+/g, " "); // between tokens only, or it would not have parsed
}
