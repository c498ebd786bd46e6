// What has to go with this process, however it ends: with SIGKILL nothing of ours runs any more. So a shell holds the other end of a pipe, in a process
// group of its own; the kernel closes the pipe with the process, and then the shell cleans up.
import { spawn } from "node:child_process";

/** The script finds the words as $1, $2 and so on. It is also run after a good end, so it must not mind what is gone already. */
export function whenGone(script: string, ...words: readonly string[]): void {
  const shell = spawn("sh", ["-c", `cat > /dev/null; ${script}`, "sh", ...words], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.on("error", () => {}); // without a shell: whoever comes next sweeps
  shell.unref();
  if (shell.stdin !== null && "unref" in shell.stdin && typeof shell.stdin.unref === "function") shell.stdin.unref();
}

/** Network namespaces whose names begin so. */
export function namespacesGoToo(prefix: string): void {
  whenGone(
    'ip netns list | while read -r name rest; do case $name in "$1"*) ip netns del "$name";; esac; done',
    prefix,
  );
}
