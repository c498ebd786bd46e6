// `cattail node drops`: denied packets of this node as they happen, each with the policy that denied it.
import { Command } from "commander";
import { plainLine } from "../../base/lib/index.ts";
import { type Drop, drops } from "../../node/dataplane/index.ts";
import { fail } from "../shared/fail.ts";

type Options = { readonly output?: string; readonly count?: string };

export function dropsCommand(): Command {
  return new Command("drops")
    .option("-o, --output <format>", "json: a line of JSON for each packet")
    .option("-n, --count <number>", "end after so many packets")
    .addHelpText(
      "after",
      `
Shows samples, so many a second for each rule: set FELIX_DROPSAMPLESPERSECOND for the agent (or
dropSamplesPerSecond by any other way that settings come). Without it nothing is sampled, and nothing is shown.
Run as root, on the node.

Examples:
  cattail node drops
  cattail node drops -n 10 -o json`,
    )
    .action((options: Options) => void follow(options).catch(fail));
}

async function follow({ output, count }: Options): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let left = count === undefined ? Number.POSITIVE_INFINITY : Number(count);
  for await (const drop of drops({ signal: stop.signal })) {
    process.stdout.write(`${output === "json" ? JSON.stringify(drop) : plainLine(lineOf(drop))}\n`);
    left -= 1;
    if (left <= 0) return;
  }
}

export function lineOf(drop: Drop): string {
  const end = (address: string, port: number | undefined) =>
    port === undefined ? address : address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  const { protocol, source, sourcePort, destination, destinationPort, icmp, inInterface, outInterface, by } = drop;
  const what = icmp === undefined ? protocol : `${protocol} ${icmp.type}/${icmp.code}`;
  const way = `${inInterface ?? "this node"} to ${outInterface ?? "this node"}`;
  return `${what} ${end(source, sourcePort)} > ${end(destination, destinationPort)} (${way}): ${by}`;
}
