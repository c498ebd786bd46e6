package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
)

// One etcd member on loopback. Prints "ready" once it serves; with several members that takes a quorum.
func runEtcd(arguments []string) error {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	dir := flags.String("dir", "", "data folder")
	name := flags.String("name", "default", "member name")
	clientPort := flags.Int("client-port", 0, "port for clients")
	peerPort := flags.Int("peer-port", 0, "port for other members")
	cluster := flags.String("initial-cluster", "", "name=http://127.0.0.1:port,... of all members; empty: only this one")
	certFile := flags.String("cert-file", "", "serve TLS with this certificate")
	keyFile := flags.String("key-file", "", "its key")
	caFile := flags.String("trusted-ca-file", "", "ask clients for a certificate signed by this CA")
	quotaBytes := flags.Int64("quota-bytes", 8<<30, "size at which writes stop")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Name, config.Dir = *name, *dir
	config.LogLevel, config.LogOutputs = "warn", []string{"stderr"}
	config.UnsafeNoFsync = true // throw-away data
	config.QuotaBackendBytes = *quotaBytes
	config.MaxTxnOps = 10_000
	config.TickMs, config.ElectionMs = 50, 500
	config.WatchProgressNotifyInterval = 5 * time.Second
	scheme := "http"
	if *certFile != "" {
		scheme = "https"
		config.ClientTLSInfo = transport.TLSInfo{
			CertFile: *certFile, KeyFile: *keyFile, TrustedCAFile: *caFile, ClientCertAuth: *caFile != "",
		}
	}
	client := url.URL{Scheme: scheme, Host: fmt.Sprintf("127.0.0.1:%d", *clientPort)}
	peer := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", *peerPort)}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = *cluster
	if *cluster == "" {
		config.InitialCluster = fmt.Sprintf("%s=%s", *name, peer.String())
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	ready := server.Server.ReadyNotify()
	for {
		select {
		case <-ready:
			fmt.Println("ready")
			ready = nil
		case <-stop:
			return nil
		case err := <-server.Err():
			return err
		}
	}
}
