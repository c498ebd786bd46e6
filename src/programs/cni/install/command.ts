// The command lines of the installer.
import { Command } from "commander";
import { namespaceName } from "../../shared/option-values.ts";

type Flags = { readonly pluginKubeconfig?: string; readonly namespace?: string };

export function installCommand(): Command {
  return new Command("install")
    .description("put plugin, kubeconfig and network configuration in place on this host")
    .option("--plugin-kubeconfig <file>", "a kubeconfig that was made for the plugin; it is used as it is")
    .option(
      "-n, --namespace <name>",
      "namespace of the plugin's service account (default: this pod's, or kube-system)",
      namespaceName,
    )
    .addHelpText(
      "after",
      `
Reads the variables of Calico's installer: CNI_NET_DIR, CNI_CONF_NAME, CNI_OLD_CONF_NAME, CNI_NETWORK_CONFIG,
CNI_NETWORK_CONFIG_FILE, CNI_MTU, SKIP_CNI_BINARIES, UPDATE_CNI_BINARIES, SLEEP, CALICO_CNI_SERVICE_ACCOUNT and
others: docs/reference/cni-install.md lists them. With KUBECONFIG, a token of the plugin's service account is asked
for; in a pod, with the pod's own account. Folders mounted below /host are used where they are there.

Examples:
  KUBECONFIG=/etc/kubernetes/admin.conf cattail cni install
  cattail cni install --plugin-kubeconfig cni.kubeconfig
  DATASTORE_TYPE=directory CNI_NETWORK_CONFIG_FILE=net.json cattail cni install`,
    )
    .action(async ({ pluginKubeconfig, namespace }: Flags) => {
      const { install } = await import("./install.ts");
      const stop = new AbortController();
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());
      const { env: variables } = process;
      await install({ variables, pluginKubeconfig, namespace, signal: stop.signal, say: (line) => console.log(line) });
    });
}

export function uninstallCommand(): Command {
  return new Command("uninstall")
    .description("take plugin, kubeconfig and network configuration away again")
    .addHelpText(
      "after",
      `
Reads the same variables as install. Pods that run keep their network, but cannot be removed without a plugin: take
them off the node first. Other plugins, and a calico that somebody else installed, stay.

Examples:
  cattail cni uninstall`,
    )
    .action(async () => {
      const { uninstall } = await import("./install.ts");
      await uninstall({ variables: process.env, say: (line) => console.log(line) });
    });
}
