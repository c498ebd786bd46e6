// The names and words by which the original is started, so that an image or a link of ours can stand where it stood:
// `calico-typha` up to Calico v3.32, `calico component typha` since (docs/guide/tigera-operator.md); `calicoctl`, and `calico ctl`, whose
// words are ours already; `calico-node` with its flags, and `calico component node`, `felix`, `confd`; `calico` and `calico-ipam`, the plugins that runtimes start in /opt/cni/bin; `install` beside them, which puts them there. bin/cattail, which is started
// before any of this is loaded, knows them too: test/system/called-as.test.ts runs both.
import { CattailError } from "../../base/lib/index.ts";
import { componentWords, nodeWords } from "./calico-node-words.ts";

/** The command that is asked for by this name of the program and these words. */
export function wordsCalledAs(
  program: string,
  words: readonly string[],
  { CNI_COMMAND: cniCommand = "" }: { readonly CNI_COMMAND?: string | undefined } = {},
): readonly string[] {
  const name = program.split("/").at(-1);
  if (name === "calico-typha") return ["typha", ...words];
  if (name === "calico-ipam") return ["cni", "ipam", ...words];
  if (name === "calico" && isPluginCall(words, cniCommand)) return ["cni", "plugin", ...words];
  if (name === "install") return ["cni", "install", ...words];
  if (name === "calicoctl") return ["ctl", ...words];
  if (name === "calico-node") return nodeWords(words);
  if (name === "calico" && words[0] === "health") return ["node", ...words];
  if (words[0] !== "component") return words;
  const [, component, ...rest] = words;
  const asked = component === undefined ? undefined : components[component];
  if (asked === undefined) throw otherComponent(component);
  return rest[0] === "version" ? rest : asked(rest);
}

/** `calico-node` is what bin/cattail makes of a link of that name. */
const components: { readonly [component: string]: (words: readonly string[]) => readonly string[] } = {
  typha: (words) => ["typha", ...words],
  felix: (words) => ["node", "felix", ...words],
  confd: (words) => ["node", "bgp", ...componentWords(words)],
  node: (words) => ["node", ...componentWords(words)],
  cni: (words) => ["cni", ...words],
  "calico-node": nodeWords,
};

/** Runtimes give the plugin `calico` no words, and installers one of two. With a runtime's variable, only a command's own word asks for the command. */
function isPluginCall([first]: readonly string[], cniCommand: string): boolean {
  if (first === undefined || first === "-v" || first === "-t") return true;
  return cniCommand !== "" && !commandsOfCalico.includes(first);
}

const commandsOfCalico = ["component", "ctl", "health", "version", "help"];

function otherComponent(component: string | undefined): CattailError {
  return new CattailError("OTHER_COMPONENT", {
    problem: `this is Cattail, which has Calico's components typha, node, felix, confd and cni, and was asked for ${component ?? "none"}`,
    next: "Use Calico's own image for its other components; docs/guide/tigera-operator.md says which image is whose",
  });
}
