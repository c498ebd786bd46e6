// `cattail completion bash|zsh|fish`: a script for the shell, made by walking the commands, so that it cannot forget one.
import { Argument, Command } from "commander";

type Shell = "bash" | "zsh" | "fish";
type Words = { readonly path: string; readonly words: readonly string[] };

export function completionCommand(): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  cattail completion bash > /etc/bash_completion.d/cattail
  cattail completion zsh > "\${fpath[1]}/_cattail"
  cattail completion fish > ~/.config/fish/completions/cattail.fish`,
    )
    .action((shell: Shell, _options: unknown, command: Command) => {
      const root = command.parent ?? command;
      console.log(scripts[shell](wordsOf(root, "")));
    });
}

function wordsOf(command: Command, path: string): Words[] {
  const flags = command.options.flatMap((option) => (option.long === undefined ? [] : [option.long]));
  const own = { path, words: [...command.commands.map((child) => child.name()), ...flags, "--help"] };
  return [own, ...command.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()))];
}

const scripts: { readonly [shell in Shell]: (words: Words[]) => string } = {
  bash: (words) => `${wordTable(words)}
_cattail() {
  COMPREPLY=($(compgen -W "$(_cattail_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _cattail cattail`,
  zsh: (words) => `#compdef cattail
${wordTable(words)}
_cattail() {
  compadd -- $(_cattail_words "\${words[@]:1:$((CURRENT - 2))}")
  _files
}
compdef _cattail cattail`,
  fish: (words) => words.flatMap(fishLines).join("\n"),
};

// The commands typed so far pick the row; options and their values in between do not count.
function wordTable(words: Words[]): string {
  const rows = words.map((row) => `    ${JSON.stringify(row.path)}) echo ${JSON.stringify(row.words.join(" "))};;`);
  const commands = [...new Set(words.flatMap((row) => row.path.split(" ")))].filter((word) => word !== "");
  return `_cattail_words() {
  local path="" word
  for word in "$@"; do
    case "$word" in ${commands.join("|")}) path="\${path:+$path }$word";; esac
  done
  case "$path" in
${rows.join("\n")}
  esac
}`;
}

function fishLines(row: Words): string[] {
  const seen = row.path === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${row.path.split(" ").at(-1)}`;
  return row.words.map((word) =>
    word.startsWith("--")
      ? `complete -c cattail -n '${seen}' -l ${word.slice(2)}`
      : `complete -c cattail -f -n '${seen}' -a ${word}`,
  );
}
