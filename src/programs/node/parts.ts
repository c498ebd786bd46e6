// Which parts each command runs, and the rows of metrics that they bring. Rooms are loaded here and nowhere else, each when it is needed.
import type { MetricTable } from "../../base/observe/index.ts";
import type { Part } from "../../node/part/index.ts";

type Asked = { readonly parts: readonly Part[]; readonly metrics: readonly MetricTable[] };

export async function felixParts(): Promise<Asked> {
  const { policyPart, policyMetricRows } = await import("../../node/dataplane/index.ts");
  return { parts: [policyPart()], metrics: [policyMetricRows] };
}

export async function bgpParts(): Promise<Asked> {
  return { parts: [], metrics: [] };
}

export async function allParts(): Promise<Asked> {
  return await felixParts();
}
