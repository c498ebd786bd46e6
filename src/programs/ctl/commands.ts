// Every command of ctl, once. The parser, the help, completion and docs/reference/ctl.md are loops over this table.
import type { CtlCommand, Flag } from "./command.ts";
import { config, input, namespace } from "./command-line/flags.ts";

const anyWords = { takes: "any" } as const;
const kindAndNames = { words: anyWords, wordsUsage: "[KIND [NAME...]]" };

const resourceCommands: readonly CtlCommand[] = [
  {
    path: ["create"],
    says: "create objects; one that exists is an error",
    words: anyWords,
    flags: [...input, { name: "skip-exists", says: "an object that exists counts as created, and stays as it is" }],
    examples: ["ctl create -f pools.yaml", "ctl create -f policies/ -R --skip-exists"],
    checksVersion: true,
    load: async () => (await import("./resources/write.ts")).create,
  },
  {
    path: ["apply"],
    says: "create objects, or replace those that exist",
    words: anyWords,
    flags: [...input, { name: "dry-run", says: "check everything and say what would happen, without writing" }],
    examples: ["ctl apply -f pools.yaml", "cat policy.json | ctl apply -f -", "ctl apply -f policies/ --dry-run"],
    checksVersion: true,
    load: async () => (await import("./resources/write.ts")).apply,
  },
  {
    path: ["replace"],
    says: "replace objects; one that does not exist is an error",
    words: anyWords,
    flags: input,
    examples: ["ctl replace -f pools.yaml"],
    checksVersion: true,
    load: async () => (await import("./resources/write.ts")).replace,
  },
  {
    path: ["delete"],
    says: "delete objects, by kind and name or by file",
    ...kindAndNames,
    flags: [...input, { name: "skip-not-exists", short: "s", says: "an object that does not exist counts as deleted" }],
    examples: ["ctl delete networkpolicy allow-dns web -n prod", "ctl delete -f pools.yaml"],
    checksVersion: true,
    load: async () => (await import("./resources/delete.ts")).deleteObjects,
  },
  {
    path: ["get"],
    says: "show objects: all of a kind, some by name, or those of a file",
    ...kindAndNames,
    flags: [
      {
        name: "output",
        short: "o",
        value: "FORMAT",
        default: "ps",
        says: "ps, wide, yaml, json, name, custom-columns=A,B, go-template=TEMPLATE or go-template-file=FILE",
      },
      {
        name: "all-namespaces",
        short: "A",
        alsoShort: "a",
        says: "objects of all namespaces",
      },
      { name: "export", says: "leave out what belongs to this cluster (uid, times, versions), of objects named" },
      { name: "watch", short: "w", says: "then follow changes, until Ctrl-C" },
      ...input,
    ],
    examples: [
      "ctl get nodes",
      "ctl get ippools -o wide",
      "ctl get networkpolicy allow-dns -n prod -o yaml",
      "ctl get workloadendpoints -A -w",
    ],
    checksVersion: true,
    load: async () => (await import("./resources/get.ts")).get,
  },
  {
    path: ["diff"],
    says: "show what apply would change; exit code 0: nothing, 1: something, 2: an error (Cattail only)",
    words: anyWords,
    flags: input,
    examples: ["ctl diff -f pools.yaml", "ctl diff -f policies/ -R && echo nothing to do"],
    checksVersion: true,
    load: async () => (await import("./resources/diff.ts")).diff,
  },
  {
    path: ["patch"],
    says: "change some fields of an object",
    words: { takes: "exactly", count: 2 },
    wordsUsage: "KIND NAME",
    flags: [
      { name: "patch", short: "p", value: "JSON", says: "the change" },
      {
        name: "type",
        short: "t",
        value: "TYPE",
        default: "strategic",
        says: "strategic or merge: fields to set, null to remove one; json: a list of operations",
      },
      namespace,
      config,
    ],
    examples: [`ctl patch ippool pool-1 -p '{"spec":{"natOutgoing":true}}'`],
    checksVersion: true,
    load: async () => (await import("./resources/patch.ts")).patch,
  },
  {
    path: ["label"],
    says: "set or remove a label of an object",
    words: { takes: "at least", count: 3 },
    wordsUsage: "KIND NAME KEY=VALUE | KIND NAME KEY --remove",
    flags: [
      { name: "overwrite", says: "change the value of a label that is there" },
      { name: "remove", says: "remove the label" },
      namespace,
      config,
    ],
    examples: ["ctl label node node-1 rack=r1", "ctl label node node-1 rack --remove"],
    checksVersion: true,
    load: async () => (await import("./resources/label.ts")).label,
  },
  {
    path: ["validate"],
    says: "check objects without a datastore",
    words: anyWords,
    flags: input,
    examples: ["ctl validate -f policies/ -R"],
    checksVersion: false,
    load: async () => (await import("./resources/validate.ts")).validate,
  },
];

