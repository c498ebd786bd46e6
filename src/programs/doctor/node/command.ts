// `cattail doctor node` and `cattail doctor path`: this host, and the way of a packet between two pods.
import { Command, Option } from "commander";
import { CattailError, silentLog, systemClock } from "../../../base/lib/index.ts";
import { type Datastore, type DatastoreOptions, openDatastore } from "../../../calico/datastore/index.ts";
import { diagnose, findingJson } from "../../../node/diagnosis/index.ts";
import { nodeDatastoreOptions } from "../../../node/settings/index.ts";
import { gather } from "../../shared/option-values.ts";
import { exitCodeOf } from "../finding.ts";
import { reportText } from "../report.ts";
import { type NodeOptions, readFacts, sectionsOf } from "./examine-node.ts";

type NodeFlags = {
  node?: string;
  facts: string[];
  kubeconfig?: string;
  etcd?: string;
  directory?: string;
  output: "text" | "json" | "facts";
};

const patienceMs = 120_000;

export function nodeCommand(): Command {
  return withDatastore(new Command("node"))
    .description(
      "check this host: address, routes, forwarding, firewalls, MTU, BGP, the CNI plugin's files, and whether pods answer",
    )
    .option("--node <name>", "name of this node (or NODENAME; default: as the agent finds it)")
    .option("--facts <file>", "facts of another host, made there by -o facts; may be given several times", gather, [])
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

export function withDatastore(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "credentials of the API server (or KUBECONFIG)")
    .option("--etcd <urls>", "endpoints of etcd (or ETCD_ENDPOINTS)")
    .option("--directory <folder>", "folder of manifests as the datastore (or DATASTORE_DIRECTORY)");
}

async function examine(flags: NodeFlags): Promise<void> {
  process.exitCode = 2; // until it is known better
  await using datastore = await openDatastore(datastoreOf(flags, process.env), { clock: systemClock, log: silentLog });
  const facts = await readFacts(optionsOf(flags, datastore));
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

export function optionsOf(flags: Pick<NodeFlags, "node" | "facts">, datastore: Datastore): NodeOptions {
  return {
    environment: process.env,
    name: flags.node,
    facts: flags.facts,
    datastore,
    nowMs: systemClock.wallMs(),
    signal: AbortSignal.timeout(patienceMs),
  };
}

export function datastoreOf(
  { kubeconfig, etcd, directory }: Pick<NodeFlags, "kubeconfig" | "etcd" | "directory">,
  environment: NodeJS.ProcessEnv,
): DatastoreOptions {
  const given = [kubeconfig, etcd, directory].filter((each) => each !== undefined).length;
  if (given > 1)
    throw new CattailError("DOCTOR_DATASTORE", {
      problem: "more than one datastore is given",
      next: "Give one of --kubeconfig, --etcd and --directory",
    });
  if (kubeconfig !== undefined) return { type: "kubernetes", kubeconfig };
  if (etcd !== undefined) return { type: "etcdv3", endpoints: etcd.split(",") };
  if (directory !== undefined) return { type: "directory", path: directory };
  return nodeDatastoreOptions(environment);
}
