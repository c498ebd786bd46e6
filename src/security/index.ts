// Makes, loads, reloads and checks certificates. Knows TLS, not what is said over it.
export { admitPeers, checkOf } from "./admit-peers.ts";
export { type CertificateFacts, parseCertificate, renderUri } from "./certificate.ts";
export {
  filesOf,
  hasPair,
  type MakeOptions,
  makeAuthority,
  makePair,
  type Pair,
  readPair,
  renewPair,
  usualNames,
} from "./certificate-folder.ts";
export { type TlsPolicy, tlsPolicy } from "./cipher-suites.ts";
export { admitHttpsPeers, type ClientAuth, httpsServerOptions } from "./https-options.ts";
export { describeInspected, type Inspected, inspectPem } from "./inspect.ts";
export {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type KeyKind,
  type LeafNames,
  lifetimes,
  renewCertificate,
} from "./issue.ts";
export { type PairFiles, pairFiles, writePair, writeWhole } from "./pair-files.ts";
export { certificatesInPem } from "./pem.ts";
export { createRefusalLog, type Refusal, type RefusalLog } from "./refusals.ts";
export { type ReloadOutcome, type TlsFilesState, type TlsFilesWatcher, watchTlsFiles } from "./tls-files.ts";
export {
  isStillTrusted,
  loadTlsMaterial,
  parseTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
  type TlsProblem,
  tlsProblems,
} from "./tls-material.ts";
export { tlsClientOptions, tlsServerOptions } from "./tls-options.ts";
export {
  checkIdentity,
  type PeerCheck,
  type PeerRequirement,
  type PeerVerdict,
  peerChecks,
  verifyPeer,
} from "./verify-peer.ts";
