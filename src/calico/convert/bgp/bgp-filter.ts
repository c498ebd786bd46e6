// BGPFilter, passed through.
import { bgpFilterSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpFilterProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPFilter",
    schema: bgpFilterSpec,
    problem: ({ spec }) => specProblems("BGPFilter", spec)[0],
  });
}
