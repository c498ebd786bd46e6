// `cattail doctor path`: the way between two pods, there and back, and the one cause why it is broken.
import { Command, Option } from "commander";
import { CattailError, parseAddress, plainLine, plainText, silentLog, systemClock } from "../../../base/lib/index.ts";
import { openDatastore } from "../../../calico/datastore/index.ts";
import {
  findEnds,
  findingJson,
  type PathEnd,
  pingVerdict,
  readPolicyData,
  subjectOf,
  tunnelSource,
  type Walk,
  type WholeCluster,
  walkPath,
} from "../../../node/diagnosis/index.ts";
import { gather } from "../../shared/option-values.ts";
import { type DatastoreFlags, datastoreOf, optionsOf, withDatastore } from "./datastore-flags.ts";
import { readFacts } from "./examine-node.ts";

type PathFlags = DatastoreFlags & {
  namespace: string;
  output: "text" | "json";
};

export function pathCommand(): Command {
  return withDatastore(new Command("path"))
    .description(
      "walk the way of a packet between two pods, there and back: policies, interfaces, routes, tunnels; and name what breaks it",
    )
    .argument("<from>", "NAMESPACE/POD, a node, or an address")
    .argument("<to>", "NAMESPACE/POD, a node, or an address")
    .option("-n, --namespace <name>", "namespace of pods without one", "default")
    .option("--node <name>", "name of this node (or NODENAME; default: as the agent finds it)")
    .option("--facts <file>", "facts of the other node, made there by: cattail doctor node -o facts", gather, [])
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addHelpText(
      "after",
      `
Run it on the node of one of the two. What lies on the other node is looked at where its facts are given.
The exit code is 0 when nothing is wrong, 1 when something could not be looked at, 2 when the path is broken.

Examples:
  cattail doctor path shop/web shop/db
  cattail doctor path 10.244.31.0 10.244.28.64 --facts cka003.json`,
    )
    .action(examine);
}

async function examine(from: string, to: string, flags: PathFlags): Promise<void> {
  process.exitCode = 2; // until it is known better
  await using datastore = await openDatastore(datastoreOf(flags, process.env), { clock: systemClock, log: silentLog });
  const options = optionsOf(flags, datastore);
  const asked = [from, to].map((end) =>
    end.includes("/") || parseAddress(end) !== undefined ? end : `${flags.namespace}/${end}`,
  );
  const facts = await readFacts({ ...options, asked });
  requireNodes(facts.cluster);
  const paths = findEnds({ from, to, namespace: flags.namespace }, facts.cluster);
  const data = await readPolicyData(datastore, options.signal);
  const walks = paths.map((ends) => {
    const subject = ({ is, name, address }: PathEnd) =>
      is === "address" ? address : subjectOf(name, ends.family, facts.cluster);
    const { from, to, family } = ends;
    const source =
      from.is === "node"
        ? tunnelSource({ from: from.name, to: to.node ?? "", address: to.address }, facts.cluster)
        : undefined;
    const verdict = pingVerdict({ from: subject(from), to: subject(to), family, source }, data);
    return walkPath({ ...ends, facts, verdict });
  });
  const isColoured = process.stdout.isTTY && (process.env.NO_COLOR ?? "") === "";
  const text = () => walks.map((walk) => walkText(walk, isColoured)).join("\n\n");
  process.stdout.write(`${flags.output === "json" ? walksJson(walks) : text()}\n`);
  process.exitCode = Math.max(...walks.map(exitCodeOfWalk));
}

/** Without them no end of a path is known, and to say that there is no such pod would mislead. */
function requireNodes({ nodes, unreadable }: WholeCluster): void {
  const problem = unreadable.find(({ what }) => what === "Node");
  if (nodes.length > 0 || problem === undefined) return;
  throw new CattailError("DATASTORE", {
    problem: `the datastore cannot be read: ${problem.why}`,
    next: "Check that its server runs, can be reached from here, and knows these credentials",
  });
}

function exitCodeOfWalk({ cause, stations }: Walk): 0 | 1 | 2 {
  if (cause !== undefined) return 2;
  return stations.some(({ is }) => is === "unseen") ? 1 : 0;
}

/** One for each family of addresses that both ends have. */
function walksJson(walks: readonly Walk[]): string {
  const told = walks.map(({ cause, others, ...rest }) => ({
    ...rest,
    cause: cause === undefined ? null : findingJson(cause),
    others: others.map(findingJson),
  }));
  return JSON.stringify({ exitCode: Math.max(...walks.map(exitCodeOfWalk)), paths: told }, undefined, 2);
}

const marks = {
  good: { text: "ok", colour: 32 },
  bad: { text: "BROKEN", colour: 31 },
  unseen: { text: "unseen", colour: 33 },
};

function walkText({ from, to, stations, cause, others }: Walk, isColoured: boolean): string {
  const colour = (text: string, code: number) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const end = ({ name, address, node }: Walk["from"]) =>
    `${name} (${[...(name === address ? [] : [address]), ...(node === undefined || node === name ? [] : [`on ${node}`])].join(", ")})`;
  const lines = stations.flatMap(({ where, is, what, command }) => [
    `  ${colour(marks[is].text.padEnd(7), marks[is].colour)}  ${plainLine(where)}: ${plainLine(what)}`,
    ...(command === undefined ? [] : [`           run: ${command}`]),
  ]);
  const verdict =
    cause === undefined
      ? ["Nothing that was looked at breaks this path."]
      : [
          `${colour("Cause", 31)}: ${plainText(cause.what)} (${cause.code})`,
          ...cause.evidence.map((line) => `  saw: ${plainLine(line)}`),
          `  why: ${cause.why}`,
          `  fix: ${cause.fix.replaceAll("\n", "\n       ")}`,
        ];
  const rest =
    others.length === 0
      ? []
      : [
          "",
          `Also found, not on this path: ${others.map(({ code, node }) => `${code}${node === "" ? "" : ` (${node})`}`).join(", ")}; cattail doctor node tells more`,
        ];
  return [`${end(from)} -> ${end(to)}, and back`, ...lines, "", ...verdict, ...rest].join("\n");
}
