// Makes, loads, reloads and checks certificates. Knows TLS, not what is said over it.

export { type CertificateFacts, parseCertificate } from "./certificates/certificate.ts";
export { describeInspected, type Inspected, inspectPem } from "./certificates/inspect.ts";
export {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type KeyKind,
  type LeafNames,
  lifetimes,
  renewCertificate,
} from "./certificates/issue.ts";
export { type PairFiles, pairFiles, writePair } from "./certificates/pair-files.ts";
export { certificatesInPem } from "./certificates/pem.ts";
export { readPemFile, readPemSource } from "./certificates/read-pem.ts";
export { admitPeers, checkOf } from "./peers/admit-peers.ts";
export { createRefusalLog, type Refusal, type RefusalLog } from "./peers/refusals.ts";
export { checkIdentity, identityOf, type PeerRequirement, peerChecks, verifyPeer } from "./peers/verify-peer.ts";
export { type TlsPolicy, tlsPolicy } from "./tls/cipher-suites.ts";
export { admitHttpsPeers, admitNamedPeers, httpsServerOptions } from "./tls/https-options.ts";
export { type TlsFilesState, type TlsFilesWatcher, watchTlsFiles } from "./tls/tls-files.ts";
export {
  isStillTrusted,
  loadTlsMaterial,
  parseTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
  type TlsRole,
  tlsProblems,
} from "./tls/tls-material.ts";
export { tlsClientOptions, tlsServerOptions } from "./tls/tls-options.ts";
