import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { followedKinds, type Kind, kindInfo } from "../../../calico/kinds/index.ts";
import { isProblem } from "../finding.ts";
import { checkRights, usesOf } from "./check-rights.ts";

const kubernetesKinds = followedKinds.filter((kind) => kindInfo(kind).kubernetes !== undefined);

function grantedBut(kind: Kind, verb: string) {
  return {
    mayI: async (askedVerb: string, askedKind: Kind) =>
      askedVerb === verb && askedKind === kind
        ? ({ may: false, missingRule: `- ${verb} ${kind}\n` } as const)
        : ({ may: true } as const),
  };
}

for (const { kind, verb, for: purpose } of usesOf(kubernetesKinds)) {
  test(`without the right to ${verb} ${kind}, that and nothing else is found`, async () => {
    const found = (await checkRights(grantedBut(kind, verb), kubernetesKinds)).filter(isProblem);
    const isEnforcement = kindInfo(kind).carries === "enforcement";
    const code =
      purpose === "setup" ? "RIGHT_MISSING_SETUP" : isEnforcement ? "RIGHT_MISSING" : "RIGHT_MISSING_OPTIONAL";
    deepEqual(
      found.map((finding) => [finding.code, finding.what.startsWith(`may not ${verb} `)]),
      [[code, true]],
    );
  });
}

test("without any right there is one finding, with all the rules", async () => {
  const nothing = {
    mayI: async (verb: string, kind: Kind) => ({ may: false, missingRule: `- ${verb} ${kind}` }) as const,
  };
  const found = (await checkRights(nothing, kubernetesKinds)).filter(isProblem);
  deepEqual(
    found.map(({ code }) => code),
    ["RIGHTS_MISSING"],
  );
  for (const { kind, verb } of usesOf(kubernetesKinds))
    match(found[0]?.fix ?? "", new RegExp(`^- ${verb} ${kind}$`, "m"));
});

test("with every right there is nothing to say but that", async () => {
  const found = await checkRights({ mayI: async () => ({ may: true }) as const }, kubernetesKinds);
  deepEqual(found, [
    { level: "ok", what: `all ${usesOf(kubernetesKinds).length} rights that the server uses are granted` },
  ]);
});
