// What Calico needs of a kernel, and whether a kernel has it: as a module that is loaded, that could be loaded or is built in, or
// by the configuration that the kernel was built with. Pure; checksystem.ts reads the files.

export type KernelNeed = {
  readonly name: string;
  /** Other modules that are as good. */
  readonly alternatives?: readonly string[];
  /** In the kernel's configuration; one is enough. */
  readonly options: readonly string[];
  /** Calico does without. */
  readonly isOptional?: true;
};

export const kernelNeeds: readonly KernelNeed[] = [
  { name: "ip_set", options: ["CONFIG_IP_SET"] },
  { name: "ip6_tables", options: ["CONFIG_IP6_NF_IPTABLES"], isOptional: true },
  { name: "ip_tables", options: ["CONFIG_IP_NF_IPTABLES"] },
  { name: "ipt_ipvs", options: ["CONFIG_NETFILTER_XT_MATCH_IPVS"], alternatives: ["xt_ipvs"] },
  { name: "vfio-pci", options: ["CONFIG_VFIO", "CONFIG_VFIO_PCI"], alternatives: ["vfio_pci"] },
  { name: "xt_bpf", options: ["CONFIG_BPF", "CONFIG_NETFILTER_XT_MATCH_BPF"], isOptional: true },
  {
    name: "ipt_REJECT",
    options: ["CONFIG_IP_NF_TARGET_REJECT", "CONFIG_NFT_REJECT", "CONFIG_NETFILTER_XT_TARGET_REJECT"],
    alternatives: ["xt_REJECT"],
  },
  {
    name: "xt_rpfilter",
    options: ["CONFIG_IP_NF_MATCH_RPFILTER", "CONFIG_IP6_NF_MATCH_RPFILTER", "CONFIG_NETFILTER_XT_MATCH_RPFILTER"],
    alternatives: ["ipt_rpfilter"],
  },
  { name: "nf_conntrack_netlink", options: ["CONFIG_NF_CT_NETLINK"] },
  { name: "xt_addrtype", options: ["CONFIG_NETFILTER_XT_MATCH_ADDRTYPE"] },
  { name: "xt_conntrack", options: ["CONFIG_NETFILTER_XT_MATCH_CONNTRACK"] },
  {
    name: "xt_mark",
    options: ["CONFIG_NETFILTER_XT_MARK", "CONFIG_IP_NF_TARGET_MARK", "CONFIG_NETFILTER_XT_TARGET_MARK"],
  },
  { name: "xt_multiport", options: ["CONFIG_NETFILTER_XT_MATCH_MULTIPORT", "CONFIG_IP_NF_MATCH_MULTIPORT"] },
  { name: "xt_set", options: ["CONFIG_NETFILTER_XT_SET"], alternatives: ["ipt_set"] },
  { name: "xt_u32", options: ["CONFIG_NETFILTER_XT_MATCH_U32"], isOptional: true },
];

export type KernelFacts = {
  /** Loaded or built in, with underscores: names in /sys/module and /proc/modules, and what modules.dep and modules.builtin list. */
  readonly modules: ReadonlySet<string>;
  /** Of the kernel's configuration: those that are y or m. */
  readonly options: ReadonlySet<string>;
};

export function isThere({ name, alternatives = [], options }: KernelNeed, facts: KernelFacts): boolean {
  const isModule = [name, ...alternatives].some((module) => facts.modules.has(module.replaceAll("-", "_")));
  return isModule || options.some((option) => facts.options.has(option));
}

/** Modules that a file lists by their paths: kernel/net/netfilter/xt_set.ko.zst: … */
export function modulesListed(text: string): string[] {
  return [...text.matchAll(/(?:^|[/\s])([\w-]+)\.ko(?:\.(?:gz|xz|zst|bz2))?(?=[:\s]|$)/gm)].map(([, name = ""]) =>
    name.replaceAll("-", "_"),
  );
}

/** Modules in /proc/modules: one on each line, its name first. */
export function modulesLoaded(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [name = ""] = line.split(" ");
    return name === "" ? [] : [name.replaceAll("-", "_")];
  });
}

export function optionsSet(text: string): string[] {
  return [...text.matchAll(/^(CONFIG_\w+)=[ym]\r?$/gm)].map(([, name = ""]) => name);
}

/** With which network namespaces and veth pairs came. */
export const oldestKernel = "2.6.24";

export function isNewEnough(version: string, oldest = oldestKernel): boolean {
  const numbers = (text: string) => text.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [have, want] = [numbers(version), numbers(oldest)];
  for (const [at, wanted] of want.entries()) {
    const found = have[at] ?? 0;
    if (found !== wanted) return found > wanted;
  }
  return true;
}
