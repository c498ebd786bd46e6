// docs/reference/ctl.md, made from the tables of commands and settings.
import type { CtlCommand, Flag } from "./command.ts";
import { defaultConfigFile, globalFlags } from "./command-line/flags.ts";
import { exampleOf, flagSays, flagUsage } from "./command-line/help.ts";
import { commands } from "./commands.ts";
import { type Setting, settings } from "./connect/settings.ts";
import { newestCalico, oldestCalico } from "./connect/versions.ts";

export function ctlPage(): string {
  return `# cattail ctl

\`cattail ctl\` shows and changes what Calico keeps in its datastore. It takes the commands, flags, files and variables of calicoctl, prints the same
texts, and ends with the same exit codes. It works on Kubernetes, on etcd and on [a folder](directory-datastore.md).

\`\`\`
ln -s "$(command -v cattail)" /usr/local/bin/calicoctl    # then calicoctl is cattail ctl
\`\`\`

\`calico ctl\`, through a link named \`calico\`, works too. The guide has [a page about the first steps](../guide/hard-way/2-calicoctl.md).

This page is generated from the table of commands by \`npm run docs\`. [Kinds](kinds.md#names) lists the names of kinds.

| command | what it does |
|---|---|
${commands.map((command) => `| [\`${command.path.join(" ")}\`](#${anchorOf(command)}) | ${cell(command.says)} |`).join("\n")}

## Flags of every command

