// In the single executable: stands for the package "snappy".
import { loadNative } from "./native.ts";

type Snappy = Pick<typeof import("snappy"), "compressSync" | "uncompressSync">;

export const { compressSync, uncompressSync } = loadNative<Snappy>("snappy.node");
