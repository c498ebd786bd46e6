// Records what the library that calicoctl uses makes of YAML, for the tests of src/programs/ctl/yaml. One case a line on
// standard input, one answer a line on standard output:
//
//	go run . write    a JSON value      ->  {"yaml": TEXT} or {"error": TEXT}
//	go run . read     a JSON string     ->  {"json": TEXT} or {"error": TEXT}
//
// test/vectors/make/yaml.ts makes the cases and writes test/vectors/yaml.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			answer, _ := json.Marshal(answerTo(os.Args[1], line))
			fmt.Fprintln(out, string(answer))
		}
		if err != nil {
			return
		}
	}
}

func answerTo(mode string, line []byte) map[string]string {
	name, result, err := "yaml", []byte(nil), error(nil)
	if mode == "write" {
		result, err = yaml.JSONToYAML(line)
	} else {
		var text string
		if err = json.Unmarshal(line, &text); err == nil {
			name = "json"
			result, err = yaml.YAMLToJSONStrict([]byte(text))
		}
	}
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	return map[string]string{name: string(result)}
}