Flags can stand before or after the other words: \`--name value\`, \`--name=value\`, \`-n value\`, \`-nvalue\`. Switches can be joined (\`-RA\`) and turned off (\`--skip-empty=false\`). After \`--\` there are only words.

${flagRows(globalFlags)}

## How it finds the datastore

1. If the file of \`-c\` exists (${defaultConfigFile} if \`-c\` is not given), only this file counts. **All variables are then ignored.** \`-l info\` says so, and names them.
2. Otherwise the variables count. A file that is named with \`-c\` and does not exist is an error.

\`\`\`yaml
apiVersion: projectcalico.org/v3
kind: CalicoAPIConfig
metadata:
spec:
  datastoreType: kubernetes
  kubeconfig: /root/.kube/config
\`\`\`

Each variable can also have the prefix \`CALICO_\`, which then has priority.

| field of \`spec\` | variable | meaning |
|---|---|---|
${settings.map((setting: Setting) => `| \`${setting.field}\` | ${setting.variable === undefined ? "-" : `\`${setting.variable}\``} | ${cell(setting.says)} |`).join("\n")}

## Versions of Calico

\`cattail ctl\` works with clusters of Calico v${oldestCalico.major}.${oldestCalico.minor} to v${newestCalico.major}.${newestCalico.minor}. Inside this range, no command refuses a cluster because of its version. Outside of it, commands stop with \`version mismatch\`;
\`--allow-version-mismatch\` makes them go on. A cluster that does not state its version is accepted. calicoctl refuses every version but its own.

## Output, errors and exit codes

| | |
|---|---|
| exit code | 0: done. 1: an error, also if it concerns only some of the objects, or a command or flag that does not exist. 130, 143: interrupted |
| results | on standard output |
| errors | on standard error, each once. As in calicoctl, four errors are on standard output: \`Error reading config file: …\`, \`Failed to create Calico API client: …\`, an invalid address after \`--ip\`, and \`Need super user privileges\` |
| advice | after an error, on a terminal or with \`-l warn\`: what to do, such as the RBAC rule that is missing. In scripts it is left out, because they compare the text |
| log | none, unless \`-l\` asks for it |

## Formats of get

| \`-o\` | what is printed |
|---|---|
| \`ps\`, \`wide\` | a table for each kind or name |
| \`custom-columns=A,B\` | a table of these headings. An unknown heading is an error that lists those that exist |
| \`yaml\`, \`json\` | one object or one list as it is, several results as an array. To the letter as calicoctl writes them |
| \`name\` | KIND/NAME, one a line; with \`-n\` or \`-A\` KIND/NAMESPACE/NAME |
| \`go-template=T\`, \`go-template-file=F\` | a Go template over the array of results |

A template names the fields of Go's types or those of YAML: \`.ObjectMeta.Name\`, \`.Name\` and \`.metadata.name\` are the same.

\`\`\`
cattail ctl get ippools -o go-template='{{range .}}{{range .Items}}{{.Name}} {{.Spec.CIDR}}{{"\\n"}}{{end}}{{end}}'
\`\`\`

| supported | not supported, and an error |
|---|---|
| fields, \`range\` with \`$i, $v\` and \`else\`, \`if\`, \`else if\`, \`with\`, \`break\`, \`continue\`, variables, pipes, \`{{- -}}\`, comments | \`define\`, \`template\`, \`block\`, methods of Go's types |
| \`and or not eq ne lt le gt ge len index slice print printf println\`, and calicoctl's \`join\`, \`joinAndTruncate\` and \`config\` | \`html js urlquery call\` |
| \`printf\` with \`%v %s %q %d %t %x %f %g\`, width and precision | other verbs |
| texts, numbers, lists and maps are printed as Go prints them | a whole struct: name a field of it |

## Input of -f

| | |
|---|---|
| what \`-f\` names | a file, a folder (\`.yaml\`, \`.yml\`, \`.json\`, by name; with \`-R\` those below it, too), or \`-\` for standard input |
| documents | separated by a line that begins with \`---\`. A document is an object, an array of objects, or a KIND+List |
| when nothing is written | when any document cannot be read: unknown kinds and fields, wrong types, keys that occur twice |
| what is said | calicoctl's words. On a terminal, for a folder, and with \`-l warn\` also the file, the line, the field and what was probably meant |
| YAML | version 1.1, as calicoctl reads it: an unquoted \`n\` as a name is \`false\`, \`010\` is 8. A document with nothing but comments is an error |
| limits | 10 MiB a document, 256 MiB a file |

## Differences from calicoctl

| situation | calicoctl | \`cattail ctl\` |
|---|---|---|
| the CRDs are not installed | empty tables, exit code 0 | an error with the command that installs them, exit code 1 |
| an unknown command | prints the help, exit code 0 | \`unknown command\`, the command that was probably meant, exit code 1 |
| another version of Calico | refused | accepted from v${oldestCalico.major}.${oldestCalico.minor} to v${newestCalico.major}.${newestCalico.minor} |
| a file with 200 objects | 21 s to 101 s: it limits itself to 5 requests a second | as fast as the API server answers. \`K8S_CLIENT_QPS\` sets a limit |
| etcd does not answer | waits without end | an error with the address, after 10 s at most for each endpoint |
| the API server is busy (429) | waits and tries again | the same |
| a write gets no answer, or the command is interrupted | an error | the error, what became of the object, and the names of all objects that were not tried |
| a write meets another version of the object | \`update conflict\` | the same, with both versions |
| a label cannot be written | \`label not changed\` | the same, with the reason |
| a stored object cannot be read | the whole list fails | the others are shown, then the object and its problem; exit code 1 |
| a cell, or what a template prints, looks like YAML (\`: \`) | ends with a Go stack trace or \`YAML Injection Detected\` | is printed |
| items of a KIND+List have no kind, or another | ends with a Go stack trace | says which item, in which line |
| a name that nearly exists | | \`Did you mean …?\` |
| \`patch --type\` | is ignored | \`strategic\`, \`merge\` or \`json\` (RFC 6902) |
| \`label KIND NAME a=1 b=2\` | sets the first label only | sets all, or none |
| \`get\` or \`create\` without a kind or file | ends with a Go stack trace | says what is missing |
| permissions are missing | the API server's words | the same, and on a terminal the rule to add |
| commands | | also \`diff\`, \`apply --dry-run\`, \`get -w\`, \`get -o name\` |
| \`datastoreType: directory\` | | [a folder](directory-datastore.md) as datastore |
| \`node run\` | starts a Docker container | is refused, and says what to do instead |
| \`node status\` | finds processes by their exact names, and cannot read BIRD 2 | looks at BIRD's control sockets and the health port too, and reads BIRD 1 and 2; a BIRD 2 is shown for both families |
| \`node checksystem\` | needs root and \`lsmod\` | reads files only, also \`/proc/config.gz\` |
| \`node diags\` | signals Felix | changes nothing; also has BIRD's protocols and routes, rules, links and neighbours |
| \`datastore migrate export\` | staged policies of the namespace \`default\` only; peers and host endpoints keep the old names of nodes | all namespaces; every reference to a node gets its new name |
| \`datastore migrate import\` | reads the file after it has changed the cluster; cannot import a BGP peer with filters; fails if there are no IPAM records | checks the whole file first; imports filters before peers; no records are no error |
| \`datastore migrate-policy-names\` and both names exist | deletes the old policy | is refused if the two are different |
| \`cluster diags\` | needs kubectl; looks in namespaces with \`calico\` or \`tigera\` in their name | asks the API server; also has pods of Calico in \`kube-system\`. With kubectl, it also collects rules and routes inside the node pods. Never has Secrets, and removes passwords, tokens and keys from objects |

These are the same as in calicoctl, although you may not expect them:

- \`Partial success: … the first N\` counts what was done. These are not always the first ones.
- With \`--skip-exists\` and \`-s\`, objects that were skipped count as done.
- \`apply\` and \`replace\` set the whole spec: fields that you leave out are removed. \`apply\` of a Node without \`bgp\` removes its addresses.
- \`delete workloadendpoint\` empties the address annotations of the pod.
- A document that has only comments is an error.
- Files are read as YAML 1.1: a name \`n\` without quotes is \`false\`.
- \`--export\` changes objects that you ask for by name, and no lists.
- \`ipam check\` ends with exit code 0 if it finds problems.
- The size of a pool is shown up to 2^63-1.

${commands.map(commandSection).join("\n\n")}
`;
}

function commandSection(command: CtlCommand): string {
  const name = command.path.join(" ");
  const words = command.wordsUsage === undefined ? "" : ` ${command.wordsUsage}`;
  return `## ${name}

${capital(command.says)}.

\`\`\`
cattail ctl ${name}${words} [flags]
\`\`\`

${command.flags.length === 0 ? "It has only the flags of every command." : flagRows(command.flags)}

\`\`\`
${command.examples.map((line) => exampleOf(line, "cattail ctl")).join("\n")}
\`\`\``;
}

function flagRows(flags: readonly Flag[]): string {
  const rows = flags.map((flag) => `| \`${cell(flagUsage(flag).trim())}\` | ${cell(flagSays(flag))} |`);
  return `| flag | |\n|---|---|\n${rows.join("\n")}`;
}

/** As GitHub makes it of a heading. */
function anchorOf({ path }: CtlCommand): string {
  return path.join("-");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
