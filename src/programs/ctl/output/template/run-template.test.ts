import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readV3 } from "../../../../calico/resources/index.ts";
import { CtlError } from "../../console.ts";
import type { Result } from "../result.ts";
import { asksForConfig, runTemplate } from "./run-template.ts";

const pool = readV3("IPPool", {
  metadata: { name: "a", labels: { x: "1", y: "2" }, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { cidr: "10.1.0.0/16", allowedUses: ["Workload", "Tunnel"] },
});
const policy = readV3("GlobalNetworkPolicy", {
  metadata: { name: "b" },
  spec: { ingress: [{ action: "Allow", protocol: "TCP", destination: { ports: [80, "90:91"] } }, { action: "Deny" }] },
});
const results: readonly Result[] = [
  { is: "list", kind: "IPPool", items: [pool], resourceVersion: "7" },
  { is: "object", object: policy },
  { is: "object", object: readV3("Tier", { metadata: { name: "t" }, spec: { order: 1000000 } }) },
];

const p = "(index (index . 0).Items 0)";
const g = "(index . 1)";

const cases: { name: string; template: string; text: string }[] = [
  { name: "text stays text", template: "a {b} }}", text: "a {b} }}" },
  { name: "fields by Go's names", template: `{{${p}.ObjectMeta.Name}} {{${p}.Spec.CIDR}}`, text: "a 10.1.0.0/16" },
  {
    name: "fields of what is embedded",
    template: `{{${p}.Name}} {{${p}.Kind}} {{${p}.APIVersion}}`,
    text: "a IPPool projectcalico.org/v3",
  },
  {
    name: "fields by their names in JSON",
    template: `{{${p}.metadata.name}} {{${p}.spec.cidr}}`,
    text: "a 10.1.0.0/16",
  },
  {
    name: "a list's own fields",
    template: "{{(index . 0).Kind}} {{(index . 0).ListMeta.ResourceVersion}}",
    text: "IPPoolList 7",
  },
  {
    name: "a field that is not set has its zero value, a pointer is nil",
    template: `{{${p}.Spec.Disabled}} "{{${p}.Spec.IPIPMode}}" {{${p}.Spec.BlockSize}} {{${g}.Spec.Order}} {{${g}.Labels}} {{${g}.Spec.Types}}`,
    text: 'false "" 0 <nil> map[] []',
  },
  {
    name: "lists, maps and times as Go prints them",
    template: `{{${p}.Spec.AllowedUses}} {{${p}.Labels}} {{${p}.CreationTimestamp}}`,
    text: "[Workload Tunnel] map[x:1 y:2] 2026-01-01 00:00:00 +0000 UTC",
  },
  {
    name: "ports and protocols are text or numbers",
    template: `{{with index ${g}.Spec.Ingress 0}}{{.Protocol}} {{.Destination.Ports}} {{.Source.Nets}}{{end}}`,
    text: "TCP [80 90:91] []",
  },
  {
    name: "floats as Go prints them, and as numbers where they are compared",
    template: "{{with index . 2}}{{.Spec.Order}} {{gt .Spec.Order 5}}{{end}}",
    text: "1e+06 true",
  },
  {
    name: "range with an index",
    template: `{{range $i, $r := ${g}.Spec.Ingress}}{{$i}}={{$r.Action}},{{end}}`,
    text: "0=Allow,1=Deny,",
  },
  {
    name: "range over a map goes by its keys",
    template: `{{range $k, $v := ${p}.Labels}}{{$k}}{{$v}} {{end}}`,
    text: "x1 y2 ",
  },
  { name: "range over nothing", template: `{{range ${g}.Spec.Egress}}x{{else}}none{{end}}`, text: "none" },
  {
    name: "break and continue",
    template: `{{range ${g}.Spec.Ingress}}{{if eq .Action "Allow"}}{{continue}}{{end}}{{.Action}}{{break}}{{end}}`,
    text: "Deny",
  },
  {
    name: "if, else if and else",
    template: `{{range .}}{{if eq .Kind "IPPoolList"}}1{{else if eq .Kind "X"}}2{{else}}3{{end}}{{end}}`,
    text: "133",
  },
  {
    name: "with moves the dot, and its else does not",
    template: `{{with ${p}.Spec}}{{.CIDR}}{{end}}{{with ${g}.Spec.Egress}}x{{else}}{{len .}}{{end}}`,
    text: "10.1.0.0/163",
  },
  {
    name: "variables are made and changed",
    template: "{{$x := 1}}{{if true}}{{$x = 2}}{{$y := 3}}{{$y}}{{end}}{{$x}}",
    text: "32",
  },
  { name: "the dollar is all there is", template: `{{range ${g}.Spec.Ingress}}{{len $}}{{end}}`, text: "33" },
  {
    name: "white space is trimmed where it is asked for",
    template: "a \n{{- 1 -}}\n b {{/* not said */ -}} c",
    text: "a1b c",
  },
  {
    name: "pipes give their value as the last argument",
    template: '{{"a" | printf "%s-%s" "b" | printf "%q"}}',
    text: '"b-a"',
  },
  {
    name: "printf",
    template: '{{printf "%-5s|%5d|%05d|%v|%t|%.2f|%x|%%|%3q" "a" 5 -7 true false 1.5 255 "b"}}',
    text: 'a    |    5|-0007|true|false|1.50|ff|%|"b"',
  },
  {
    name: "printf says what does not fit, as Go does",
    template: '{{printf "%d %s" "a"}}',
    text: "%!d(string=a) %!s(MISSING)",
  },
  {
    name: "comparisons",
    template: '{{eq 1 1}} {{eq "a" "b" "a"}} {{ne 1 2}} {{lt 1 2}} {{le 2 2}} {{gt "b" "a"}} {{ge 1 2}}',
    text: "true true true true true true false",
  },
  {
    name: "and, or and not look at no more than they need",
    template: '{{and 0 (index . 9)}} {{or "x" (index . 9)}} {{not ""}}',
    text: "0 x true",
  },
  {
    name: "len, index and slice",
    template: `{{len "aé"}} {{len ${p}.Labels}} {{index ${p}.Labels "y"}} {{slice "abc" 1 2}}`,
    text: "3 2 2 b",
  },
  {
    name: "a map's missing name has no value, which is not true",
    template: `{{${p}.Labels.z}}{{if ${p}.Labels.z}}x{{end}}`,
    text: "<no value>",
  },
  {
    name: "join and joinAndTruncate of the original",
    template: `{{join ${p}.Spec.AllowedUses "/"}} {{join ${p}.Labels ","}} {{joinAndTruncate ${p}.Spec.AllowedUses "," 10}}`,
    text: "Workload/Tunnel x=1,y=2 Workloa...",
  },
  { name: "config is the cluster's AS number", template: '{{config "asnumber"}}', text: "64512" },
  {
    name: "literals of all kinds",
    template: "{{`raw\\n`}} {{'a'}} {{0x1F}} {{1.5}} {{true}} {{\"\\u00e9\\x41\"}}",
    text: "raw\\n 97 31 1.5 true éA",
  },
  { name: "braces within a text", template: '{{"}}"}}', text: "}}" },
];
for (const { name, template, text } of cases) {
  test(`template: ${name}`, () => equal(runTemplate(template, results, 64512), text));
}

const refused: { name: string; template: string; says: RegExp }[] = [
  { name: "an action without end", template: "a\n{{.Bad", says: /^template: get:2: unclosed action$/ },
  { name: "a block without end", template: "{{range .}}", says: /has no \{\{end\}\}/ },
  { name: "an end too many", template: "{{end}}", says: /unexpected \{\{end\}\}/ },
  { name: "nothing to print", template: "{{}}", says: /missing value for command/ },
  { name: "an unknown field", template: `{{${p}.Spec.Foo}}`, says: /can't evaluate field Foo in type v3\.IPPoolSpec$/ },
  { name: "a field of a list", template: "{{.Items}}", says: /can't evaluate field Items in a list: use "range"/ },
  {
    name: "a field of nothing",
    template: `{{(index ${g}.Spec.Ingress 0).ICMP.Type}}`,
    says: /nil pointer evaluating Type/,
  },
  {
    name: "an unknown function",
    template: "{{html 1}}",
    says: /^template: get:1: function "html" not defined; supported are and, config/,
  },
  { name: "definitions", template: '{{define "x"}}{{end}}', says: /\{\{define\}\} is not supported here/ },
  {
    name: "a whole object",
    template: `{{${p}.Spec}}`,
    says: /printing a whole v3\.IPPoolSpec is not supported: name a field/,
  },
  { name: "an unknown variable", template: "{{$x}}", says: /undefined variable "\$x"/ },
  { name: "an unknown verb", template: '{{printf "%U" 1}}', says: /printf: %U is not supported/ },
  { name: "arguments for what is no function", template: "{{1 2}}", says: /can't give argument to non-function/ },
  { name: "break outside of range", template: "{{break}}", says: /\{\{break\}\} outside \{\{range\}\}/ },
  { name: "different types compared", template: '{{eq 1 "1"}}', says: /incompatible types for comparison/ },
  { name: "an index out of range", template: "{{index . 9}}", says: /index out of range: 9/ },
  { name: "parentheses without end", template: "{{(1}}", says: /unclosed left paren/ },
  { name: "parentheses that are too deep", template: `{{${"(".repeat(500)}}}`, says: /nested more than/ },
];
for (const { name, template, says } of refused) {
  test(`template is refused: ${name}`, () => {
    throws(
      () => runTemplate(template, results, 64512),
      (error) => error instanceof CtlError && error.message.startsWith("template: get:") && says.test(error.message),
    );
  });
}

test("the cluster's AS number is only asked for where a template has it", () => {
  equal(asksForConfig('{{range .}}{{config "asnumber"}}{{end}}'), true);
  equal(asksForConfig("config {{.Spec}}"), false);
});

test("any template prints, or says why not", () => {
  const word = fc.constantFrom(
    ...'range|.|.Items|if|else|end|with|$x|:=|=|eq|1|"a"|(|)|,|index|printf|"%d%s%v"|.Spec.CIDR|not|and|$|$i|len|join|break|continue|-|/* c */|nil|slice|\'a\'|true|.Labels.x'.split(
      "|",
    ),
  );
  const action = fc.array(word, { maxLength: 5 }).map((words) => `{{${words.join(" ")}}}`);
  const template = fc
    .array(fc.oneof(action, action, fc.constantFrom("text", "{{range .}}", "{{end}}", "{{- ", " -}}", "}}", "\n")))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(template, (text) => {
      try {
        runTemplate(text, results, undefined);
      } catch (error) {
        equal(error instanceof CtlError, true, `${text}: ${error instanceof Error ? error.stack : error}`);
      }
    }),
    { numRuns: 2000 },
  );
});
