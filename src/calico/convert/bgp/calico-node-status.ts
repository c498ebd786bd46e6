// CalicoNodeStatus, passed through with its status.
import { calicoNodeStatusSpec, calicoNodeStatusStatus, specProblems } from "../../kinds/index.ts";
import { readSchema } from "../../model/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createCalicoNodeStatusProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "CalicoNodeStatus",
    schema: calicoNodeStatusSpec,
    problem: ({ spec }) => specProblems("CalicoNodeStatus", spec)[0],
    status: (status) => calicoNodeStatusStatus.go.write(readSchema(calicoNodeStatusStatus, status ?? {}, "status")),
  });
}
