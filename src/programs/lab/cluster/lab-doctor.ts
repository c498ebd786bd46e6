// The doctor on every node of a lab; the first one looks at what the others have seen, too. With two ends: at the way between them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CattailError, type JsonRecord } from "../../../base/lib/index.ts";
import type { LabNode } from "../world/index.ts";
import type { Lab } from "./lab.ts";
import { launcher } from "./launcher.ts";

export type Examined = { readonly code: number; readonly stdout: string; readonly stderr: string };

export async function labDoctor(lab: Lab, { output, from, to }: JsonRecord): Promise<Examined> {
  const { world, options } = lab;
  const [first, ...others] = world.nodes;
  if (first === undefined) return { code: 2, stdout: "", stderr: "" };
  const run = (node: LabNode, args: readonly string[]) => {
    const [program = "", ...words] = [...launcher().words, "doctor", ...args];
    return node.run(program, words, { env: lab.agentEnvironment(node), alsoGood: [1, 2], limitMs: 120_000 });
  };
  const isPath = typeof from === "string" && typeof to === "string";
  const pods = isPath ? [from, to].flatMap((pod) => ["--pod", pod, "--pod", `default/${pod}`]) : [];
  const files = await Promise.all(
    others.map(async (node) => {
      const file = join(options.folder, "nodes", `${node.name}.facts.json`);
      const { stdout, stderr, code } = await run(node, ["node", "-o", "facts", ...pods]);
      if (code !== 0) throw doctorFailed(node.name, stderr);
      writeFileSync(file, stdout, { mode: 0o600 });
      return file;
    }),
  );
  const asked = isPath ? ["path", from, to] : ["node"];
  const format = ["-o", output === "json" ? "json" : "text"];
  const seen = files.flatMap((file) => ["--facts", file]);
  const { code, stdout, stderr } = await run(first, [...asked, ...format, ...seen]);
  return { code, stdout, stderr };
}

function doctorFailed(node: string, words: string): CattailError {
  return new CattailError("LAB_DOCTOR", {
    problem: `the doctor on ${node} failed: ${words.trim()}`,
    next: `Run it by hand: cattail lab exec ${node} cattail doctor node`,
  });
}
