// Settings of the original for what Cattail has not: eBPF, WireGuard, XDP, flow logs, and others. One that is set to anything but the
// original's default is told, once, so that nobody waits for what will not come; the original's client writes some of the defaults itself.
const off = "false";

const ebpf = {
  BPFEnabled: off,
  BPFOverlayHostSourceIP: "TunnelAddress",
  BPFDisableUnprivileged: "true",
  BPFJITHardening: "Auto",
  BPFLogLevel: "off",
  BPFConntrackLogLevel: "off",
  BPFConntrackCleanupMode: "Auto",
  BPFConntrackTimeouts: "",
  BPFIPFragTimeout: "0",
  BPFLogFilters: "",
  BPFCTLBLogFilter: "",
  BPFDataIfacePattern: "",
  BPFL3IfacePattern: "",
  BPFConnectTimeLoadBalancingEnabled: "",
  BPFConnectTimeLoadBalancing: "TCP",
  BPFHostNetworkedNATWithoutCTLB: "Enabled",
  BPFExternalServiceMode: "tunnel",
  BPFDSROptoutCIDRs: "",
  BPFKubeProxyIptablesCleanupEnabled: "true",
  BPFKubeProxyMinSyncPeriod: "1",
  BPFKubeProxyHealthzPort: "10256",
  BPFExtToServiceConnmark: "0",
  BPFPSNATPorts: "20000:29999",
  BPFMapSizeNATFrontend: "65536",
  BPFMapSizeNATBackend: "262144",
  BPFMapSizeNATAffinity: "65536",
  BPFMapSizeRoute: "262144",
  BPFMapSizeConntrack: "512000",
  BPFMapSizePerCPUConntrack: "0",
  BPFMapSizeConntrackScaling: "DoubleIfFull",
  BPFMapSizeConntrackCleanupQueue: "100000",
  BPFMapSizeIPSets: "1048576",
  BPFMapSizeIfState: "1000",
  BPFHostConntrackBypass: off,
  BPFIPFragmentReassemblyEnabled: "true",
  BPFEnforceRPF: "Loose",
  BPFPolicyDebugEnabled: "true",
  BPFForceTrackPacketsFromIfaces: "docker+",
  BPFDisableGROForIfaces: "",
  BPFExcludeCIDRsFromNAT: "",
  BPFRedirectToPeer: "Enabled",
  BPFAttachType: "Netkit",
  BPFExportBufferSizeMB: "1",
  BPFProfiling: "Disabled",
  BPFMaglevMaxEndpointsPerService: "100",
  BPFMaglevMaxServices: "100",
  DebugBPFCgroupV2: "",
  XDPEnabled: "true",
  XDPRefreshInterval: "90",
  GenericXDPEnabled: off,
  SidecarAccelerationEnabled: off,
} as const;

const wireguard = {
  WireguardEnabled: off,
  WireguardEnabledV6: off,
  WireguardListeningPort: "51820",
  WireguardListeningPortV6: "51821",
  WireguardRoutingRulePriority: "99",
  WireguardInterfaceName: "wireguard.cali",
  WireguardInterfaceNameV6: "wg-v6.cali",
  WireguardMTU: "0",
  WireguardMTUV6: "0",
  WireguardHostEncryptionEnabled: off,
  WireguardPersistentKeepAlive: "0",
  WireguardThreadingEnabled: off,
  PrometheusWireGuardMetricsEnabled: "true",
} as const;

const others = {
  UseInternalDataplaneDriver: "true",
  DataplaneDriver: "calico-iptables-plugin",
  DataplaneWatchdogTimeout: "90",
  NFTablesFlowTableOffload: "Disabled",
  NFTablesFlowTableDataIfacePattern: "",
  IstioAmbientMode: "Disabled",
  IstioDSCPMark: "23",
  FeatureDetectOverride: "",
  FeatureGates: "",
  PolicySyncPathPrefix: "",
  MetadataAddr: "127.0.0.1",
  MetadataPort: "8775",
  OpenstackRegion: "",
  LocalSubnetL2Reachability: "Disabled",
  LocalSubnetL2ReachabilityRefreshInterval: "120",
  WindowsManageFirewallRules: "Disabled",
  AWSSrcDstCheck: "DoNothing",
  ReportingTTLSecs: "90",
  EndpointReportingEnabled: off,
  EndpointReportingDelaySecs: "1",
  FlowLogsFlushInterval: "300",
  FlowLogsCollectorDebugTrace: off,
  FlowLogsGoldmaneServer: "",
  FlowLogsLocalReporter: "Disabled",
  FlowLogsPolicyEvaluationMode: "Continuous",
  UsageReportingEnabled: "true",
  UsageReportingInitialDelaySecs: "300",
  UsageReportingIntervalSecs: "86400",
  DebugMemoryProfilePath: "",
  DebugCPUProfilePath: "/tmp/felix-cpu-<timestamp>.pprof",
  DebugSimulateCalcGraphHangAfter: "0",
  DebugSimulateDataplaneHangAfter: "0",
  DebugSimulateDataplaneApplyDelay: "0",
  DebugPanicAfter: "0",
  DebugSimulateDataRace: off,
  DebugHost: "localhost",
  DebugPort: "0",
  GoGCThreshold: "40",
  GoMemoryLimitMB: "-1",
  GoMaxProcs: "-1",
  EarlyLogSeverityScreen: "",
} as const;

/** By the name in small letters: the original's spelling and default. */
export const unsupported: ReadonlyMap<string, { readonly name: string; readonly default: string }> = new Map(
  Object.entries({ ...ebpf, ...wireguard, ...others }).map(([name, text]) => [
    name.toLowerCase(),
    { name, default: text },
  ]),
);

/** Nobody asks us to phone home by leaving it on, and switching it off is what we do anyway. */
const alwaysFine = new Set(["usagereportingenabled", "bpfdisableunprivileged"]);

/** Whether somebody waits for what will not come. */
export function isMissed(name: string, text: string): boolean {
  const known = unsupported.get(name.toLowerCase());
  if (known === undefined || alwaysFine.has(name.toLowerCase())) return false;
  const isOff = /^(|none|false|0|no|n|f|off|disabled)$/i.test(text);
  return !isOff && text.toLowerCase() !== known.default.toLowerCase();
}
