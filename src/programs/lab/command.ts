// `cattail lab`: a cluster on this machine, in seconds, to try and to break.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { CattailError, isRecord, parseJson, plainLine } from "../../base/lib/index.ts";
import { callProgram } from "../../base/linux/index.ts";
import { wholeNumber } from "../shared/option-values.ts";
import { breakageList } from "./breakages/index.ts";
import { removeLab } from "./down.ts";
import { type KeeperOptions, keepLab } from "./keeper.ts";
import { matrixTable, type PingRow } from "./matrix-table.ts";
import { relayEnd, startRelay } from "./relay.ts";
import { childOf, defaultFolder, type LabMode, requireLab, socketOf } from "./state.ts";
import { startLab } from "./up.ts";

type FolderFlag = { folder: string };
type UpFlags = FolderFlag & {
  nodes: number;
  mode: LabMode;
  ipv6: boolean;
  datastore?: "directory";
  kubeconfig?: string;
  etcd?: string;
  dashboardPort: number;
};

export function labCommand(): Command {
  const command = new Command("lab").enablePositionalOptions().addHelpText(
    "after",
    `
Nodes are network namespaces on a switch, each with cattail node; pods are plugged in by the CNI plugin. Runs as root, or without root in a
user namespace where the kernel allows it.

Examples:
  cattail lab up                        three nodes, five pods, and a matrix of pings
  cattail lab up --mode bgp             the same with BIRD between them
  cattail lab exec pingtest-1 ping -c 3 10.244.28.64
  cattail lab break underlay            what clouds do; cattail lab ping shows it, cattail lab doctor names it
  cattail lab mend underlay
  cattail lab down`,
  );
  for (const child of [up(), ping(), pod(), exec(), breaking(), mend(), doctor(), status(), down(), keep(), relay()])
    command.addCommand(child, { hidden: ["keep", "relay"].includes(child.name()) });
  return command;
}

function withFolder(command: Command): Command {
  // Its nodes stand in other folders.
  const absolute = (path: string) => resolve(path);
  return command.option("--folder <path>", "where the lab keeps what it has", absolute, defaultFolder(process.env));
}

function up(): Command {
  return withFolder(new Command("up"))
    .description("build it, and ping from everybody to everybody")
    .option("--nodes <count>", "how many nodes", wholeNumber(1, 99), 3)
    .addOption(
      new Option("--mode <mode>", "how packets cross nodes: direct (routes), vxlan, or bgp (routes by BIRD)")
        .choices(["direct", "vxlan", "bgp"])
        .default("direct"),
    )
    .option("--ipv6", "IPv6 beside IPv4: nodes, pools and pods have both", false)
    .addOption(
      new Option("--datastore <type>", "keep everything in a folder, below the lab's own; the default")
        .choices(["directory"])
        .conflicts(["kubeconfig", "etcd"]),
    )
    .option("--kubeconfig <file>", "keep everything in this cluster's API server, not in a folder")
    .option("--etcd <urls>", "keep everything in this etcd, not in a folder")
    .option(
      "--dashboard-port <port>",
      "port of the dashboard on 127.0.0.1; another where it is taken, any with 0",
      wholeNumber(0, 65_535),
      9094,
    )
    .addHelpText("after", "\nExamples:\n  cattail lab up --nodes 2 --mode vxlan")
    .action(async ({ dashboardPort, ipv6: isDualStack, datastore: _, ...flags }: UpFlags) => {
      const say = (line: string) => void process.stdout.write(`${line}\n`);
      const beganMs = performance.now();
      const { rows, dashboard, datastore } = await startLab({ ...flags, isDualStack, dashboardPort, say });
      say(`\n${table(rows)}\n`);
      say(`Ready after ${((performance.now() - beganMs) / 1000).toFixed(1)} s. Dashboard: ${dashboard}`);
      say(`Datastore: ${datastore} cattail ctl get nodes`);
      say("Next: cattail lab break --list, cattail lab doctor, cattail lab down");
      failOnLoss(rows);
    });
}

function ping(): Command {
  return withFolder(new Command("ping"))
    .description("ping from everybody to everybody; exit code 1 when one has no answer")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExamples:\n  cattail lab ping -o json")
    .action(async ({ folder, output }: FolderFlag & { output: "text" | "json" }) => {
      const { rows } = (await ask(folder, "ping")) as { rows: PingRow[] }; // of the same program
      process.stdout.write(`${output === "json" ? JSON.stringify(rows, undefined, 2) : table(rows)}\n`);
      failOnLoss(rows);
    });
}

