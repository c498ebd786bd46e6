// What the installer is told: the original's variables, and where on this machine the host's folders are.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { CattailError } from "../../../base/lib/index.ts";

export type Variables = { readonly [name: string]: string | undefined };

export type InstallSettings = {
  /** The host's folders as they are reached from here; the conflist speaks of them by their paths on the host. */
  readonly folders: {
    /** Those that can be written to get the plugins. */
    readonly bins: readonly string[];
    readonly net: string;
    /** As the host calls `net`. */
    readonly netOnHost: string;
  };
  readonly configName: string;
  /** Of an installation before this one. */
  readonly oldConfigName: string;
  readonly certificates: string;
  readonly skipped: readonly string[];
  readonly updates: boolean;
  /** Stay, and follow changes of certificates. */
  readonly stays: boolean;
  readonly variables: Variables;
  /** Other plugins that are brought along, in an image. */
  readonly brought: string | undefined;
};

const mounted = "/host";
const binFolder = "/opt/cni/bin";
const usualConfig = "10-calico.conflist";

/** `root`: in front of every path, for tests. Throws CattailError for a setting that cannot be. */
export function readInstallSettings(variables: Variables, { root = "" } = {}): InstallSettings {
  const netOnHost = absolute("CNI_NET_DIR", variables.CNI_NET_DIR || "/etc/cni/net.d");
  const isMounted = [binFolder, "/etc/cni/net.d"].some((folder) => existsSync(`${root}${mounted}${folder}`));
  const folders = isMounted
    ? {
        bins: [`${root}${mounted}${binFolder}`, `${root}${mounted}/secondary-bin-dir`],
        net: `${root}${mounted}/etc/cni/net.d`,
        netOnHost,
      }
    : {
        bins: [`${root}${absolute("CNI_BIN_DIR", variables.CNI_BIN_DIR || binFolder)}`],
        net: `${root}${netOnHost}`,
        netOnHost,
      };
  return {
    folders,
    configName: fileName("CNI_CONF_NAME", variables.CNI_CONF_NAME || usualConfig),
    oldConfigName: fileName("CNI_OLD_CONF_NAME", variables.CNI_OLD_CONF_NAME || usualConfig),
    certificates: `${root}${absolute("TLS_ASSETS_DIR", variables.TLS_ASSETS_DIR || "/calico-secrets")}`,
    skipped: (variables.SKIP_CNI_BINARIES ?? "")
      .split(",")
      .flatMap((name) => (name.trim() === "" ? [] : [name.trim()])),
    updates: yesOrNo("UPDATE_CNI_BINARIES", variables.UPDATE_CNI_BINARIES, true),
    // A container that ended would be started again and again; a command that a person types is to end.
    stays: yesOrNo("SLEEP", variables.SLEEP, isMounted),
    variables: { KUBERNETES_NODE_NAME: hostname().toLowerCase(), ...set(variables) },
    brought: isMounted ? `${root}${binFolder}` : undefined,
  };
}

function set(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

function absolute(name: string, path: string): string {
  if (path.startsWith("/") && !/[\0\n"\\]/.test(path) && !path.split("/").includes(".."))
    return path.replace(/\/+$/, "");
  throw bad(name, path, "an absolute path of the host, without .. in it");
}

/** It is put behind a folder, as root. */
function fileName(name: string, text: string): string {
  if (/^[\w][\w.-]{0,127}$/.test(text)) return text;
  throw bad(name, text, "the name of a file: letters, digits, dots, dashes and underscores");
}

function yesOrNo(name: string, text: string | undefined, otherwise: boolean): boolean {
  if (text === undefined || text === "") return otherwise;
  if (/^(true|t|1)$/i.test(text)) return true;
  if (/^(false|f|0)$/i.test(text)) return false;
  throw bad(name, text, "true or false");
}

function bad(name: string, value: string, wanted: string): CattailError {
  return new CattailError("CNI_INSTALL_SETTING", {
    problem: `${name} is ${JSON.stringify(value)}, and has to be ${wanted}`,
    next: `Correct ${name}, or leave it out; docs/reference/cni-install.md lists the installer's settings`,
  });
}
