// The certificates of an installation, under the names that the guides give them.
export {
  filesOf,
  hasPair,
  makeAuthority,
  makePair,
  type Pair,
  readAuthorityCertificate,
  readPair,
  renewPair,
  usualNames,
} from "./certificate-folder.ts";
