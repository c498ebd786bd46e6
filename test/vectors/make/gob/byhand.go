// Streams put together by hand: what no Go encoder writes, but a peer may send.
package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// frames puts a length in front of each of the bodies.
func frames(bodies ...string) (stream string) {
	for _, body := range bodies {
		body = strings.ReplaceAll(body, " ", "")
		switch n := len(body) / 2; {
		case n < 0x80:
			stream += fmt.Sprintf("%02x", n)
		case n < 0x100:
			stream += fmt.Sprintf("ff%02x", n)
		default:
			stream += fmt.Sprintf("fe%04x", n)
		}
		stream += body
	}
	return stream
}

// Definitions of type 65.
var (
	definePoint  = "ff81 03 01 01 05 506f696e74 01 ff82 00 01 02 01 01 58 01 04 00 01 01 59 01 04 00 00 00"
	defineHolder = "ff81 03 01 01 06 486f6c646572 01 ff82 00 01 01 01 01 56 01 10 00 00 00"
	defineTime   = "ff81 05 01 02 ff82 00 00 00"
	defineInts   = "ff81 02 01 02 ff82 00 01 04 00 00"
	defineArray  = "ff81 01 01 02 ff82 00 01 04 01 06 00 00"
	defineMap    = "ff81 04 01 02 ff82 00 01 0c 01 04 00 00"
	defineAnys   = "ff81 02 01 02 ff82 00 01 10 00 00"
)

func (m *maker) byHand() {
	m.framing()
	m.definitions()
	m.badValues()
	m.badInterfaces()
	m.skipping()
}

func (m *maker) framing() {
	m.raw("nothing at all", "Point", "")
	m.raw("a definition and nothing else", "Point", frames(definePoint))
	m.raw("a definition cut short", "Point", frames(definePoint)[:30])
	m.raw("a value of a type never defined", "Point", frames("ff82 01 02"))
	m.raw("a value", "Point", frames(definePoint, "ff82 01 06 01 08 00"))
	m.raw("a value without its closing zero", "Point", frames(definePoint, "ff82 01 06 01 08"))
	m.raw("a value with bytes behind it in its frame", "Point", frames(definePoint, "ff82 01 06 01 08 00 112233"))
	m.raw("a value cut short", "Point", frames(definePoint)+"07 ff82 01 06")
	m.raw("an empty frame", "Point", "00")
	m.raw("an empty frame behind a value", "Point", frames(definePoint, "ff82 01 06 01 08 00", ""))
	m.raw("a frame length of nine bytes", "int", "f7 010203040506070809")
	m.raw("a frame length longer than it need be", "int", "fe0003 04 00 06")
	m.raw("a frame with half a type id", "int", frames("ff"))
	m.raw("two values and a cut third", "int", frames("04 00 06", "04 00 08")+"03 04")
}

func (m *maker) definitions() {
	m.raw("the same definition twice", "Point", frames(definePoint, definePoint))
	m.raw("a definition with bytes behind it", "Point", frames(definePoint+"00"))
	m.raw("a definition of id 63", "Empty", frames("7d 03 01 01 01 50 01 7e 00 00 00", "7e 00"))
	m.raw("a definition of id 64", "Empty", frames("7f 03 01 01 01 50 01 ff80 00 00 00", "ff80 00"))
	m.raw("a definition of id 1000000", "Empty", frames("fd1e847f 03 01 01 01 50 00 00 00", "fd1e8480 00"))
	m.raw("a definition of nothing", "Point", frames("ff81 00", "ff82 01 02"))
	m.raw("a definition of nothing, unused", "int", frames("ff81 00", "04 00 06"))
	m.raw("a definition that names itself wrongly", "Point",
		frames("ff81 03 01 02 7e 00 01 02 01 01 58 01 04 00 01 01 59 01 04 00 00 00", "ff82 01 06 01 08 00"))
	m.raw("a definition without its closing zeros", "Point",
		frames("ff81 03 01 02 7e 00 01 02 01 01 58 01 04 00 01 01 59 01 04", "ff82 01 06 01 08 00"))
	m.raw("a definition of everything at once", "[]int",
		frames("ff81 01 02 04 01 06 00 01 02 04 00 01 00 01 02 0c 01 04 00 00", "ff82 00 01 02"))
	m.raw("a field without a name", "Point", frames("ff81 03 02 02 01 01 58 01 04 00 02 04 00 00 00", "ff82 01 06 00"))
	m.raw("a field whose type is never defined", "Point",
		frames("ff81 03 02 02 01 01 58 01 04 00 01 01 5a 01 fe0190 00 00 00", "ff82 01 06 00"))
	m.raw("a field that is not exported", "Point",
		frames("ff81 03 02 02 01 01 58 01 04 00 01 01 79 01 04 00 00 00", "ff82 01 06 01 08 00"))
	m.raw("a type id of 33 bits in a definition", "Point", frames("ff81 03 02 01 01 01 58 01 fb0200000000 00 00 00", "ff82 00"))
	m.raw("a definition behind its use", "Outer",
		frames("ff81 03 02 01 01 01 50 01 ff84 00 00 00", "ff83 03 02 01 01 01 58 01 04 00 00 00", "ff82 01 01 08 00 00"))
	m.raw("a struct that holds itself", "List",
		frames("ff81 03 02 02 01 05 56616c7565 01 04 00 01 04 4e657874 01 ff82 00 00 00", "ff82 01 02 01 01 04 01 00 00 00"))
}

