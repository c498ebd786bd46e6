package main

import (
	"bytes"
	"fmt"
	"strings"
)

// inputs are for the Writer: sizes on both sides of the limits, data that shrinks and data that does not.
func inputs() []input {
	one := func(name string, data []byte) input { return input{name, [][]byte{data}} }
	return []input{
		one("one byte stays plain", []byte("a")),
		{"a flush between two bytes cuts a chunk", [][]byte{[]byte("a"), []byte("b")}},
		one("repeated words are compressed", []byte("hello hello hello hello hello")),
		one("a hundred equal bytes are compressed", bytes.Repeat([]byte("a"), 100)),
		one("200 000 zero bytes make four chunks", make([]byte, 200_000)),
		one("random bytes stay plain", random(1, 300)),
		one("65 536 zero bytes make one chunk", make([]byte, 65_536)),
		one("65 537 zero bytes make two", make([]byte, 65_537)),
		one("half random, half zero", append(random(2, 200), make([]byte, 200)...)),
		one("JSON like a key's value", []byte(strings.Repeat(
			`{"kind":"Node","apiVersion":"projectcalico.org/v3","metadata":{"name":"node-7"},"spec":{}}`, 12))),
		{"three messages, each flushed", [][]byte{
			[]byte(strings.Repeat("first ", 20)), []byte("second"), []byte(strings.Repeat("third", 40))}},
		one("a saving of just under an eighth is not kept", append(random(3, 100), bytes.Repeat([]byte{7}, 16)...)),
		one("a saving of just over an eighth is kept", append(random(4, 100), bytes.Repeat([]byte{7}, 28)...)),
		one(fmt.Sprintf("%d counted lines", 200), counted(200)),
	}
}

func counted(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "line %d of the input\n", i)
	}
	return b.Bytes()
}

// random bytes by a generator written here, so that no release of Go changes them.
func random(seed uint32, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		seed = seed*1664525 + 1013904223
		out[i] = byte(seed >> 24)
	}
	return out
}
