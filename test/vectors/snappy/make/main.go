// Writes the snappy vectors: what golang/snappy's Writer makes of some inputs, and what its Reader says to some
// streams, good and bad. The output is test/vectors/snappy/vectors.json.
//
// Bytes are written as hex, with a run of 16 or more equal bytes as (byte x count): (00x65536).
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/golang/snappy"
)

// written is one stream by the Writer. Each part is written and then flushed.
type written struct {
	Name   string   `json:"name"`
	Parts  []string `json:"parts"`
	Stream string   `json:"stream"`
}

// read is one stream given to the Reader. Plain is what came out before the verdict.
type read struct {
	Name    string `json:"name"`
	Stream  string `json:"stream"`
	Verdict string `json:"verdict"`
	Plain   string `json:"plain"`
}

func main() {
	out := struct {
		Written []written `json:"written"`
		Read    []read    `json:"read"`
	}{}
	for _, c := range inputs() {
		out.Written = append(out.Written, write(c))
	}
	for _, c := range streams() {
		out.Read = append(out.Read, judge(c))
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		log.Fatal(err)
	}
}

type input struct {
	name  string
	parts [][]byte
}

func write(in input) written {
	var buf bytes.Buffer
	w := snappy.NewBufferedWriter(&buf)
	parts := []string{}
	for _, p := range in.parts {
		must(w.Write(p))
		if err := w.Flush(); err != nil {
			log.Fatal(err)
		}
		parts = append(parts, spell(p))
	}
	return written{Name: in.name, Parts: parts, Stream: spell(buf.Bytes())}
}

func judge(s stream) read {
	plain, err := io.ReadAll(snappy.NewReader(bytes.NewReader(s.bytes)))
	verdict := "ok"
	switch {
	case errors.Is(err, snappy.ErrCorrupt):
		verdict = "corrupt"
	case errors.Is(err, snappy.ErrUnsupported):
		verdict = "unsupported"
	case err != nil:
		verdict = err.Error()
	}
	return read{Name: s.name, Stream: spell(s.bytes), Verdict: verdict, Plain: spell(plain)}
}

func must(_ int, err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func spell(data []byte) string {
	var out strings.Builder
	for i := 0; i < len(data); {
		run := 1
		for i+run < len(data) && data[i+run] == data[i] {
			run++
		}
		if run >= 16 {
			fmt.Fprintf(&out, "(%02xx%d)", data[i], run)
			i += run
			continue
		}
		fmt.Fprintf(&out, "%02x", data[i])
		i++
	}
	return out.String()
}
