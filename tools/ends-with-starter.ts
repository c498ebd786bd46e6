// For a tool that keeps servers running: when whoever started it is gone, so that nobody can end it by him any more. npm starts a shell, which starts
// the tool; who kills npm alone kills neither.
import { readFileSync } from "node:fs";

/** Resolves when the process that started this one has ended: npm, where it was npm. */
export async function starterGone(pauseMs = 500): Promise<void> {
  const parent = process.ppid;
  const grandparent = isNpm(parent) ? undefined : parentOf(parent);
  const byNpm = grandparent !== undefined && isNpm(grandparent);
  const isThere = () => process.ppid === parent && (!byNpm || parentOf(parent) === grandparent);
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
}

function isNpm(pid: number): boolean {
  return (
    /^npm\b/.test(contentOf(`/proc/${pid}/cmdline`).split("\0")[0] ?? "") ||
    /\bnpm/.test(contentOf(`/proc/${pid}/comm`))
  );
}

/** Undefined: there is no such process, or no /proc to see it by. */
function parentOf(pid: number): number | undefined {
  // The name, in brackets, may have brackets and blanks of its own.
  const [, parent] = /.*\) \S (\d+) /s.exec(contentOf(`/proc/${pid}/stat`)) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
