// Certificates for etcd: from a mounted Secret to the host, where the plugin reads them on every call.
import { existsSync } from "node:fs";
import { chmod, lstat, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../base/lib/index.ts";
import { makeFolders, watchFolder } from "../../../base/linux/files.ts";
import { putCopy, type Say } from "./programs.ts";
import type { InstallSettings } from "./settings.ts";

const files = { ca: "etcd-ca", cert: "etcd-cert", key: "etcd-key" } as const;
const folderName = "calico-tls";

export type InstalledCertificates = { readonly ca: string; readonly cert: string; readonly key: string };

/** Their paths on the host; empty for those that are not there. Old ones go. */
export async function installCertificates(settings: InstallSettings, say: Say): Promise<InstalledCertificates> {
  const { folders, certificates } = settings;
  const target = join(folders.net, folderName);
  const has = Object.values(files).filter((name) => existsSync(join(certificates, name)));
  if (has.length === 0) await rm(target, { recursive: true, force: true });
  else await copyAll(settings, say);
  const onHost = (name: string) =>
    has.includes(name as (typeof has)[number]) ? `${folders.netOnHost}/${folderName}/${name}` : "";
  return { ca: onHost(files.ca), cert: onHost(files.cert), key: onHost(files.key) };
}

async function copyAll({ folders, certificates }: InstallSettings, say: Say): Promise<void> {
  const target = join(folders.net, folderName);
  // What is no certificate is removed below: never from a folder that a link leads to.
  if ((await lstat(target).catch(() => undefined))?.isSymbolicLink()) await rm(target);
  await makeFolders(target, 0o700);
  await chmod(target, 0o700);
  const names = Object.values(files);
  for (const name of await readdir(target))
    if (!existsSync(join(certificates, name))) await rm(join(target, name), { recursive: true });
  for (const name of names) {
    if (existsSync(join(certificates, name))) await putCopy(join(certificates, name), join(target, name), say);
    else say(`${join(certificates, name)} is not there`);
  }
}

/** Until the signal: whatever changes in the Secret is on the host soon after. */
export async function followCertificates(settings: InstallSettings, say: Say, signal: AbortSignal): Promise<void> {
  for await (const { because } of watchFolder(settings.certificates, { signal })) {
    if (!existsSync(settings.certificates)) continue;
    // At the start, too: what changed between the installation and now raised no notice. What is as it was has been said.
    const tell = because === "start" ? () => undefined : say;
    try {
      if ((await stat(settings.certificates)).isDirectory()) await installCertificates(settings, tell);
    } catch (error) {
      say(`the certificates were not copied: ${messageOf(error)}`); // and are, when they change next
    }
  }
}

export async function removeCertificates({ folders }: InstallSettings, say: Say): Promise<void> {
  const target = join(folders.net, folderName);
  if (!existsSync(target)) return;
  await rm(target, { recursive: true });
  say(`removed ${target}`);
}
