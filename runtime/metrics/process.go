package metrics

import (
	"bytes"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"time"
)

var started = time.Now()

// Process writes what Prometheus' own client writes of a Go process, by the same names, as dashboards and alerts know them: goroutines, heap,
// and when it started; on Linux resident memory and open files, too.
func (w *Writer) Process() {
	w.Gauge("go_goroutines", "Goroutines of the process.", int64(runtime.NumGoroutine()))
	heap := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtimemetrics.Read(heap)
	if heap[0].Value.Kind() == runtimemetrics.KindUint64 {
		w.Gauge("go_memstats_heap_alloc_bytes", "Bytes of objects in the heap of Go, those that are garbage and not yet swept too.", int64(heap[0].Value.Uint64()))
	}
	w.Gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", started.Unix())
	if n, ok := residentBytes(); ok {
		w.Gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.", n)
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		w.Gauge("process_open_fds", "Open files and connections of the process.", int64(len(files)-1)) // without the one that has read it
	}
}

// residentBytes returns the memory of the process that is in RAM, where /proc tells it (proc(5)).
func residentBytes() (n int64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
