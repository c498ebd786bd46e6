// Calico's keys, values and resource kinds; nothing in this folder runs by itself.

export { printGoFloat } from "./go/go-float.ts";
export {
  always,
  compareUtf8,
  type GoType,
  goBool,
  goList,
  goMap,
  goNumber,
  goNumberOrText,
  goPointer,
  goRaw,
  goString,
  goStruct,
  omitEmpty,
  sortByUtf8,
  writeGoJson,
  writeGoString,
} from "./go/go-json.ts";
export { canonicalTime, parseDuration } from "./go/go-time.ts";
export { keyKind, placesOfKeyKind } from "./keys/key-kind.ts";
export {
  escapeName,
  type Key,
  keyToPath,
  type PolicyKind,
  policyKinds,
  type ResourceKey,
  unescapeName,
} from "./keys/keys.ts";
export { pathToKey } from "./keys/path-to-key.ts";
export {
  type ResourceKind,
  resourceKindInfo,
  resourceKinds,
  resourcePrefix,
  resourceRoot,
} from "./keys/resource-kinds.ts";
export { legacyForm } from "./legacy-policy.ts";
export { ModernPolicies } from "./modern-policies.ts";
export { type ObjectMeta, objectMeta, writeObjectMeta } from "./object-meta.ts";
export type { RuleOrigin, RuleOrigins } from "./rule-origin.ts";
export {
  cleanJson,
  FieldError,
  int32,
  int64,
  join,
  listAt,
  member,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
  stringListAt,
  stringMapAt,
  uint16,
  uint32,
  uint64,
} from "./schema/read-json.ts";
export {
  asNumber,
  canonicalAsNumber,
  canonicalPort,
  canonicalUint8OrText,
  dscp,
  duration,
  isPlainName,
  type NumberOrText,
  port,
  protocol,
  protocolNames,
  time,
} from "./schema/scalars.ts";
export {
  type CrdSchema,
  flag,
  float,
  integer,
  kept,
  lazy,
  list,
  type Member,
  map,
  nullableList,
  optional,
  readSchema,
  required,
  type Schema,
  type SchemaType,
  scalar,
  struct,
  text,
  zeroable,
} from "./schema/schema.ts";
export {
  evaluateSelector,
  type Labels,
  parseSelector,
  prefixSelector,
  printSelector,
  type Selector,
  selectorProblem,
} from "./selectors/selector.ts";
export {
  type KvUpdate,
  type SyncerBatch,
  type SyncerType,
  type SyncStatus,
  syncerTypes,
  syncStatus,
  type UpdateType,
  updateType,
} from "./update.ts";
export { type V1Policy, type V1ProfileRules, type V1Rule, v1Policy, v1ProfileRules } from "./v1-policy.ts";
