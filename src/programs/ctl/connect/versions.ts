// Which Calico versions ctl speaks: said here and nowhere else. Inside the range a cluster's version is never a reason to
// refuse; outside it the original's message is given, and --allow-version-mismatch goes on.
export const oldestCalico = { major: 3, minor: 20 } as const;
export const newestCalico = { major: 3, minor: 33 } as const;

/** What scripts read as this program's version: the newest Calico that it speaks, and then who it is. */
export function clientVersion(ownVersion: string): string {
  return `v${newestCalico.major}.${newestCalico.minor}.0-cattail-${ownVersion.replace(/^v/, "")}`;
}

/** As the original compares versions: without the v, and without what follows the first dash. */
export function cutVersion(version: string): string {
  return version.replace(/^v/, "").replace(/-.*$/s, "");
}

export function isSpoken(version: string): boolean {
  const [, major, minor] = /^(\d{1,4})\.(\d{1,4})(?:\.|$)/.exec(cutVersion(version)) ?? [];
  if (Number(major) !== oldestCalico.major) return false;
  return Number(minor) >= oldestCalico.minor && Number(minor) <= newestCalico.minor;
}
