package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

type options struct {
	server, ca, cert, key, serverCN, serverURI string
	plaintext                                  bool
	dialTimeout                                time.Duration

	syncer, hostname, info, version        string
	noRestart, noCompression, zstd, legacy bool

	noHello, badType, nilMessage bool
	garbage                      int
	firstMessage, thenMessage    string
	noACK, noPong                bool
	readDelay                    time.Duration
	stallAt                      string

	untilInSync, untilStdinCloses bool
	untilKVs                      int
	untilKey                      string
	duration, timeout             time.Duration
	expectClose                   time.Duration

	clients          int
	connectPerSecond float64
	stats, digest    bool
	knowKeys         bool
	statsEvery       time.Duration
	rawOut, sentOut  string
}

func parseOptions() options {
	var o options
	str, boolean, dur := flag.StringVar, flag.BoolVar, flag.DurationVar

	str(&o.server, "server", "127.0.0.1:5473", "host:port of the server")
	str(&o.ca, "ca", "", "PEM file with the CA that signed the server's certificate")
	str(&o.cert, "cert", "", "PEM file with the client's certificate")
	str(&o.key, "key", "", "PEM file with the client's key")
	str(&o.serverCN, "server-cn", "", "common name that the server's certificate must have")
	str(&o.serverURI, "server-uri-san", "", "URI SAN that the server's certificate must have (either of the two is enough)")
	boolean(&o.plaintext, "plaintext", false, "connect without TLS")
	dur(&o.dialTimeout, "dial-timeout", 30*time.Second, "give up connecting after this long")

	str(&o.syncer, "type", "felix", "syncer type, sent as given; may be empty")
	str(&o.hostname, "hostname", "typha-client", "Hostname of the hello; %d becomes the client's number")
	str(&o.info, "info", "test client", "Info of the hello")
	str(&o.version, "client-version", "test", "Version of the hello")
	boolean(&o.noRestart, "no-restart", false, "an old client: no decoder restart, hence no compression")
	boolean(&o.noCompression, "no-compression", false, "decoder restart, but no compression")
	boolean(&o.zstd, "zstd", false, "list zstd before snappy")
	boolean(&o.legacy, "legacy-keys", false, "a client up to v3.31: SupportsModernPolicyKeys is false")

	boolean(&o.noHello, "no-hello", false, "connect and say nothing")
	boolean(&o.badType, "bad-type", false, "send the number 42 in place of the hello")
	boolean(&o.nilMessage, "nil-message", false, "send an envelope without a message in place of the hello")
	flag.IntVar(&o.garbage, "garbage", 0, "send this many random bytes in place of the hello")
	str(&o.firstMessage, "first-message", "", "send this in place of the hello: ack, pong or kvs")
	str(&o.thenMessage, "then-message", "", "send this right after the server's hello: hello, ack, pong, kvs, nil, 42 or garbage")
	boolean(&o.noACK, "no-ack", false, "never acknowledge a decoder restart")
	boolean(&o.noPong, "no-pong", false, "never answer a ping")
	dur(&o.readDelay, "read-delay", 0, "wait this long before each read from the socket")
	str(&o.stallAt, "stall-at", "", "stop reading at this point until a line comes on standard input: hello, snapshot (after its first message) or sync (after in-sync)")

	boolean(&o.untilInSync, "until-in-sync", false, "end well when the server says in-sync")
	flag.IntVar(&o.untilKVs, "until-kvs", 0, "end well after this many key/values")
	str(&o.untilKey, "until-key", "", "end well when this key arrives")
	boolean(&o.untilStdinCloses, "until-stdin-closes", false, "end well when standard input is closed")
	dur(&o.duration, "for", 0, "end well after this long (0: until the server hangs up)")
	dur(&o.timeout, "timeout", 120*time.Second, "give up when the server is silent for this long, or --until-... takes longer")
	dur(&o.expectClose, "expect-close", 0, "end well only if the server hangs up, within this long")

	flag.IntVar(&o.clients, "clients", 1, "this many connections at once")
	flag.Float64Var(&o.connectPerSecond, "connect-rate", 0, "new connections per second (0: all at once)")
	boolean(&o.stats, "stats", false, "print counts at the end instead of every event")
	dur(&o.statsEvery, "stats-every", 0, "with --stats: print them this often as well")
	boolean(&o.digest, "digest", false, "with --stats: keep every client's key/values and print how many hold which state")
	boolean(&o.knowKeys, "know-keys", false, "with --stats: know every client's keys and count the new ones, as a following client does")
	str(&o.rawOut, "raw-out", "", "file for the server's bytes, inside TLS")
	str(&o.sentOut, "sent-out", "", "file for the client's bytes, inside TLS")
	flag.Parse()
	if flag.NArg() > 0 {
		fatal(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	if o.clients > 1 && (o.rawOut != "" || o.sentOut != "") {
		fatal(fmt.Errorf("--raw-out and --sent-out are for one client"))
	}
	return o
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "typha-client:", err)
	os.Exit(1)
}
