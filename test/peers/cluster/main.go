// A kube-apiserver for the tests, and the maker of its throw-away certificates. test/kit/cluster.ts starts it.
//
//	cluster certs --dir DIR                          ca, apiserver and admin pairs, and the service account key
//	cluster cert --dir DIR --name N [--group G ...]  one more client pair signed by DIR/ca
//	cluster apiserver FLAGS                          kube-apiserver with its own flags
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("name a mode: certs, cert or apiserver"))
	}
	mode, arguments := os.Args[1], os.Args[2:]
	switch mode {
	case "certs":
		fail(makeCertificates(arguments))
	case "cert":
		fail(makeClientCertificate(arguments))
	case "apiserver":
		leaveWithParent()
		command := app.NewAPIServerCommand()
		command.SetArgs(arguments)
		os.Exit(cli.Run(command))
	default:
		fail(fmt.Errorf("unknown mode %q", mode))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// A test runner that is killed closes our standard input; a server that outlived it would hold its ports for ever.
func leaveWithParent() {
	if os.Getenv("CATTAIL_STDIN_IS_LIFE") == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
}
