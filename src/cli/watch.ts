// `cattail watch`: follow any Typha and show what it serves. A table in a terminal, JSON lines for programs.
import { Command, Option } from "commander";
import { type ClientTls, follow, type SetUpdate, type Update } from "../client/index.ts";
import { CattailError } from "../lib/index.ts";
import { pathToKey, type SyncerType, syncerTypes, syncStatus } from "../model/index.ts";
import { WatchScreen } from "./watch-screen.ts";

export type WatchFlags = {
  server: string[];
  type: SyncerType;
  keys: string[];
  output: "table" | "json";
  until?: "in-sync";
  stats: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  serverCn?: string;
  serverUri?: string;
  plaintext: boolean;
  legacyKeys: boolean;
  compression: "snappy" | "zstd" | "none";
};

export function watchCommand(): Command {
  const gather = (value: string, before: string[] = []) => [...before, value];
  return new Command("watch")
    .description("follow a Typha, ours or the original, and show what it serves")
    .requiredOption("--server <host:port>", "where it listens, may be given several times", gather)
    .addOption(new Option("--type <syncer>", "which data set").choices(syncerTypes).default("felix"))
    .option("--keys <pattern>", "only keys that match; * stands for anything; may be given several times", gather, [])
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "json"]).default("table"))
    .addOption(new Option("--until <state>", "stop there").choices(["in-sync"]))
    .option("--stats", "print keys per kind, bytes and rate instead of the keys", false)
    .option("--ca <file>", "CA that signed the server's certificate")
    .option("--cert <file>", "our certificate")
    .option("--key <file>", "our private key")
    .option(
      "--server-cn <name>",
      "common name the server must have (default: calico-typha unless --server-uri is given)",
    )
    .option("--server-uri <uri>", "URI SAN the server must have")
    .option("--plaintext", "without TLS", false)
    .option("--legacy-keys", "ask as a client of v3.31 or older does", false)
    .addOption(
      new Option("--compression <algorithm>", "what to offer").choices(["snappy", "zstd", "none"]).default("snappy"),
    )
    .addHelpText(
      "after",
      `
Examples:
  cattail watch --server 127.0.0.1:5473 --ca certs/typhaca.crt --cert certs/calico-node.crt --key certs/calico-node.key
  cattail watch --server typha:5473 --plaintext --type bgp --until in-sync -o json
  cattail watch … --keys '/calico/v1/host/*/workload/*' --stats`,
    )
    .action(async (flags: WatchFlags) => watch(flags));
}

async function watch(flags: WatchFlags): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const isWanted = patternMatcher(flags.keys);
  const screen =
    flags.output === "json" ? undefined : new WatchScreen({ stats: flags.stats, isTerminal: process.stdout.isTTY });
  const updates = follow({
    servers: flags.server,
    type: flags.type,
    signal: stop.signal,
    info: "cattail watch",
    compression: flags.compression === "none" ? [] : [flags.compression],
    policyKeys: flags.legacyKeys ? "legacy" : "modern",
    // A person at a terminal wants to hear what is wrong, not to wait for a server that never comes.
    maxFailures: 3,
    ...tlsOf(flags),
  });
  for await (const update of updates) {
    if (update.is !== "status" && !isWanted(update.path)) continue;
    if (screen === undefined) process.stdout.write(`${jsonLine(update)}\n`);
    else screen.show(update);
    if (flags.until === "in-sync" && update.is === "status" && update.status === syncStatus.inSync) break;
  }
  screen?.close();
}

function tlsOf(flags: WatchFlags): { tls?: ClientTls } {
  const { ca, cert, key } = flags;
  if (flags.plaintext) return {};
  if (ca === undefined || cert === undefined || key === undefined) {
    const missing = Object.entries({ "--ca": ca, "--cert": cert, "--key": key }).filter(
      ([, value]) => value === undefined,
    );
    throw new CattailError("WATCH_TLS_INCOMPLETE", {
      problem: `mutual TLS needs --ca, --cert and --key, and ${missing.map(([name]) => name).join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`,
      next: "Give all three (cattail certs makes them), or --plaintext for a server that runs without TLS",
    });
  }
  const commonName = flags.serverCn ?? (flags.serverUri === undefined ? "calico-typha" : undefined);
  const server = {
    ...(commonName === undefined ? {} : { commonName }),
    ...(flags.serverUri === undefined ? {} : { uriSan: flags.serverUri }),
  };
  return { tls: { caFile: ca, certFile: cert, keyFile: key, server } };
}

const statusNames = ["wait-for-ready", "resync", "in-sync"] as const;

function jsonLine(update: Update): string {
  if (update.is === "status") return JSON.stringify({ status: statusNames[update.status] });
  const kind = pathToKey(update.path)?.is ?? "unknown";
  if (update.is === "delete") return JSON.stringify({ delete: { key: update.path, kind } });
  const { path, revision, v3ResourceVersion, isNew } = update;
  return JSON.stringify({ set: { key: path, kind, value: valueForJson(update), revision, v3ResourceVersion, isNew } });
}

// JSON values are nested as they are; text that is no JSON stays text.
function valueForJson({ value }: SetUpdate): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Patterns are matched from the left, with * for any run of characters: no regular expression of the user's. */
export function patternMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => true;
  const parsed = patterns.map((pattern) => pattern.split("*"));
  return (path) => parsed.some((parts) => matchesParts(path, parts));
}

function matchesParts(path: string, parts: readonly string[]): boolean {
  const [first = "", ...rest] = parts;
  if (!path.startsWith(first)) return false;
  if (rest.length === 0) return path === first;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return path.length - at >= last.length && path.endsWith(last);
}
