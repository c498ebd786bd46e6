// `cattail completion bash|zsh|fish`: a script for the shell, made by walking the commands, so that it cannot forget one.
import { Argument, Command, Help } from "commander";
import { completionScript, type NextWords, type Shell, shells } from "../shared/completion-script.ts";

/** `more`: words of programs that have their own reader of command lines. */
export function completionCommand(more: readonly NextWords[]): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
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
      const rows = wordsOf(root, "").filter(({ path }) => !more.some((other) => other.path === path));
      console.log(completionScript(shell, "cattail", [...rows, ...more]));
    });
}

function wordsOf(command: Command, path: string): NextWords[] {
  const flags = command.options.flatMap((option) => (option.long === undefined ? [] : [option.long]));
  const children = childrenOf(command);
  const own = { path, words: [...children.map((child) => child.name()), ...flags, "--help"] };
  return [own, ...children.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()))];
}

/** Not those that only the program itself starts. */
function childrenOf(command: Command): readonly Command[] {
  const visible = new Help().visibleCommands(command);
  return command.commands.filter((child) => visible.includes(child));
}
