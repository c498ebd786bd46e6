// Everything the gob tests ask of Go, in one program:
//
//	gob vectors                 the vectors of test/vectors/gob/go.json, on standard output
//	gob oracle [-v]             decode streams for the fuzzer (oracle.go)
//	gob corpus SEED COUNT       random streams (corpus.go)
//	gob bench MILLISECONDS      Go's own speed (bench.go)
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "vectors":
		return vectors(os.Stdout)
	case len(args) >= 1 && args[0] == "oracle":
		return oracle(len(args) > 1 && args[1] == "-v")
	case len(args) == 3 && args[0] == "corpus":
		return corpus(uint64(number(args[1])), number(args[2]))
	case len(args) == 2 && args[0] == "bench":
		return bench(number(args[1]))
	}
	return fmt.Errorf("usage: gob vectors | oracle [-v] | corpus SEED COUNT | bench MILLISECONDS")
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
