// The differential fuzzer's other half: decodes streams with encoding/gob and says what came out.
//
//	in:  batch = u32 cases, then per case: u8 type number, u32 length, stream
//	out: per case: u8 status, u32 length, one dump per value with a line feed behind it
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"reflect"
)

const (
	statusEnd       = 0 // the stream ended where a stream may end
	statusError     = 1
	statusAmbiguous = 2 // accepted, but JavaScript cannot hold the value exactly
	statusPanic     = 3
)

func oracle(verbose bool) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for range binary.BigEndian.Uint32(head[:]) {
			var meta [5]byte
			if _, err := io.ReadFull(in, meta[:]); err != nil {
				return err
			}
			stream := make([]byte, binary.BigEndian.Uint32(meta[1:]))
			if _, err := io.ReadFull(in, stream); err != nil {
				return err
			}
			status, text := judge(allTypes[meta[0]].typ, stream, verbose)
			binary.BigEndian.PutUint32(meta[1:], uint32(len(text)))
			meta[0] = status
			out.Write(meta[:])
			out.Write(text)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func judge(typ reflect.Type, stream []byte, verbose bool) (status byte, text []byte) {
	var d dumper
	defer func() {
		if p := recover(); p != nil {
			status, text = statusPanic, d.out
			if verbose {
				text = fmt.Appendf(text, "panic: %v", p)
			}
		}
	}()
	source := bytes.NewReader(stream)
	dec := gob.NewDecoder(source)
	for {
		// Go says EOF for much that is no end: a value that runs past its frame, an empty frame.
		atEnd := source.Len() == 0
		v := reflect.New(typ)
		if err := dec.DecodeValue(v); err != nil {
			if verbose {
				d.out = fmt.Appendf(d.out, "error: %v", err)
			}
			switch {
			case d.ambiguous:
				return statusAmbiguous, d.out
			case atEnd:
				return statusEnd, d.out
			}
			return statusError, d.out
		}
		d.value(v.Elem())
		d.out = append(d.out, '\n')
	}
}
