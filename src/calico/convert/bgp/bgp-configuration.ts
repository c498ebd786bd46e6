// BGPConfiguration, passed through.
import { bgpConfigurationSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpConfigurationProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPConfiguration",
    schema: bgpConfigurationSpec,
    problem: ({ spec }) => specProblems("BGPConfiguration", spec)[0],
  });
}
