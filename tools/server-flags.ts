// V8's flags of a server that is not started by bin/cattail, which sets the same and says why: the executable's, and those
// of a server that is measured.
export const serverFlags = ["--max-semi-space-size=4", "--no-parallel-scavenge", "--no-allocation-site-pretenuring"];
