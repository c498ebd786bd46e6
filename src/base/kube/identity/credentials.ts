// Keeps the identity fresh: tokens are rotated under us, certificates too. Read again every minute, when a plugin's word
// expires, and at once when the server says it no longer knows us.
import { createHash } from "node:crypto";
import { type Clock, LastGood, type Log } from "../../lib/index.ts";
import { kubeLimits } from "../settings.ts";
import type { Identity, IdentityLoader } from "./load-identity.ts";

export type CurrentIdentity = Identity & {
  /** Changes with anything that a connection is made of; a new token needs no new connection. */
  readonly connectionKey: string;
};

export type CredentialsOptions = { readonly clock: Clock; readonly log: Log; readonly load: IdentityLoader };

export function credentials({ clock, log, load }: CredentialsOptions): LastGood<CurrentIdentity> {
  return new LastGood<CurrentIdentity>({
    clock,
    maxAgeMs: kubeLimits.credentialsMs,
    async read(refused) {
      const identity = await load({ isRefused: refused !== undefined });
      return { ...identity, connectionKey: connectionKey(identity) };
    },
    onKept: (error) => log.warn("cannot read the credentials again; using the last ones", { error: `${error}` }),
    expiresAtMs: (identity) => identity.expiresAtMs,
  });
}

function connectionKey({ server, proxy, tls }: Identity): string {
  const hash = createHash("sha256").update(`${server.origin}\n${proxy}\n${tls.servername}\n${tls.rejectUnauthorized}`);
  for (const part of [tls.ca, tls.cert, tls.key]) hash.update("\n").update(part ?? "");
  return hash.digest("hex");
}