func (m *maker) badValues() {
	m.raw("a zero sent for a field", "Point", frames(definePoint, "ff82 01 00 01 00 00"))
	m.raw("a field number beyond the definition", "Point", frames(definePoint, "ff82 03 06 00"))
	m.raw("a field number of 64 bits", "Point", frames(definePoint, "ff82 f8 ffffffffffffffff 06 00"))
	m.raw("integers longer than they need be", "Point", frames(definePoint, "ff82 01 fe0006 01 fc00000008 00"))
	m.raw("an integer of nine bytes", "Point", frames(definePoint, "ff82 01 f7 010203040506070809 00"))
	m.raw("an integer cut short", "int", frames("04 00 fe 01"))
	m.raw("a singleton without its zero", "int", frames("04 01 06"))
	m.raw("a singleton with nothing behind its zero", "int", frames("04 00"))
	m.raw("a singleton with bytes behind it", "int", frames("04 00 06 07"))
	m.raw("true as 2", "bool", frames("02 00 02"))
	m.raw("a value of type 0", "int", frames("00 00 06"))
	m.raw("a value of a reserved type", "int", frames("14 00 06"))
	m.raw("a string longer than its frame", "string", frames("0c 00 7f 6162"))
	m.raw("a string of length 2^64-1", "string", frames("0c 00 f8 ffffffffffffffff 6162"))
	m.raw("bytes longer than their frame", "bytes", frames("0a 00 7f 6162"))
	m.raw("a slice longer than its frame", "[]int", frames(defineInts, "ff82 00 05 02 04"))
	m.raw("a slice of 2^40 elements", "[]int", frames(defineInts, "ff82 00 fa 010000000000 02"))
	m.raw("a slice of 2^63 elements", "[]int", frames(defineInts, "ff82 00 f8 8000000000000000 02"))
	m.raw("a slice of gob's own", "[]Point", frames("2c 00 01 00"))
	m.raw("an array with the wrong count", "[3]int", frames(defineArray, "ff82 00 02 02 04 06"))
	m.raw("an array", "[3]int", frames(defineArray, "ff82 00 03 02 04 06"))
	m.raw("a map longer than its frame", "map[string]int", frames(defineMap, "ff82 00 03 01 61 02"))
	m.raw("a map with one key twice", "map[string]int", frames(defineMap, "ff82 00 02 01 61 02 01 61 04"))
	m.raw("a map of 2^63 keys is empty", "map[string]int", frames(defineMap, "ff82 00 f8 8000000000000000"))
	m.raw("a builtin struct as a value", "Letters", frames("24 01 01 41 00"))
	m.raw("a value of gob's own field type", "PointMore", frames("2a 01 03 616263 01 02 00"))
	m.raw("a time of 14 bytes", "time.Time", frames(defineTime, "ff82 00 0e 01 0000000edd25742528697580ff"))
	m.raw("a time of version 3", "time.Time", frames(defineTime, "ff82 00 0f 03 0000000edd25742528697580ffff"))
	m.raw("a time of version 2 without its last byte", "time.Time", frames(defineTime, "ff82 00 0f 02 0000000edd25742528697580ffff"))
	m.raw("a time of version 2 at minus thirty seconds", "time.Time", frames(defineTime, "ff82 00 10 02 0000000edd25742528697580fffee2"))
	m.raw("a time of no bytes", "time.Time", frames(defineTime, "ff82 00 00"))
	m.raw("a time as a BinaryMarshaler", "time.Time", frames("ff81 06 01 02 ff82 00 00 00", "ff82 00 0f 01 0000000edd25742528697580ffff"))
}

