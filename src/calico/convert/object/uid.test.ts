import { equal } from "node:assert/strict";
import { test } from "node:test";
import { translateUid } from "./uid.ts";

const cases: { name: string; uid: string; translated: string | undefined }[] = [
  {
    name: "the real one's example",
    uid: "30316465-6365-4463-ad63-3564622d3638",
    translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c",
  },
  { name: "and back", uid: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c", translated: "30316465-6365-4463-ad63-3564622d3638" },
  { name: "capitals", uid: "30316465-6365-4463-AD63-3564622D3638", translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c" },
  { name: "no dashes", uid: "3031646563654463ad633564622d3638", translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c" },
  { name: "braces", uid: "{30316465-6365-4463-ad63-3564622d3638}", translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c" },
  {
    name: "anything instead of braces",
    uid: "x30316465-6365-4463-ad63-3564622d3638y",
    translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c",
  },
  {
    name: "a URN",
    uid: "URN:uuid:30316465-6365-4463-ad63-3564622d3638",
    translated: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c",
  },
  { name: "braces without dashes", uid: "{3031646563654463ad633564622d3638}", translated: undefined },
  { name: "nothing", uid: "", translated: undefined },
  { name: "another text", uid: "not-a-uuid", translated: undefined },
];
for (const { name, uid, translated } of cases) test(`UID: ${name}`, () => equal(translateUid(uid), translated));
