// Makes, loads, reloads and checks certificates. Knows TLS, not what is said over it.
export { admitPeers, checkOf } from "./admit-peers.ts";
export { type CertificateFacts, parseCertificate } from "./certificate.ts";
export {
  filesOf,
  hasPair,
  makeAuthority,
  makePair,
  type Pair,
  readPair,
  readPemFile,
  renewPair,
  usualNames,
} from "./certificate-folder.ts";
export { type TlsPolicy, tlsPolicy } from "./cipher-suites.ts";
export { admitHttpsPeers, httpsServerOptions } from "./https-options.ts";
export { describeInspected, inspectPem } from "./inspect.ts";
export {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type KeyKind,
  type LeafNames,
  lifetimes,
  renewCertificate,
} from "./issue.ts";
export type { PairFiles } from "./pair-files.ts";
export { certificatesInPem } from "./pem.ts";
export { createRefusalLog, type Refusal, type RefusalLog } from "./refusals.ts";
export { type TlsFilesState, type TlsFilesWatcher, watchTlsFiles } from "./tls-files.ts";
export {
  isStillTrusted,
  loadTlsMaterial,
  parseTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
  type TlsRole,
  tlsProblems,
} from "./tls-material.ts";
export { tlsClientOptions, tlsServerOptions } from "./tls-options.ts";
export { checkIdentity, type PeerRequirement, peerChecks, verifyPeer } from "./verify-peer.ts";
