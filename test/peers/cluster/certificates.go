package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

type list []string

func (l *list) String() string         { return fmt.Sprint(*l) }
func (l *list) Set(value string) error { *l = append(*l, value); return nil }

type signer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func makeCertificates(arguments []string) error {
	flags := flag.NewFlagSet("certs", flag.ExitOnError)
	dir := flags.String("dir", "", "where to write them")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	authority := &x509.Certificate{
		Subject: pkix.Name{CommonName: "cattail-test-ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	ca, err := write(*dir, "ca", authority, nil, time.Hour*24*30)
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "apiserver"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if _, err := write(*dir, "apiserver", server, ca, time.Hour*24*30); err != nil {
		return err
	}
	if err := writeClient(*dir, ca, "admin", []string{"system:masters"}, time.Hour*24*30); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(filepath.Join(*dir, "sa.key"), key)
}

func makeClientCertificate(arguments []string) error {
	flags := flag.NewFlagSet("cert", flag.ExitOnError)
	dir := flags.String("dir", "", "folder with ca.crt and ca.key")
	name := flags.String("name", "", "user name, and the name of the files")
	seconds := flags.Int("seconds", 30*24*3600, "how long it is valid")
	var groups list
	flags.Var(&groups, "group", "a group of the user")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	pair, err := os.ReadFile(filepath.Join(*dir, "ca.crt"))
	if err != nil {
		return err
	}
	keyText, err := os.ReadFile(filepath.Join(*dir, "ca.key"))
	if err != nil {
		return err
	}
	block, _ := pem.Decode(pair)
	keyBlock, _ := pem.Decode(keyText)
	if block == nil || keyBlock == nil {
		return fmt.Errorf("%s holds no CA", *dir)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return err
	}
	return writeClient(*dir, &signer{certificate, key}, *name, groups, time.Duration(*seconds)*time.Second)
}

func writeClient(dir string, ca *signer, name string, groups []string, life time.Duration) error {
	_, err := write(dir, name, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, life)
	return err
}

func write(dir, name string, template *x509.Certificate, ca *signer, life time.Duration) (*signer, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(life)
	if template.KeyUsage == 0 {
		template.KeyUsage = x509.KeyUsageDigitalSignature
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if ca == nil {
		ca = &signer{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, &key.PublicKey, ca.key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), text, 0o600); err != nil {
		return nil, err
	}
	if err := writeKey(filepath.Join(dir, name+".key"), key); err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	return &signer{parsed, key}, err
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
