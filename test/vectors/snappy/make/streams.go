package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/golang/snappy"
)

type stream struct {
	name  string
	bytes []byte
}

var identifier = []byte("\xff\x06\x00\x00sNaPpY")

// streams are for the Reader: one row for every rule of the format, kept and broken.
func streams() []stream {
	a, b := plain([]byte("a")), packed([]byte("hello hello hello hello hello"))
	after := func(name string, chunks ...[]byte) stream {
		return stream{name, join(append([][]byte{identifier}, chunks...)...)}
	}
	badBlock := func(name string, block []byte, content []byte) stream {
		return after(name, chunk(0x00, checked(content, block)))
	}
	return []stream{
		{"nothing at all", nil},
		{"an identifier alone", identifier},
		after("a plain and a packed chunk", a, b),
		after("a second identifier in the middle", a, identifier, b),
		after("padding is skipped", chunk(0xfe, make([]byte, 100)), a),
		after("empty padding is skipped", chunk(0xfe, nil), a),
		after("skippable chunks of all types are skipped", chunk(0x80, []byte("x")), chunk(0xaa, nil), chunk(0xfd, random(5, 50)), a),
		after("padding of the longest length is skipped", chunk(0xfe, make([]byte, 76494)), a),
		after("padding one byte longer is not", chunk(0xfe, make([]byte, 76495)), a),
		after("an empty plain chunk", plain(nil), a),
		after("an empty packed chunk", packed(nil), a),
		after("a plain chunk of the longest content", plain(make([]byte, 65536))),
		after("a plain chunk one byte longer", plain(make([]byte, 65537))),
		after("a packed chunk of the longest content", packed(make([]byte, 65536))),
		after("a packed chunk one byte longer", packed(make([]byte, 65537))),
		after("a packed chunk that claims 4 GiB", chunk(0x00, checked(nil, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0x00}))),
		after("a packed chunk that claims more than 32 bits", chunk(0x00, checked(nil, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x01}))),
		badBlock("a packed chunk whose length is written long", append([]byte{0x81, 0x00}, 0x00, 'a'), []byte("a")),
		after("a packed chunk whose length never ends", chunk(0x00, checked(nil, bytes.Repeat([]byte{0x80}, 12)))),
		after("a packed chunk with no block", chunk(0x00, checked(nil, nil))),
		badBlock("a block that is shorter than it says", []byte{0x05, 0x00, 'a'}, []byte("a")),
		badBlock("a block that is longer than it says", []byte{0x01, 0x04, 'a', 'b'}, []byte("ab")),
		badBlock("a copy from before the beginning", []byte{0x05, 0x00, 'a', 0x01, 0x02}, []byte("aaaaa")),
		badBlock("a copy with offset zero", []byte{0x05, 0x00, 'a', 0x01, 0x00}, []byte("aaaaa")),
		badBlock("a copy that runs into itself", []byte{0x05, 0x00, 'a', 0x01, 0x01}, []byte("aaaaa")),
		badBlock("a literal cut short", []byte{0x05, 0x10, 'a', 'b'}, []byte("ab")),
		badBlock("a literal whose length is cut short", []byte{0x05, 0xf4}, nil),
		badBlock("all elements: literals and the three copies", []byte{0x13, 0x0c, 'a', 'b', 'c', 'd', 0x01, 0x04, 0x0e, 0x02, 0x00, 0x1b, 0x04, 0x00, 0x00, 0x00},
			[]byte("abcdabcdcdcdcdcdcdc")),
		{"no identifier", a},
		{"padding before the identifier", join(chunk(0xfe, nil), identifier, a)},
		{"an unknown type before the identifier", join(chunk(0x02, nil), identifier, a)},
		{"an identifier of five bytes", join([]byte("\xff\x05\x00\x00sNaPp"), a)},
		{"an identifier of seven bytes", join([]byte("\xff\x07\x00\x00sNaPpYY"), a)},
		{"an identifier in lower case", join([]byte("\xff\x06\x00\x00snappy"), a)},
		after("a bad second identifier", a, []byte("\xff\x06\x00\x00snappy"), b),
		after("a reserved type that may not be skipped", a, chunk(0x02, nil)),
		after("the last reserved type that may not be skipped", a, chunk(0x7f, []byte("xyz"))),
		after("a plain chunk without room for its checksum", a, chunk(0x01, []byte{1, 2, 3})),
		after("a packed chunk without room for its checksum", a, chunk(0x00, []byte{1, 2, 3})),
		after("a plain chunk with a wrong checksum", a, flipped(plain([]byte("b")), 4)),
		after("a plain chunk with a wrong byte", a, flipped(plain([]byte("b")), 8)),
		after("a packed chunk with a wrong checksum", a, flipped(b, 7)),
		after("a chunk of the longest length that is not there", []byte{0x00, 0xff, 0xff, 0xff}),
		after("cut inside a header", a, []byte{0x01, 0x05}),
		after("cut inside a checksum", a, plain([]byte("b"))[:6]),
		after("cut inside content", a, b[:12]),
		after("cut inside padding", a, chunk(0xfe, make([]byte, 9))[:8]),
		{"cut inside the identifier", identifier[:7]},
		{"cut inside the first header", identifier[:2]},
	}
}

func plain(data []byte) []byte  { return chunk(0x01, checked(data, data)) }
func packed(data []byte) []byte { return chunk(0x00, checked(data, snappy.Encode(nil, data))) }

// checked puts the masked checksum of data before body.
func checked(data, body []byte) []byte {
	c := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return append(binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8), body...)
}

func chunk(kind byte, body []byte) []byte {
	n := len(body)
	return append([]byte{kind, byte(n), byte(n >> 8), byte(n >> 16)}, body...)
}

func flipped(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0x40
	return out
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
