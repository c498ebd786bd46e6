// Judges a CA and two pairs as Go's crypto/tls does in Calico: a mutual handshake over loopback in which each side
// verifies the other's chain, and prints the names each saw.
//
//	certificates CA SERVER_CERT SERVER_KEY CLIENT_CERT CLIENT_KEY
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
)

func main() {
	args := os.Args[1:]
	ca, err := os.ReadFile(args[0])
	check(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		check(fmt.Errorf("no CA in %s", args[0]))
	}
	server, err := tls.LoadX509KeyPair(args[1], args[2])
	check(err)
	client, err := tls.LoadX509KeyPair(args[3], args[4])
	check(err)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		near, far := net.Pipe()
		accepted := make(chan error, 1)
		serverSide := tls.Server(near, &tls.Config{
			Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: version, MaxVersion: version,
		})
		go func() { accepted <- serverSide.Handshake() }()
		clientSide := tls.Client(far, &tls.Config{
			Certificates: []tls.Certificate{client}, RootCAs: pool, ServerName: "localhost", MinVersion: version, MaxVersion: version,
		})
		check(clientSide.Handshake())
		check(<-accepted)
		seenByClient := clientSide.ConnectionState().PeerCertificates[0]
		seenByServer := serverSide.ConnectionState().PeerCertificates[0]
		fmt.Println(seenByClient.Subject.CommonName, seenByClient.URIs, seenByServer.Subject.CommonName, seenByServer.URIs)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