const ipamCommands: readonly CtlCommand[] = [
  {
    path: ["ipam", "show"],
    says: "show how full the pools are, or who has an address",
    words: anyWords,
    flags: [
      { name: "ip", value: "IP", says: "who has this address" },
      { name: "show-blocks", says: "each pool's blocks, too" },
      { name: "show-borrowed", says: "addresses that a node took from another node's block" },
      { name: "show-configuration", says: "IPAM's settings" },
      config,
    ],
    examples: ["ctl ipam show", "ctl ipam show --show-blocks", "ctl ipam show --ip 10.244.0.7"],
    checksVersion: true,
    load: async () => (await import("./ipam/show/show.ts")).run,
  },
  {
    path: ["ipam", "check"],
    says: "compare what is allocated with what is in use",
    words: anyWords,
    flags: [
      { name: "show-all-ips", says: "print every address that is checked" },
      { name: "show-problem-ips", says: "print the addresses that leaked or are not allocated properly" },
      { name: "output", short: "o", value: "FILE", says: "write a report, for ipam release --from-report" },
      { name: "kubeconfig", value: "FILE", says: "where the pods are, when the datastore is etcd" },
      { name: "findings", says: "also say what mends each problem; on a terminal this is always said" },
      { name: "fix", says: "mend what can be mended; safe while the cluster is at work" },
      {
        name: "patience",
        value: "TIME",
        default: "150s",
        says: "how long --fix looks at what may be somebody's work in progress; 0s while the datastore is locked",
      },
      config,
    ],
    examples: ["ctl ipam check", "ctl ipam check --show-problem-ips -o report.json", "ctl ipam check --fix"],
    checksVersion: true,
    load: async () => (await import("./ipam/check/check.ts")).run,
  },
  {
    path: ["ipam", "release"],
    says: "give back an address, or all that a report found leaked",
    words: anyWords,
    flags: [
      { name: "ip", value: "IP", says: "the address to give back" },
      {
        name: "from-report",
        value: "FILE",
        isRepeatable: true,
        says: "a report of ipam check; of several, what leaked in all of them is given back",
      },
      { name: "force", says: "also with a report of another version, or an unlocked datastore" },
      config,
    ],
    examples: ["ctl ipam release --ip 10.244.0.7", "ctl ipam release --from-report report.json"],
    checksVersion: true,
    load: async () => (await import("./ipam/release.ts")).run,
  },
  {
    path: ["ipam", "configure"],
    says: "change IPAM's settings",
    words: anyWords,
    flags: [
      { name: "strictaffinity", value: "BOOL", says: "true: a node takes addresses from its own blocks only" },
      { name: "max-blocks-per-host", value: "N", says: "most blocks of a node; 0: no limit" },
      {
        name: "kubevirt-ip-persistence",
        value: "Enabled|Disabled",
        says: "whether virtual machines of KubeVirt keep their addresses",
      },
      {
        name: "ip-cooldown-seconds",
        value: "N",
        isNumber: true,
        default: "-1",
        says: "for so long an address that was given back is not given out again",
      },
      config,
    ],
    examples: ["ctl ipam configure --strictaffinity=true"],
    checksVersion: true,
    load: async () => (await import("./ipam/configure.ts")).run,
  },
  {
    path: ["ipam", "split"],
    says: "split a pool into smaller ones; the datastore must be locked",
    words: { takes: "exactly", count: 1 },
    wordsUsage: "NUMBER",
    flags: [
      { name: "cidr", value: "CIDR", says: "the pool, by its addresses" },
      { name: "name", value: "POOL", says: "the pool, by its name" },
      config,
    ],
    examples: ["ctl ipam split 4 --name pool-1"],
    checksVersion: true,
    load: async () => (await import("./ipam/split.ts")).run,
  },
];

const logFolder = "/var/log/calico";
/** Taken, so that a script that still has them is told why it fails, and not that a flag is unknown. */
const nodeRunFlags: readonly Flag[] = [
  ...[
    "ip",
    "ip6",
    "as",
    "name",
    "ip-autodetection-method",
    "ip6-autodetection-method",
    "log-dir",
    "node-image",
    "backend",
    "felix-config",
  ].map((name) => ({ name, value: "VALUE", says: "of the original" })),
  ...["dryrun", "init-system", "no-default-ippools"].map((name) => ({ name, says: "of the original" })),
];

