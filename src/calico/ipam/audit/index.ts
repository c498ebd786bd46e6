// The audit, and what mends what it finds.
export {
  type Allocation,
  allocationsOf,
  attributeText,
  type HeldFor,
  takenAtNs,
} from "./allocations.ts";
export { type AuditReport, audit } from "./audit.ts";
export type { AddressTally } from "./check-addresses.ts";
export { blockFaults, invalidWords } from "./check-blocks.ts";
export type { HandleTally } from "./check-handles.ts";
export {
  type Finding,
  type FindingCode,
  findingCodes,
  fixCommand,
  type Mend,
  type Patience,
} from "./finding.ts";
export { mendFindings, mendOne } from "./mend/mend.ts";
export {
  type MendAnswer,
  type MendStep,
  type MendSteps,
  NotAnswered,
  type Question,
  type Reply,
  within,
} from "./mend/mend-step.ts";
export type { Mended, MendOptions, MendResult } from "./mend/mended.ts";
export { type AuditMemory, isRipe, type PatienceLimits, remember, usualPatience } from "./patience.ts";
export { type Audited, type LooseBlock, readLoosely, type Unreadable } from "./stored.ts";
export {
  type AddressUse,
  canonicalAddress,
  type NodeObject,
  type ServiceObject,
  type StartingPod,
  type Tunnel,
  type User,
  userText,
  usesOfNode,
  usesOfService,
  usesOfWorkload,
  type WorkloadObject,
} from "./uses.ts";
