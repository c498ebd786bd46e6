// Completion scripts for shells, made from a table of what can be typed next.

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** `path`: the commands typed so far, "" for none; `words`: sub-commands and flags. */
export type NextWords = { readonly path: string; readonly words: readonly string[] };

export function isShell(text: string): text is Shell {
  return shells.some((shell) => shell === text);
}

export function completionScript(shell: Shell, program: string, rows: readonly NextWords[]): string {
  return scripts[shell](program, rows);
}

const scripts: { readonly [shell in Shell]: (program: string, rows: readonly NextWords[]) => string } = {
  bash: (program, rows) => `${wordTable(program, rows)}
_${program}() {
  COMPREPLY=($(compgen -W "$(_${program}_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${program} ${program}`,
  zsh: (program, rows) => `#compdef ${program}
${wordTable(program, rows)}
_${program}() {
  compadd -- $(_${program}_words "\${words[@]:1:$((CURRENT - 2))}")
  _files
}
compdef _${program} ${program}`,
  fish: (program, rows) => rows.flatMap((row) => fishLines(program, row)).join("\n"),
};

// The commands typed so far pick the row; options and their values in between do not count.
function wordTable(program: string, rows: readonly NextWords[]): string {
  const cases = rows.map((row) => `    ${JSON.stringify(row.path)}) echo ${JSON.stringify(row.words.join(" "))};;`);
  const commands = [...new Set(rows.flatMap((row) => row.path.split(" ")))].filter((word) => word !== "");
  return `_${program}_words() {
  local path="" word
  for word in "$@"; do
    case "$word" in ${commands.join("|")}) path="\${path:+$path }$word";; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
}`;
}

function fishLines(program: string, row: NextWords): string[] {
  const seen = row.path === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${row.path.split(" ").at(-1)}`;
  return row.words.map((word) =>
    word.startsWith("--")
      ? `complete -c ${program} -n '${seen}' -l ${word.slice(2)}`
      : `complete -c ${program} -f -n '${seen}' -a ${word}`,
  );
}
