// `cattail cni`: what there is, for people. Runtimes start both without this (main.ts).
import { Command } from "commander";
import { installCommand, uninstallCommand } from "./install/command.ts";

export function cniCommand(): Command {
  const command = new Command("cni").addHelpText(
    "after",
    "\nExamples:\n  cattail cni install\n  CNI_COMMAND=VERSION cattail cni ipam",
  );
  command
    .command("ipam")
    .description("give a container an address, or take it back (CNI's ADD, DEL, CHECK, STATUS, GC and VERSION)")
    .addHelpText(
      "after",
      `
A container runtime starts this, with variables (CNI_COMMAND, CNI_CONTAINERID, ...) and the network configuration on
standard input. In the place of Calico's own plugin it is a link:
  ln -s "$(command -v cattail)" /opt/cni/bin/calico-ipam

Examples:
  CNI_COMMAND=VERSION cattail cni ipam`,
    );
  command
    .command("plugin")
    .description("connect a pod to its node, or take it off (CNI's ADD, DEL, CHECK, STATUS, GC and VERSION)")
    .addHelpText(
      "after",
      `
A container runtime starts this, with variables (CNI_COMMAND, CNI_CONTAINERID, ...) and the network configuration on
standard input. In the place of Calico's own plugin it is a link:
  ln -s "$(command -v cattail)" /opt/cni/bin/calico

Examples:
  CNI_COMMAND=VERSION cattail cni plugin`,
    );
  command.addCommand(installCommand());
  command.addCommand(uninstallCommand());
  return command;
}
