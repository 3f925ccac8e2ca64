package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of times in /proc: USER_HZ, which is 100 on every Linux.
const tick = 10 * time.Millisecond

// CPU returns the processor time that the server and its children have used, or 0 where
// the system does not tell.
func (s *Server) CPU() time.Duration {
	if s.standby != nil {
		return s.own() + s.standby.own()
	}
	return s.own()
}

func (s *Server) own() time.Duration {
	self := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", self, self))
	if err != nil {
		return 0
	}
	sum := cpuOf(strconv.Itoa(self))
	for _, pid := range bytes.Fields(children) {
		sum += cpuOf(string(pid))
	}
	return sum
}

// cpuOf returns the time of a process and of the children that it has waited for; 0 if it has ended.
func cpuOf(pid string) time.Duration {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything; the times are the 12th to 15th behind it.
	_, rest, found := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	fields := bytes.Fields(rest)
	if !found || len(fields) < 15 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
