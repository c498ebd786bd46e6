// The variables by which a calico-node is told where its Typha is and who may answer; what reads them is under test.
import type { TestServer } from "./serving.ts";

export function nodeVariables(
  { address }: Pick<TestServer, "address">,
  files: { readonly caFile: string; readonly certFile: string; readonly keyFile: string },
): { readonly [name: string]: string | undefined } {
  return {
    PATH: process.env.PATH,
    FELIX_TYPHAADDR: `127.0.0.1:${address.port}`,
    FELIX_TYPHACAFILE: files.caFile,
    FELIX_TYPHACERTFILE: files.certFile,
    FELIX_TYPHAKEYFILE: files.keyFile,
    FELIX_TYPHACN: "calico-typha",
  };
}
