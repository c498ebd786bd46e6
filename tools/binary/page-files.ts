// In the single executable: the dashboard's page, from inside it.
import { getRawAsset } from "node:sea";

export async function pageFiles(names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  return new Map(names.map((name) => [name, new Uint8Array(getRawAsset(`web/${name}`))]));
}
