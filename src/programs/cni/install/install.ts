// `cattail cni install`: everything a node needs so that kubelet's runtime can start the plugin. The order is what makes it safe: plugins,
// certificates, kubeconfig, and the network configuration last, because a node counts as ready for pods when that appears.
// `cattail cni uninstall` goes the other way.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolders, removeFile, replaceFile } from "../../../base/linux/files.ts";
import { kubeconfigName } from "../../../node/cni-token/index.ts";
import { followCertificates, installCertificates, removeCertificates } from "./certificates.ts";
import { installKubeconfig, type KubeconfigOptions, mustHaveKubeconfig } from "./kubeconfig.ts";
import { installPrograms, ownProgram, type PluginProgram, removePrograms, type Say } from "./programs.ts";
import { type InstallSettings, readInstallSettings, type Variables } from "./settings.ts";
import { chosenTemplate, fill, pluginsNamed } from "./template.ts";

export type InstallOptions = KubeconfigOptions & {
  readonly variables: Variables;
  readonly say: Say;
  /** Ends the following of certificates. */
  readonly signal: AbortSignal;
  /** Another one than this; for tests. */
  readonly program?: PluginProgram | undefined;
};

const configMode = 0o600;

export async function install(options: InstallOptions): Promise<void> {
  const { variables, say, root } = options;
  const settings = readInstallSettings(variables, root === undefined ? {} : { root });
  const isMounted = settings.brought !== undefined;
  const program = options.program ?? ownProgram({ isMounted });
  // Mounts are the cluster's business; on a host a missing folder is ours to make.
  if (!isMounted) for (const folder of [...settings.folders.bins, settings.folders.net]) await makeFolders(folder);
  const { folders } = settings;
  const etcd = await installCertificates(settings, say);
  const kubeconfigPath = `${folders.netOnHost}/${kubeconfigName}`;
  // What is wrong with the template is found before anything is in place.
  const known = { kubeconfigPath, serviceAccountToken: await mountedToken(root), etcd };
  const { text, value, unknown } = fill(chosenTemplate(variables), settings.variables, known);
  const bins = await installPrograms(settings, program, say);
  mustHaveKubeconfig(value, await installKubeconfig(settings, options, say), kubeconfigPath);
  for (const word of unknown) say(`warning: the network configuration has the word ${word}`);
  warnOfMissing(pluginsNamed(value), bins, say);
  await writeConfig(settings, text, say);
  await warnOfOthers(settings, say);
  say("the CNI plugin is installed");
  if (settings.stays) await stay(settings, options);
}

async function writeConfig({ folders, configName, oldConfigName }: InstallSettings, text: string, say: Say) {
  const file = join(folders.net, configName);
  await replaceFile(file, text, { mode: configMode });
  say(`wrote ${file}`);
  const old = join(folders.net, oldConfigName);
  if (old !== file && (await removeFile(old))) say(`removed ${old}`);
}

/** A chained plugin that is missing makes every pod fail, long after this has said that all is well. */
function warnOfMissing(named: readonly string[], bins: readonly string[], say: Say): void {
  for (const name of new Set(named))
    if (!bins.some((folder) => existsSync(join(folder, name))))
      say(
        `warning: the network configuration names the plugin ${name}, and ${bins.join(", ")} has none: put it there, or take it out of the configuration`,
      );
}

/** Runtimes take the first file of the folder, and a network that was there before stays the one that pods get. */
async function warnOfOthers({ folders: { net }, configName }: InstallSettings, say: Say): Promise<void> {
  const configurations = (await readdir(net)).filter((name) => /\.(conf|conflist|json)$/.test(name)).sort();
  const [first] = configurations;
  if (first === undefined || first === configName || !configurations.includes(configName)) return;
  say(
    `warning: ${join(net, first)} comes before ${configName}, and a runtime uses the first: remove it, or set CNI_CONF_NAME to a name that comes before it`,
  );
}

async function stay(settings: InstallSettings, { say, signal }: InstallOptions): Promise<void> {
  say(`following changes of ${settings.certificates} (SLEEP=false ends after installing)`);
  // Nothing else keeps the process up while a folder that is not there is waited for.
  const alive = setInterval(() => undefined, 60_000);
  try {
    await followCertificates(settings, say, signal);
  } finally {
    clearInterval(alive);
  }
}

async function mountedToken(root = ""): Promise<string> {
  const file = `${root}/var/run/secrets/kubernetes.io/serviceaccount/token`;
  return existsSync(file) ? (await readFile(file, "utf8")).trim() : "";
}

export async function uninstall(options: Omit<InstallOptions, "signal">): Promise<void> {
  const { variables, root, program } = options;
  let hasSaid = false;
  const say: Say = (line) => {
    hasSaid = true;
    options.say(line);
  };
  const settings = readInstallSettings(variables, root === undefined ? {} : { root });
  const { folders, configName } = settings;
  // First what kubelet looks for: from now on no pod is started that could not get its network.
  for (const name of [configName, kubeconfigName])
    if (await removeFile(join(folders.net, name)).catch(absent)) say(`removed ${join(folders.net, name)}`);
  await removeCertificates(settings, say);
  await removePrograms(settings, program ?? ownOrNone(settings), say);
  if (!hasSaid) say("nothing of the CNI plugin is here");
}

function ownOrNone({ brought }: InstallSettings): PluginProgram | undefined {
  try {
    return ownProgram({ isMounted: brought !== undefined });
  } catch {
    return undefined; // what was put there by another installation is known by its mark
  }
}

/** No such folder: nothing was installed. */
function absent(error: unknown): false {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  if (cause?.code === "ENOENT" || cause?.code === "ENOTDIR") return false;
  throw error;
}