function pod(): Command {
  const add = withFolder(new Command("add"))
    .description("plug in a pod")
    .argument("<name>", "its name")
    .option("--node <name>", "on this node (default: the last)")
    .option("--pool <name>", "with an address of this pool")
    .addHelpText("after", "\nExamples:\n  cattail lab pod add web --node cka001 --pool ipv4-ippool-2")
    .action(async (name: string, { folder, ...body }: FolderFlag & { node?: string; pool?: string }) => {
      const { address } = (await ask(folder, "pod add", { name, ...body })) as { address: string }; // of the same program
      process.stdout.write(`${address}\n`);
    });
  const remove = withFolder(new Command("rm"))
    .description("unplug a pod")
    .argument("<name>", "its name")
    .addHelpText("after", "\nExamples:\n  cattail lab pod rm web")
    .action(async (name: string, { folder }: FolderFlag) => void (await ask(folder, "pod rm", { name })));
  return new Command("pod")
    .description("add and remove pods")
    .addHelpText("after", "\nExamples:\n  cattail lab pod add web")
    .addCommand(add)
    .addCommand(remove);
}

function exec(): Command {
  return withFolder(new Command("exec"))
    .description("run a command in a pod, or on a node")
    .argument("<where>", "name of a pod or a node")
    .argument("<command...>", "the command and its arguments")
    .passThroughOptions()
    .addHelpText(
      "after",
      "\nExamples:\n  cattail lab exec pingtest-1 ping -c 3 10.244.28.64\n  cattail lab exec cka002 ip route",
    )
    .action(execute);
}

type Status = {
  readonly nodes: readonly { name: string; address: string; address6?: string; pid: number; agent: string }[];
  readonly pods: readonly { name: string; node: string; address: string; address6?: string; pid: number }[];
  readonly mode: string;
  readonly datastore: string;
  readonly typha: string;
  readonly broken: readonly string[];
};

