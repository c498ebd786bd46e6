// Command server serves key/values over the Typha protocol with Go's own encoding/gob, golang/snappy and
// crypto/tls. It works as the original does: a chain of changes, a goroutine per client that encodes and compresses for
// that client alone, and a compressed snapshot that is shared while it is current.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"cattail/peers/typha/syncproto"
)

const (
	updateNew     = 1
	updateDeleted = 3
)

func main() {
	o := parseOptions()
	stores, cache := map[string]*store{}, map[string]*snapshots{}
	for _, syncer := range []string{"felix", "bgp", "tunnel-ip-allocation", "node-status"} {
		stores[syncer] = newStore()
		cache[syncer] = &snapshots{store: stores[syncer]}
	}
	if err := fill(o, stores); err != nil {
		fatal(err)
	}
	listener, err := listen(o)
	if err != nil {
		fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"listening": listener.Addr().String(), "port": listener.Addr().(*net.TCPAddr).Port,
	}); err != nil {
		fatal(err)
	}
	if o.isStdin {
		// The end of the input is the end of the server, so that none outlives whoever started it.
		go func() {
			if err := applyLines(os.Stdin, stores); err != nil {
				fatal(err)
			}
			os.Exit(0)
		}()
	}
	for {
		raw, err := listener.Accept()
		if err != nil {
			fatal(err)
		}
		go func() {
			if err := serve(raw, o, stores, cache); err != nil && !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "closed", raw.RemoteAddr(), err)
			}
		}()
	}
}

// fill makes what the server begins with, if anything, and says that it is in sync.
func fill(o options, stores map[string]*store) error {
	if o.generate != "" {
		updates, err := generated(o.generate)
		if err != nil {
			return err
		}
		inSync := uint8(syncproto.StatusInSync)
		for _, data := range stores {
			data.apply(updates, &inSync)
		}
	}
	return nil
}

func listen(o options) (net.Listener, error) {
	if o.cert == "" {
		return net.Listen("tcp", o.listen)
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", o.ca)
	}
	return tls.Listen("tcp", o.listen, &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
	})
}
