package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// dialer connects as a Calico component does: mutual TLS, and the server known by common name or URI SAN rather than by
// address.
type dialer struct {
	opts options
	tls  *tls.Config
}

func newDialer(o options) (*dialer, error) {
	if o.plaintext {
		return &dialer{opts: o}, nil
	}
	if o.ca == "" || o.cert == "" || o.key == "" || (o.serverCN == "" && o.serverURI == "") {
		return nil, errors.New("TLS needs --ca, --cert, --key and --server-cn or --server-uri-san (or use --plaintext)")
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, fmt.Errorf("cannot load the client certificate: %w", err)
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", o.ca)
	}
	return &dialer{opts: o, tls: &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		// The stock check wants the address in the certificate; verifyPeer does the whole verification.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: verifyPeer(roots, o.serverCN, o.serverURI),
	}}, nil
}

func (d *dialer) dial() (net.Conn, error) {
	plain := &net.Dialer{Timeout: d.opts.dialTimeout}
	if d.tls == nil {
		return plain.Dial("tcp", d.opts.server)
	}
	return tls.DialWithDialer(plain, "tcp", d.opts.server, d.tls)
}

func verifyPeer(roots *x509.CertPool, cn, uri string) func([][]byte, [][]*x509.Certificate) error {
	return func(raw [][]byte, _ [][]*x509.Certificate) error {
		if len(raw) == 0 {
			return errors.New("the server sent no certificate")
		}
		var chain []*x509.Certificate
		for _, der := range raw {
			cert, err := x509.ParseCertificate(der)
			if err != nil {
				return fmt.Errorf("bad server certificate: %w", err)
			}
			chain = append(chain, cert)
		}
		leaf, rest := chain[0], x509.NewCertPool()
		for _, cert := range chain[1:] {
			rest.AddCert(cert)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: rest}); err != nil {
			return err
		}
		if cn != "" && leaf.Subject.CommonName == cn {
			return nil
		}
		for _, u := range leaf.URIs {
			if uri != "" && u.String() == uri {
				return nil
			}
		}
		return fmt.Errorf("the server's certificate is for %q, which is not who was asked for", leaf.Subject.CommonName)
	}
}
