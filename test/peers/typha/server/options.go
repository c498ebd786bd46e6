package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

type options struct {
	listen, ca, cert, key string
	generate              string
	isStdin               bool
	pingInterval          time.Duration
	noNodeUpdates         bool
	answerType            string
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; the one in use is printed")
	flag.StringVar(&o.ca, "ca", "", "PEM file with the CA of the clients (with --cert and --key: mutual TLS)")
	flag.StringVar(&o.cert, "cert", "", "PEM file with the server's certificate")
	flag.StringVar(&o.key, "key", "", "PEM file with the server's key")
	flag.StringVar(&o.generate, "generate", "", "NxB: begin with N keys of B-byte values")
	flag.BoolVar(&o.isStdin, "updates-stdin", false, "read JSON lines of updates and statuses from standard input")
	flag.DurationVar(&o.pingInterval, "ping-interval", 10*time.Second, "time between pings")
	flag.BoolVar(&o.noNodeUpdates, "no-node-updates", false, "say that node resource updates are not supported, as servers before v3.9 do")
	flag.StringVar(&o.answerType, "answer-type", "", "say this syncer type in the hello, whatever was asked for")
	flag.Parse()
	if flag.NArg() > 0 {
		fatal(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	return o
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "typha-server:", err)
	os.Exit(1)
}
