// A container runtime, as far as plugins see one: starts them with variables and a configuration, several at a time, and measures what each
// took. Reads one job as JSON from standard input, and writes one result for each call, in the order of the calls.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

type call struct {
	Program string   `json:"program"`
	Env     []string `json:"env"`
	Stdin   string   `json:"stdin"`
}

type job struct {
	AtOnce int    `json:"atOnce"`
	Calls  []call `json:"calls"`
}

type result struct {
	Code   int     `json:"code"`
	Stdout string  `json:"stdout"`
	Stderr string  `json:"stderr"`
	Ms     float64 `json:"ms"`
	CpuMs  float64 `json:"cpuMs"`
	PeakKb int64   `json:"peakKb"`
}

type answer struct {
	Ms      float64  `json:"ms"`
	Results []result `json:"results"`
}

func main() {
	var asked job
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	results := make([]result, len(asked.Calls))
	next := make(chan int)
	var workers sync.WaitGroup
	start := time.Now()
	for i := 0; i < asked.AtOnce; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for at := range next {
				results[at] = run(asked.Calls[at])
			}
		}()
	}
	for at := range asked.Calls {
		next <- at
	}
	close(next)
	workers.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(answer{Ms: ms(time.Since(start)), Results: results}); err != nil {
		panic(err)
	}
}

func run(asked call) result {
	var stdout, stderr bytes.Buffer
	command := exec.Command(asked.Program)
	command.Env = asked.Env
	command.Stdin = bytes.NewReader([]byte(asked.Stdin))
	command.Stdout, command.Stderr = &stdout, &stderr
	start := time.Now()
	err := command.Run()
	took := time.Since(start)
	if command.ProcessState == nil {
		return result{Code: -1, Stderr: err.Error()}
	}
	usage := command.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return result{
		Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String(),
		Ms: ms(took), CpuMs: ms(cpu), PeakKb: usage.Maxrss,
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
