// What a node writes for other programs out of what users have named: packet rules for nft and BIRD's configuration. Texts that would end a string, a
// statement or a line stand wherever somebody can put a text; nothing of them may stand in what is written, but for cleaned words inside quotes.
import { NodePolicy } from "../../../src/calico/policy/index.ts";
import { BgpObjects } from "../../../src/node/bird/model/objects.ts";
import { RulesetBuilder } from "../../../src/node/dataplane/nft/build.ts";
import { dataplaneSettings } from "../../../src/node/dataplane/settings.ts";
import { everything, renderObjects } from "../../kit/bgp/everything.ts";
import type { Random } from "../../kit/random.ts";
import { bent } from "./bend.ts";
import { BrokenOut, type Targets } from "./case.ts";
import { recordedNode, recordedUpdates } from "./inputs.ts";

export const texts = {
  "nft-text": () => {
    const updates = recordedUpdates().filter(({ value }) => /^[{[]/.test(value));
    let made = freshRules();
    return (random) => {
      if (random.isOneIn(50)) made = freshRules();
      const { path, value } = random.pick(updates);
      const [key, text] = [
        hostilePath(path, random),
        JSON.stringify(hostile(forAll(JSON.parse(value), random), random)),
      ];
      return { input: `${key} ${text}`, read: () => checkRules(made(key, text)) };
    };
  },
  "bird-text": () => {
    const objects = new BgpObjects();
    const paths = Object.keys(everything);
    for (const path of paths) objects.set(path, JSON.stringify(everything[path]));
    return (random) => {
      const path = random.pick(paths);
      const [key, text] = [hostilePath(path, random), JSON.stringify(hostile(everything[path], random))];
      const generation = random.isOneIn(3) ? 1 : 2;
      return {
        input: `${generation} ${key} ${text}`,
        read: () => {
          objects.set(key, text);
          try {
            for (const file of Object.values(renderObjects(objects, generation)))
              if (file !== undefined) checkBird(file);
          } finally {
            objects.delete(key);
            objects.set(path, JSON.stringify(everything[path]));
          }
        },
      };
    };
  },
} satisfies Targets;

const breakers = [
  'x" hostile; "',
  "x' hostile; '",
  "hostile\n",
  "\nadd rule inet hostile",
  "10.0.0.9; hostile",
  "10.0.0.0/8 hostile",
  "} hostile {",
  "@hostile",
  "$hostile",
  "hostile\\",
  "/* hostile",
  "# hostile",
  "\0hostile",
  "../../hostile",
  "80, hostile",
  "8080:hostile",
  "hostile*",
  `${"h".repeat(200)}hostile`,
] as const;

function hostile(value: unknown, random: Random): unknown {
  const changed = withHostile(value, random);
  return random.isOneIn(4) ? bent(changed, random) : changed;
}

/** About one text in four, and one number in ten, is somebody's attempt. */
function withHostile(value: unknown, random: Random): unknown {
  if (typeof value === "string") return random.isOneIn(4) ? random.pick(breakers) : value;
  if (typeof value === "number") return random.isOneIn(10) ? random.pick([...breakers, -1, 1.5, 1e21, 70_000]) : value;
  if (Array.isArray(value)) return value.map((each) => withHostile(each, random));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      random.isOneIn(60) ? random.pick(breakers) : name,
      withHostile(each, random),
    ]),
  );
}

function hostilePath(path: string, random: Random): string {
  if (!random.isOneIn(3)) return path;
  const parts = path.split("/");
  return parts
    .with(-1, random.isOneIn(2) ? random.pick(breakers) : encodeURIComponent(random.pick(breakers)))
    .join("/");
}

const pod = {
  state: "active",
  name: "cali1",
  ipv4_nets: ["10.0.0.1/32"],
  labels: { app: "web" },
  profile_ids: ["kns.default"],
  ports: [{ name: "http", protocol: "TCP", port: 80 }],
};

/** Policies that apply to nobody leave nothing in the table: half of them apply to everybody. */
function forAll(value: unknown, random: Random): unknown {
  const isPolicy = typeof value === "object" && value !== null && "selector" in value;
  return isPolicy && random.isOneIn(2) ? { ...value, selector: "all()" } : value;
}

function freshRules(): (path: string, value: string) => string {
  const index = new NodePolicy(recordedNode);
  const settings: { readonly [name: string]: string } = {
    DropSamplesPerSecond: "5",
    WorkloadSourceSpoofing: "Any",
    LogPrefix: "%t %k %p",
  };
  const builder = new RulesetBuilder(dataplaneSettings({ raw: (name) => settings[name] }));
  index.update(`/calico/v1/host/${recordedNode}/workload/k8s/default%2fweb/endpoint/eth0`, JSON.stringify(pod));
  return (path, value) => {
    index.update(path, value);
    builder.take(index.takeChanges());
    let text = "";
    for (let next = builder.ruleset.transaction(); next !== undefined; next = builder.ruleset.transaction()) {
      text += next.text;
      next.taken();
    }
    return text;
  };
}

/** Inside quotes: what names.ts and the log's prefix let through. Outside: words, numbers, addresses and nft's own signs. */
const quotedOfRules = /"[A-Za-z0-9_./:()?#%|+=[\] *-]{0,127}"/g;
const signsOfRules = /^[A-Za-z0-9_ \n{}@.,:;=!/+*-]*$/;

function checkRules(text: string): void {
  const bare = text.replace(quotedOfRules, "Q");
  if (bare.includes("hostile") || !signsOfRules.test(bare) || bare.includes("NaN") || bare.includes("undefined"))
    throw new BrokenOut(`in the packet rules: ${near(bare, /hostile|NaN|undefined|[^A-Za-z0-9_ \n{}@.,:;=!/+*-]/)}`);
}

/** A name of a filter becomes a symbol, cleaned; passwords are the kit's. */
function checkBird(text: string): void {
  const bare = text
    .replaceAll(`"it's {a}; # secret"`, "Q")
    .replace(/'[A-Za-z0-9_.-]*'/g, "Q")
    .replace(/"[A-Za-z0-9_.:@*-]{1,16}"/g, "Q") // a pattern of interfaces
    .replace(/#[^\n]*\n/g, (line) => (/^# (?:Written by cattail|IPv[46]\n)/.test(line) ? "\n" : line));
  if (bare.includes("hostile") || bare.includes("NaN") || bare.includes("undefined"))
    throw new BrokenOut(`in BIRD's configuration: ${near(bare, /hostile|NaN|undefined/)}`);
}

function near(text: string, what: RegExp): string {
  const at = text.search(what);
  return JSON.stringify(text.slice(Math.max(0, at - 80), at + 80));
}
