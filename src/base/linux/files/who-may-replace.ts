// Whether somebody else could put a file of his own in the place of one of ours: he may, where any folder above it is his or takes names from
// everybody, however well the last folder is closed. bin/cni-plugin.cjs asks the same, without this.
import { realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const stickyBit = 0o1000;

/** Why somebody could; undefined: only root, or this user. The folder must be there. */
export function whoMayReplace(path: string): string | undefined {
  const folder = dirname(resolve(path));
  for (const each of [...upwards(folder), ...upwards(realpathSync(folder))]) {
    const { uid, gid, mode } = statSync(each);
    if (!trusted().includes(uid)) return `${each} belongs to user ${uid}`;
    // In a folder as /tmp is, each has only his own names.
    if ((mode & stickyBit) !== 0) continue;
    if ((mode & 0o002) !== 0) return `everybody may write to ${each}`;
    if ((mode & 0o020) !== 0 && gid !== 0 && gid !== process.getgid?.()) return `group ${gid} may write to ${each}`;
  }
  return undefined;
}

/** Whoever has "/" has everything: root, who has another number in a user namespace. */
function trusted(): readonly (number | undefined)[] {
  return [0, process.getuid?.(), statSync("/").uid];
}

function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}
