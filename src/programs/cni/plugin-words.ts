// Words on a plugin's command line, read as the original reads them: flags with one dash or two, up to the first word that is none. What follows is
// passed over: there are runtimes and tests that hand the network configuration over there, too.
export type PluginWords =
  | { readonly is: "asked"; readonly flag: string }
  /** A runtime's call: CNI_COMMAND says what is wanted. */
  | { readonly is: "nothing" }
  /** To be said on standard error; nothing is done. */
  | { readonly is: "told"; readonly text: string; readonly exitCode: 0 | 2 };

/** `flags`: what there is, in the order in which one counts before another, and what it does. */
export function readPluginWords(words: readonly string[], flags: { readonly [name: string]: string }): PluginWords {
  const asked = new Set<string>();
  for (const word of words) {
    if (!word.startsWith("-") || word === "-" || word === "--") break;
    const [, name = "", value] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === "") return told(`bad flag syntax: ${word}`, flags);
    if (!Object.hasOwn(flags, name)) {
      if (name === "h" || name === "help") return { ...told("", flags), exitCode: 0 };
      return told(`flag provided but not defined: -${name}`, flags);
    }
    const isOn = value === undefined ? true : truth.get(value);
    if (isOn === undefined) {
      return told(`invalid boolean value ${JSON.stringify(value)} for -${name}: parse error`, flags);
    }
    if (isOn) asked.add(name);
    else asked.delete(name);
  }
  const flag = Object.keys(flags).find((name) => asked.has(name));
  return flag === undefined ? { is: "nothing" } : { is: "asked", flag };
}

const truth = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

function told(problem: string, flags: { readonly [name: string]: string }) {
  const lines = Object.entries(flags).map(([name, does]) => `  -${name.padEnd(8)} ${does}`);
  const usage = ["A container runtime starts this, and says what it wants in CNI_COMMAND. By hand:", ...lines];
  const text = `${[...(problem === "" ? [] : [problem]), ...usage].join("\n")}\n`;
  return { is: "told", text, exitCode: 2 } as const;
}
