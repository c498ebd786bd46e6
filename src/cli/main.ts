// The command line: one file per command beside this one; here they only get their names.
import { Command } from "commander";

const program = new Command("cattail").description(
  "Calico's control path in TypeScript: a drop-in Typha and the tools around it.",
);
await program.parseAsync();
