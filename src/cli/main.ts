// The command line. Each command is a file beside this one; here they only get their order and their manners:
// an error says what was seen and what to do next, without a stack trace, and the exit code says how it went.
import { Command } from "commander";
import { certsCommand } from "./certs.ts";
import { completionCommand } from "./completion.ts";
import { demoCommand } from "./demo.ts";
import { fail } from "./fail.ts";
import { manifestsCommand } from "./manifests.ts";
import { typhaCommand } from "./typha.ts";
import { versionCommand } from "./version.ts";
import { watchCommand } from "./watch.ts";

const program = new Command("cattail")
  .description("Calico's control path in TypeScript: a drop-in Typha and the tools around it.")
  .showHelpAfterError("(run the same command with --help to see what it takes)")
  .addCommand(typhaCommand())
  .addCommand(demoCommand())
  .addCommand(watchCommand())
  .addCommand(certsCommand())
  .addCommand(manifestsCommand())
  .addCommand(completionCommand())
  .addCommand(versionCommand());

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