const nodeCommands: readonly CtlCommand[] = [
  {
    path: ["node", "status"],
    says: "whether Calico runs on this node, and its BGP peers; needs root",
    words: anyWords,
    flags: [],
    examples: ["sudo ctl node status"],
    checksVersion: false,
    load: async () => (await import("./node/status.ts")).run,
  },
  {
    path: ["node", "checksystem"],
    says: "check that this node's kernel has what Calico needs",
    words: anyWords,
    flags: [
      { name: "kernel-config", short: "f", value: "FILE", says: "the kernel's configuration, if not where usual" },
    ],
    examples: ["ctl node checksystem"],
    checksVersion: false,
    load: async () => (await import("./node/checksystem.ts")).run,
  },
  {
    path: ["node", "diags"],
    says: "collect this node's state and logs into an archive; needs root",
    words: anyWords,
    flags: [{ name: "log-dir", value: "FOLDER", default: logFolder, says: "Calico's logs" }],
    examples: ["sudo ctl node diags"],
    checksVersion: false,
    load: async () => (await import("./node/diags.ts")).run,
  },
  {
    path: ["node", "run"],
    says: "not available: the original starts calico/node in a Docker container with it",
    words: anyWords,
    flags: [...nodeRunFlags, config],
    examples: ["ctl node run"],
    checksVersion: false,
    load: async () => (await import("./node/run.ts")).run,
  },
];

const datastoreCommands: readonly CtlCommand[] = [
  {
    path: ["datastore", "migrate", "lock"],
    says: "lock the datastore, so that nothing changes during a migration",
    words: anyWords,
    flags: [config],
    examples: ["ctl datastore migrate lock"],
    checksVersion: true,
    load: async () => (await import("./datastore/lock.ts")).run,
  },
  {
    path: ["datastore", "migrate", "unlock"],
    says: "unlock the datastore",
    words: anyWords,
    flags: [config],
    examples: ["ctl datastore migrate unlock"],
    checksVersion: true,
    load: async () => (await import("./datastore/unlock.ts")).run,
  },
  {
    path: ["datastore", "migrate", "export"],
    says: "print everything in a locked etcd",
    words: anyWords,
    flags: [config],
    examples: ["ctl datastore migrate export > datastore.yaml"],
    checksVersion: true,
    load: async () => (await import("./datastore/export.ts")).run,
  },
  {
    path: ["datastore", "migrate", "import"],
    says: "store in Kubernetes what export printed",
    words: anyWords,
    flags: [{ name: "filename", short: "f", value: "FILE", says: "what export printed" }, config],
    examples: ["ctl datastore migrate import -f datastore.yaml"],
    checksVersion: false,
    load: async () => (await import("./datastore/import.ts")).run,
  },
  {
    path: ["datastore", "migrate-policy-names"],
    says: "rename policies that carry the tier in their name, as before v3.32",
    words: anyWords,
    flags: [config],
    examples: ["ctl datastore migrate-policy-names"],
    checksVersion: true,
    load: async () => (await import("./datastore/migrate-policy-names.ts")).run,
  },
];

const otherCommands: readonly CtlCommand[] = [
  {
    path: ["cluster", "diags"],
    says: "collect the cluster's state and logs into an archive",
    words: anyWords,
    flags: [
      { name: "since", value: "DURATION", says: "logs of this time only, such as 30m or 2h" },
      {
        name: "max-logs",
        value: "N",
        isNumber: true,
        default: "5",
        says: "logs of so many pods of each part of Calico",
      },
      { name: "max-parallelism", value: "N", isNumber: true, default: "10", says: "so many collectors at a time" },
      { name: "focus-nodes", value: "NODES", says: "nodes to begin with, separated by commas" },
      { name: "skip-temp-dir-cleanup", says: "leave the collected files beside the archive" },
      config,
    ],
    examples: ["ctl cluster diags --since 1h"],
    checksVersion: false,
    load: async () => (await import("./cluster/diags.ts")).run,
  },
  {
    path: ["version"],
    says: "the versions of this program and of the cluster",
    words: anyWords,
    flags: [
      { name: "client", says: "of this program only" },
      { name: "poll", value: "DURATION", says: "ask the cluster again after this time, such as 30s, and say changes" },
      config,
    ],
    examples: ["ctl version", "ctl version --client"],
    checksVersion: false,
    load: async () => (await import("./version/version.ts")).run,
  },
  {
    path: ["completion"],
    says: "print a completion script for bash, zsh or fish",
    words: { takes: "exactly", count: 1 },
    wordsUsage: "SHELL",
    flags: [],
    examples: ["ctl completion bash > /etc/bash_completion.d/calicoctl"],
    checksVersion: false,
    load: async () => (await import("./command-line/completion.ts")).completionOf({ commands, groups }),
  },
];

export const commands: readonly CtlCommand[] = [
  ...resourceCommands,
  ...ipamCommands,
  ...nodeCommands,
  ...datastoreCommands,
  ...otherCommands,
];

/** What a word that has commands below it is about. */
export const groups: readonly { readonly path: readonly string[]; readonly says: string }[] = [
  { path: ["ipam"], says: "look after IP addresses" },
  { path: ["node"], says: "look after this node" },
  { path: ["datastore"], says: "look after the datastore" },
  { path: ["datastore", "migrate"], says: "move a cluster's data from etcd to Kubernetes" },
  { path: ["cluster"], says: "look after the cluster" },
];
