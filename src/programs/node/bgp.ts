// `cattail node bgp`: BIRD's configuration alone, as confd keeps it.
import { join } from "node:path";
import { Command } from "commander";
import type { Part } from "../../node/part/index.ts";
import { type Around, type Asked, runAgentProcess } from "./agent-process.ts";
import { bgpParts } from "./parts.ts";

type Flags = { readonly runOnce: boolean; readonly confdir?: string };

export function bgpCommand(): Command {
  return new Command("bgp")
    .option("--run-once", "write the configuration once, and end", false)
    .option(
      "--confdir <folder>",
      "folder whose config/ is written, unless BIRD_CONFIG_DIR is set (default: /etc/calico/confd)",
    )
    .addHelpText(
      "after",
      `
Examples:
  NODENAME=node-1 BIRD_CONFIG_DIR=/etc/calico/confd/config cattail node bgp`,
    )
    .action(async ({ runOnce, confdir }: Flags) => {
      if (confdir !== undefined) process.env.BIRD_CONFIG_DIR ||= join(confdir, "config");
      const parts = async (around: Around) =>
        runOnce ? endingOnce(await bgpParts(around), around) : await bgpParts(around);
      await runAgentProcess({ component: "confd", followsSettings: false, parts });
    });
}

/** The part counts each configuration that it has put in place: after the first one it is done. */
function endingOnce({ parts, ...rest }: Asked, { stop }: Around): Asked {
  const once = (part: Part): Part => ({
    ...part,
    run: (world, signal) => {
      const observe: typeof world.metrics.observe = (name, ...observed) => {
        world.metrics.observe(name, ...observed);
        if (name === "cattail_bird_render_seconds") stop();
      };
      return part.run({ ...world, metrics: { ...world.metrics, observe } }, signal);
    },
  });
  return { ...rest, parts: parts.map(once) };
}
