// In the single executable: stands for the package "@node-rs/crc32".
import { loadNative } from "./native.ts";

type Crc32 = Pick<typeof import("@node-rs/crc32"), "crc32c">;

export const { crc32c } = loadNative<Crc32>("crc32.node");
