// Address management: blocks, affinities and handles. Pure: what was read goes in, what is to be written comes out. Whoever
// reads and writes brings the datastore, the clock and the log.
export { type Affinity, affinitySpec, type Owner, ownerText, parseOwner, readAffinity } from "./affinity.ts";
export * from "./audit/index.ts";
export { type Attribute, addressOf, type Block, blockSpec, cidrOf, type ReadBlock, readBlock } from "./block.ts";
export {
  type Assigned,
  assign,
  forWrite,
  type Holder,
  type NotAssigned,
  newBlock,
  type Released,
  type ReleaseRequest,
  releaseByHandle,
  sweep,
  type Waiting,
  withoutOwner,
} from "./block-changes.ts";
export type { BlockSource, OrderOf } from "./block-order.ts";
export { type Handle, handleSpec, readHandle } from "./handle.ts";
export {
  type ChosenPools,
  namedRanges,
  type Pool,
  type PoolObject,
  type PoolRequest,
  poolOf,
  type Refusal,
  readPool,
  selectsByLabels,
  type Use,
} from "./pools.ts";
export { isReserved, type Reservations, readReservations } from "./reservations.ts";
export type { InBlock, InBlockResult } from "./steps/assign-in-block.ts";
export { assignAddress, type NamedRequest, type NamedResult } from "./steps/assign-named.ts";
export {
  type AssignedAddress,
  type AssignRequest,
  type AssignResult,
  autoAssign,
  type BlockEnsured,
  ensureBlock,
  type IpamSettings,
} from "./steps/auto-assign.ts";
export { type Claim, type Claimed, type ClaimReleased, type ReleaseOfClaim, releaseClaim } from "./steps/claim.ts";
export {
  blocksOfRange,
  type ClaimOf,
  type ClaimsReleased,
  claimRange,
  type RangeClaimed,
  releaseClaims,
} from "./steps/claims-of-many.ts";
export {
  type Assignment,
  assignmentOf,
  collectCold,
  type HeldAddress,
  heldByHandle,
  listAllBlocks,
} from "./steps/look-up.ts";
export { type AddressesReleased, releaseIps } from "./steps/release-addresses.ts";
export {
  type HandleReleased,
  type ReleaseOfHandle,
  releaseHandle,
  releaseUnselected,
} from "./steps/release-by-handle.ts";
export {
  type Answer,
  advance,
  getHandle,
  type Ref,
  type Step,
  StepFailed,
  type Steps,
  type Stored,
  TooManyConflicts,
  type Versioned,
} from "./steps/step.ts";
export {
  type BlockUse,
  type BlockUtilization,
  type Counts,
  type PoolUse,
  type PoolUtilization,
  type Utilization,
  utilizationOf,
} from "./utilization.ts";
