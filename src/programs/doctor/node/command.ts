// `cattail doctor node` and `cattail doctor path`: this host, and the way of a packet between two pods.
import { Command, Option } from "commander";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { openDatastore } from "../../../calico/datastore/index.ts";
import { diagnose, findingJson } from "../../../node/diagnosis/index.ts";
import { gather } from "../../shared/option-values.ts";
import { exitCodeOf } from "../finding.ts";
import { reportText } from "../report.ts";
import { type DatastoreFlags, datastoreOf, optionsOf, withDatastore } from "./datastore-flags.ts";
import { readFacts, sectionsOf } from "./examine-node.ts";

type NodeFlags = DatastoreFlags & {
  pod: string[];
  output: "text" | "json" | "facts";
};

export function nodeCommand(): Command {
  return withDatastore(new Command("node"))
    .description(
      "check this host: address, routes, forwarding, firewalls, MTU, BGP, the CNI plugin's files, and whether pods answer",
    )
    .option("--node <name>", "name of this node (or NODENAME; default: as the agent finds it)")
    .option("--facts <file>", "facts of another host, made there by -o facts; may be given several times", gather, [])
    .option("--pod <namespace/name>", "a pod to ping in any case; may be given several times", gather, [])
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json", "facts"]).default("text"))
    .addHelpText(
      "after",
      `
Nothing is changed; pings are sent to nodes and pods. Run it as root on the node, or in its pod with hostNetwork.
The exit code is 0 when all is well, 1 with warnings, 2 when something is broken.

Examples:
  cattail doctor node                                       with the environment of the agent
  cattail doctor node --kubeconfig /etc/kubernetes/admin.conf
  cattail doctor node -o facts > cka003.json                on another node, and then here:
  cattail doctor node --facts cka003.json                   two sides say more than one`,
    )
    .action(examine);
}

async function examine(flags: NodeFlags): Promise<void> {
  process.exitCode = 2; // until it is known better
  await using datastore = await openDatastore(datastoreOf(flags, process.env), { clock: systemClock, log: silentLog });
  const facts = await readFacts({ ...optionsOf(flags, datastore), asked: flags.pod });
  if (flags.output === "facts") {
    process.stdout.write(`${JSON.stringify(facts.hosts[0])}\n`);
    process.exitCode = 0;
    return;
  }
  const findings = diagnose(facts);
  const sections = sectionsOf({ facts, findings });
  const exitCode = exitCodeOf(sections);
  const isColoured = process.stdout.isTTY && (process.env.NO_COLOR ?? "") === "";
  process.stdout.write(
    `${flags.output === "json" ? JSON.stringify({ exitCode, findings: findings.map(findingJson) }, undefined, 2) : reportText(sections, { isColoured })}\n`,
  );
  process.exitCode = exitCode;
}
