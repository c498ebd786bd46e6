// Starts plugins as a container runtime does, by a small Go program (test/peers/cni-runtime): Node's own way of starting programs would be measured too.
import { runProgram } from "../../src/base/linux/index.ts";
import { goPeer } from "../../test/kit/go.ts";

export type Subject = {
  readonly who: string;
  /** CNI_PATH. */
  readonly folder: string;
  readonly program: string;
  readonly configuration: object;
  readonly variables: { readonly [name: string]: string };
  /** Whose processor time counts as well: an agent that works for the plugin. */
  readonly agent?: number;
};

export type Call = {
  readonly command: "ADD" | "DEL";
  readonly container: string;
  readonly pod: string;
  readonly netns: string;
};

export type Result = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakKb: number;
};

export type Answer = { readonly ms: number; readonly results: readonly Result[] };

export async function openRuntime(): Promise<
  (subject: Subject, calls: readonly Call[], atOnce: number) => Promise<Answer>
> {
  const { path, missing } = await goPeer("test/peers/cni-runtime");
  if (path === undefined) throw new Error(`no runtime to measure with: ${missing}`);
  return async (subject, calls, atOnce) => {
    const job = { atOnce, calls: calls.map((call) => asked(subject, call)) };
    const { stdout } = await runProgram(path, [], {
      stdin: JSON.stringify(job),
      limitMs: 600_000,
      maxOutputBytes: 1 << 26,
    });
    const answer = JSON.parse(stdout) as Answer; // our own program's
    for (const [at, { code, stdout: said, stderr }] of answer.results.entries()) {
      const { command = "", container = "" } = calls[at] ?? {};
      if (code !== 0) throw new Error(`${subject.who}: ${command} ${container} ended with ${code}: ${said}${stderr}`);
    }
    return answer;
  };
}

function asked({ folder, program, variables, configuration }: Subject, call: Call) {
  const environment = {
    ...variables,
    CNI_COMMAND: call.command,
    CNI_CONTAINERID: call.container,
    CNI_NETNS: call.netns,
    CNI_IFNAME: "eth0",
    CNI_PATH: folder,
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${call.pod}`,
  };
  const env = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return { program, env, stdin: JSON.stringify(configuration) };
}
