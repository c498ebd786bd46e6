// Which build this is, for `cattail version` of what was built: what a checkout says of itself, or, without git, what
// CATTAIL_COMMIT says.
import { type Build, build } from "../../src/programs/shared/build.ts";

export function buildNote(): Build {
  const { version, commit } = build();
  // Built from an archive, or in an image without git.
  return { version, commit: commit === "unknown" ? (process.env.CATTAIL_COMMIT ?? commit) : commit };
}
