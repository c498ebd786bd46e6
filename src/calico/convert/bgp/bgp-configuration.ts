// BGPConfiguration, passed through.
import { bgpConfigurationSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";
import type { BgpOptions } from "./bgp-options.ts";

export function createBgpConfigurationProcessor({ passesFaulty = false }: BgpOptions = {}): Processor {
  return createPassThroughProcessor({
    passesFaulty,
    kind: "BGPConfiguration",
    schema: bgpConfigurationSpec,
    problem: ({ spec }) => specProblems("BGPConfiguration", spec)[0],
  });
}
