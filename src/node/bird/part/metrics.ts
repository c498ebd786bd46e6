// What the part counts, for the agent's table of metrics.
import type { MetricTable } from "../../../base/observe/index.ts";

export const birdMetrics = {
  cattail_bird_reloads: { type: "counter", help: "Times BIRD was told to read a changed configuration." },
  cattail_bird_refused: { type: "counter", help: "Configurations that BIRD refused; the last good one stayed." },
  cattail_bird_starts: { type: "counter", help: "Times BIRD was started by the agent." },
  cattail_bird_render_seconds: {
    type: "summary",
    help: "Time from the first of some changes to BIRD's configuration being in place and read.",
  },
  cattail_bgp_sessions: { type: "gauge", help: "BGP sessions that this node should have." },
  cattail_bgp_sessions_established: { type: "gauge", help: "BGP sessions of this node that are up." },
  cattail_bgp_problems: {
    type: "gauge",
    help: "Problems with BGP objects that somebody should mend; the log names them.",
  },
} as const satisfies MetricTable;