async function execute(where: string, words: string[], { folder }: FolderFlag): Promise<void> {
  const state = requireLab(folder);
  const { nodes, pods } = (await ask(folder, "status")) as Status; // of the same program
  const node = nodes.find(({ name }) => name === where);
  const pid = node?.pid ?? pods.find(({ name }) => name === where)?.pid;
  if (pid === undefined)
    throw new CattailError("LAB_NO_POD", {
      problem: `the lab has no pod and no node ${JSON.stringify(where)}`,
      next: `It has ${[...pods, ...nodes].map(({ name }) => name).join(", ")}`,
    });
  const keeper = childOf(state.pid);
  // Into the lab first, where the pod's process has its number, and then to the pod.
  const enter = [
    "--target",
    String(keeper),
    ...(state.isRootless ? ["--user", "--preserve-credentials"] : []),
    "--mount",
    "--pid",
    "--net",
    "--uts",
  ];
  const own = node === undefined ? ["--net"] : ["--net", "--mount", "--uts"];
  const child = spawn("nsenter", [...enter, "--", "nsenter", "--target", String(pid), ...own, "--", ...words], {
    stdio: "inherit",
  });
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

function breaking(): Command {
  return withFolder(new Command("break"))
    .description("break something, as it breaks in real clusters")
    .argument("[name]", "what; --list names all of them")
    .option("--list", "name, finding of the doctor, and what it is, one line each", false)
    .addHelpText("after", "\nExamples:\n  cattail lab break --list\n  cattail lab break forwarding")
    .action(async (name: string | undefined, { folder, list }: FolderFlag & { list: boolean }) => {
      if (list || name === undefined) return void process.stdout.write(`${breakageList()}\n`);
      const { says, code } = (await ask(folder, "break", { name })) as { says: string; code: string }; // of the same program
      process.stdout.write(`broken: ${says}\ncattail lab ping shows it; cattail lab doctor should say ${code}\n`);
    });
}

function mend(): Command {
  return withFolder(new Command("mend"))
    .description("mend what was broken")
    .argument("<name>", "what")
    .addHelpText("after", "\nExamples:\n  cattail lab mend forwarding")
    .action(async (name: string, { folder }: FolderFlag) => void (await ask(folder, "mend", { name })));
}

function doctor(): Command {
  return withFolder(new Command("doctor"))
    .description(
      "the doctor on every node of the lab: what is wrong, and what mends it; with two pods, on the way between them",
    )
    .argument("[from]", "a pod, a node or an address")
    .argument("[to]", "a pod, a node or an address")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExamples:\n  cattail lab doctor\n  cattail lab doctor pingtest-1 pingtest-3")
    .action(async (from: string | undefined, to: string | undefined, flags: FolderFlag & { output: string }) => {
      const { folder, output } = flags;
      const said = (await ask(folder, "doctor", { output, from, to })) as {
        code: number;
        stdout: string;
        stderr: string;
      }; // of the same program
      process.stdout.write(said.stdout);
      process.stderr.write(said.stderr);
      process.exitCode = said.code;
    });
}

function status(): Command {
  return withFolder(new Command("status"))
    .description("what the lab has, and what is broken")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExamples:\n  cattail lab status")
    .action(async ({ folder, output }: FolderFlag & { output: "text" | "json" }) => {
      const { dashboard, isRootless } = requireLab(folder);
      const found = (await ask(folder, "status")) as Status; // of the same program
      if (output === "json")
        return void process.stdout.write(`${JSON.stringify({ ...found, dashboard, isRootless }, undefined, 2)}\n`);
      const lines = [
        `mode ${found.mode}, datastore ${found.datastore}, Typha ${found.typha}, ${isRootless ? "without root" : "as root"}; folder ${folder}; dashboard ${dashboard}`,
        ...found.nodes.map((node) => `node  ${node.name}  ${addresses(node)}  agent ${node.agent}`),
        ...found.pods.map((pod) => `pod   ${pod.name}  ${addresses(pod)}  on ${pod.node}`),
        found.broken.length === 0 ? "nothing is broken" : `broken: ${found.broken.join(", ")}`,
      ];
      process.stdout.write(`${lines.join("\n")}\n`);
    });
}

function addresses({ address, address6 }: { address: string; address6?: string }): string {
  return [address, ...(address6 === undefined ? [] : [address6])].join("  ");
}

function down(): Command {
  return withFolder(new Command("down"))
    .description("remove everything of it, also after a crash")
    .addHelpText("after", "\nExamples:\n  cattail lab down")
    .action(async ({ folder }: FolderFlag) => {
      const { wasThere, stays } = await removeLab(folder);
      process.stdout.write(wasThere ? `the lab in ${folder} is gone\n` : `there is no lab in ${folder}\n`);
      if (stays === undefined) return;
      process.stderr.write(`its objects are still in the datastore that it was given: ${plainLine(stays)}\n`);
      process.exitCode = 1;
    });
}

/** What `lab up` starts inside. */
function keep(): Command {
  return new Command("keep").argument("<options>").action(async (text: string) => {
    const options = parseJson(text);
    if (isRecord(options)) await keepLab(options as KeeperOptions); // written by up.ts
  });
}

function relay(): Command {
  return new Command("relay")
    .argument("<from>")
    .argument("<to>")
    .argument("[file]")
    .action(async (from: string, to: string, file: string | undefined) => {
      await startRelay(relayEnd(from), relayEnd(to));
      if (file !== undefined) endWithout(file);
    });
}

const lookMs = 5_000;

/** Of who was started outside of a lab: nobody may stay when the lab goes, also where `lab up` died before it noted whom it had started. */
function endWithout(file: string): void {
  setInterval(() => {
    if (!existsSync(file)) process.exit(0);
  }, lookMs);
}

async function ask(folder: string, call: string, body?: object): Promise<unknown> {
  requireLab(folder);
  try {
    return await callProgram({ path: socketOf(folder), call, body, limitMs: 180_000 });
  } catch (error) {
    if (!(error instanceof CattailError) || error.code !== "CALL_NOBODY_LISTENS") throw error;
    throw new CattailError("LAB_NOT_RUNNING", {
      problem: `the lab in ${folder} is not ready: it is still being built, or who built it was killed`,
      next: "Wait until cattail lab up says that it is ready, or remove it: cattail lab down",
      cause: error,
    });
  }
}

function table(rows: readonly PingRow[]): string {
  const { isTTY, columns } = process.stdout;
  return matrixTable(rows, {
    isColoured: isTTY && (process.env.NO_COLOR ?? "") === "",
    columns: isTTY ? columns : undefined,
  });
}

function failOnLoss(rows: readonly PingRow[]): void {
  if (rows.some(({ sent, received }) => received < sent)) process.exitCode = 1;
}
