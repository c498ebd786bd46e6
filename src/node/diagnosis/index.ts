// What is wrong with nodes and the ways between them. Facts are collected at the edge (read/), findings are made from them by pure functions
// (checks/); the facts of several hosts together say more than each alone.
//
//   datastore ─▶ readCluster ─┐
//   kernel, files, probes ─▶ readHost (one for each host) ─┴─▶ diagnose ─▶ findings: code, what was seen, evidence, fix
export { type CatalogueEntry, type Level, type NodeFindingCode, nodeCatalogue, nodeFindingCodes } from "./catalogue.ts";
export { forwardingOf } from "./checks/host.ts";
export { diagnose } from "./diagnose.ts";
export type * from "./facts.ts";
export { factsOf, familiesOf, type WholeCluster, type WholeFacts, type WholeHost } from "./families.ts";
export { finding, findingJson, type NodeFinding } from "./finding.ts";
export { findEnds, type PathEnd, type PathEnds } from "./path/ends.ts";
export { type Station, type Walk, type WalkOptions, walkPath } from "./path/walk.ts";
export { type ClusterOptions, readCluster } from "./read/cluster.ts";
export { type HostOptions, readHost } from "./read/host.ts";
export { pluginRights } from "./read/rights.ts";
export { pingVerdict, readPolicyData, subjectOf, tunnelSource } from "./read/verdicts.ts";
