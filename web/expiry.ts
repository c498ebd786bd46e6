// Which certificate expires next, and when that is soon.
import type { CertificateView } from "../src/typha/dashboard/contract.ts";

/** Time enough to renew one, even by hand and in a large organisation. */
export const soonMs = 30 * 86_400_000;

export function nextToExpireFirst(certificates: readonly CertificateView[]): CertificateView[] {
  return certificates.toSorted((left, right) => left.expiresAtMs - right.expiresAtMs);
}
