// `cattail node`: the agent of a node, and what is asked beside it. The table below is the list of its commands; each is a file beside this
// one that makes its Command, and is loaded only when it is the one that was asked for: a probe that runs every ten seconds should not
// wait for the agent's modules.
import { Command } from "commander";

type Row = {
  readonly name: string;
  readonly says: string;
  /** The Command itself: its options, examples and action. Name and description are given here. */
  readonly load: () => Promise<() => Command>;
};

const rows: readonly Row[] = [
  {
    name: "run",
    says: "the whole agent: start-up, routes, policies, BIRD's configuration, the plugins' socket, health, metrics",
    load: async () => (await import("./run.ts")).runCommand,
  },
  {
    name: "felix",
    says: "policies and routes alone: what Felix does, with its FELIX_* settings",
    load: async () => (await import("./felix.ts")).felixCommand,
  },
  {
    name: "bgp",
    says: "BIRD's configuration alone: what confd does",
    load: async () => (await import("./bgp.ts")).bgpCommand,
  },
  {
    name: "startup",
    says: "find the node's name and address, register it, make default pools and configuration, write the name file; then exit",
    load: async () => (await import("./lifecycle/startup.ts")).startupCommand,
  },
  {
    name: "shutdown",
    says: "mark the node as being without a network, and write down when",
    load: async () => (await import("./lifecycle/shutdown.ts")).shutdownCommand,
  },
  {
    name: "hand-over",
    says: "give the node back to Calico's own agent: our packet rules go, once its own are there",
    load: async () => (await import("./lifecycle/hand-over.ts")).handOverCommand,
  },
  {
    name: "health",
    says: "what probes ask: is the agent live or ready, does BIRD answer, are its sessions up",
    load: async () => (await import("./lifecycle/health.ts")).healthCommand,
  },
  {
    name: "status",
    says: "what BIRD says of this node's sessions and routes",
    load: async () => (await import("./status.ts")).statusCommand,
  },
  {
    name: "complete-startup",
    says: "wait for the daemons, then mark the node as having a network",
    load: async () => (await import("./lifecycle/complete-startup.ts")).completeStartupCommand,
  },
  {
    name: "allocate-tunnel-addrs",
    says: "see to it that the node has the tunnel addresses that its pools ask for",
    load: async () => (await import("./lifecycle/tunnel-addresses.ts")).tunnelAddressesCommand,
  },
  {
    name: "monitor-addresses",
    says: "keep the Node's address up to date",
    load: async () => (await import("./lifecycle/host.ts")).monitorAddressesCommand,
  },
  {
    name: "monitor-token",
    says: "keep the token in the CNI plugin's kubeconfig fresh",
    load: async () => (await import("./services.ts")).monitorTokenCommand,
  },
  {
    name: "node-services",
    says: "what calico/node runs beside Felix and confd: the end of start-up, tunnel addresses, monitors, node status",
    load: async () => (await import("./services.ts")).nodeServicesCommand,
  },
  {
    name: "hostpath-init",
    says: "make the folders of a calico-node that does not run as root",
    load: async () => (await import("./lifecycle/host.ts")).hostPathInitCommand,
  },
  {
    name: "init",
    says: "nothing: accepted because manifests have it",
    load: async () => (await import("./lifecycle/host.ts")).initCommand,
  },
  {
    name: "policies",
    says: "what each rule on this node has let pass and denied, as the kernel has counted it",
    load: async () => (await import("./policies.ts")).policiesCommand,
  },
  {
    name: "drops",
    says: "denied packets as they happen, each with the policy that denied it",
    load: async () => (await import("./drops.ts")).dropsCommand,
  },
];

/** `asked`: the words after `node`, of which only the command that they ask for is loaded; undefined loads all, for completion. */
export async function nodeCommand(asked: readonly string[] | undefined): Promise<Command> {
  const command = new Command("node").addHelpText("after", "\nExamples:\n  cattail node run --help");
  const [first] = asked?.[0] === "help" ? asked.slice(1) : (asked ?? []);
  for (const { name, says, load } of rows) {
    if (asked === undefined || first === name) command.addCommand((await load())().name(name).description(says));
    else command.command(name).description(says);
  }
  return command;
}