func (m *maker) badInterfaces() {
	m.raw("an interface of an unknown name", "Holder", frames(defineHolder, "ff82 01 02 7a7a 0c 02 00 01 00"))
	m.raw("an interface with an empty name is nil", "Holder", frames(defineHolder, "ff82 01 00 00"))
	m.raw("an interface with a wrong length inside", "Holder", frames(defineHolder, "ff82 01 06 737472696e67 0c 7f 00 01 61 00"))
	m.raw("an interface whose name and type disagree", "Holder", frames(defineHolder, "ff82 01 03 696e74 0c 03 00 01 61 00"))
	m.raw("an interface cut between frames", "Holder", frames(defineHolder, "ff82 01 06 737472696e67", "0c 03 00 01 61 00"))
	m.raw("an interface cut between frames and ended", "Holder", frames(defineHolder, "ff82 01 06 737472696e67"))
	m.raw("an interface cut between frames by an empty one", "Holder", frames(defineHolder, "ff82 01 06 737472696e67", "", "0c 03 00 01 61 00"))
	m.raw("an interface with a name of 1025 bytes", "Holder", frames(defineHolder, "ff82 01 fe0401"+strings.Repeat("61", 1025)))
	m.raw("an interface with a name longer than its frame", "Holder", frames(defineHolder, "ff82 01 7f 6161"))
	m.raw("many interfaces, each in a frame of its own", "[]any", frames(defineAnys, "ff82 00 03 06 737472696e67",
		"0c 03 00 01 61 06 737472696e67", "0c 03 00 01 62 03 696e74", "04 02 00 08"))
	m.raw("a definition inside an interface that is there already", "Holder",
		frames(defineHolder, "ff82 01 05 506f696e74"+definePoint, "ff82 03 01 02 00 00"))
	m.raw("a nil interface between others", "[]any", frames(defineAnys, "ff82 00 03 00 06 737472696e67 0c 03 00 01 61 00"))
}

// skipping has values of fields that Point lacks: type 66 is such a field, between X and Y.
func (m *maker) skipping() {
	define := "ff81 03 02 03 01 01 58 01 04 00 01 01 5a 01 ff84 00 01 01 59 01 04 00 00 00"
	skip := func(name, definition, value string) {
		m.raw("skipping "+name, "Point", frames(define, definition, "ff82 01 02 01"+value+"01 04 00"))
	}
	skip("a slice", "ff83 02 02 04 00 00", "02 08 0a")
	skip("a slice longer than its frame", "ff83 02 02 04 00 00", "7f 08 0a")
	skip("a slice of 2^63 elements", "ff83 02 02 04 00 00", "f8 8000000000000000")
	skip("an array", "ff83 01 02 04 01 04 00 00", "02 08 0a")
	skip("an array of another length", "ff83 01 02 04 01 04 00 00", "03 08 0a 0c")
	skip("an array of a negative length", "ff83 01 02 04 01 01 00 00", "f8 ffffffffffffffff")
	skip("a map", "ff83 04 02 0c 01 04 00 00", "01 01 61 0a")
	skip("a map of 2^63 keys", "ff83 04 02 0c 01 04 00 00", "f8 8000000000000000")
	skip("a struct", "ff83 03 02 01 01 01 58 01 04 00 00 00", "01 02 00")
	skip("a struct with a field number beyond it", "ff83 03 02 01 01 01 58 01 04 00 00 00", "02 02 00")
	skip("a GobEncoder", "ff83 05 00 00", "03 010203")
	skip("a TextMarshaler", "ff83 07 00 00", "03 010203")
	skip("a slice of interfaces", "ff83 02 02 10 00 00", "01 06 737472696e67 0c 03 00 01 61")
	skip("a slice of interfaces of unknown names", "ff83 02 02 10 00 00", "01 02 7a7a 0c 03 00 01 61")
	skip("a slice with a nil interface, which Go misreads", "ff83 02 02 10 00 00", "01 00")
	skip("complex numbers", "ff83 02 02 0e 00 00", "01 fef03f 00")
	skip("a recursive slice", "ff83 02 02 ff84 00 00", "02 00 01 00")
	skip("a slice of a type never defined", "ff83 02 02 fe0190 00 00", "00")
	skip("a slice of gob's own struct", "ff83 02 02 24 00 00", "00")
}

func mustHex(text string) []byte {
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return data
}
