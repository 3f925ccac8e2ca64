package spec

import (
	"math/big"
	"regexp"
	"strconv"

	"github.com/aeon-lang/aeon/typecheck"
)

const daySeconds = 24 * 60 * 60

// daysOf is the length of a year in the Gregorian calendar.
func daysOf(year int64) int64 {
	if year%4 == 0 && year%100 != 0 || year%400 == 0 {
		return 366
	}
	return 365
}

// daysIn is the length of a month, from 1.
func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		return daysOf(year) - 337
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// floor is a / b, rounded down.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// part is a method of a time: [LIBRARY].
func (t instant) part(id typecheck.LibraryID) value {
	seconds := floor(int64(t), 1e9)
	days := floor(seconds, daySeconds)
	seconds -= days * daySeconds
	year, month, day := int64(1970), int64(1), days
	for day < 0 {
		year--
		day += daysOf(year)
	}
	for day >= daysOf(year) {
		day -= daysOf(year)
		year++
	}
	for day >= daysIn(year, month) {
		day -= daysIn(year, month)
		month++
	}
	n, ok := map[typecheck.LibraryID]int64{
		typecheck.YearMethod: year, typecheck.MonthMethod: month, typecheck.DayMethod: day + 1,
		typecheck.HourMethod: seconds / 3600, typecheck.MinuteMethod: seconds / 60 % 60, typecheck.SecondMethod: seconds % 60,
		typecheck.WeekdayMethod: days + 3 - 7*floor(days+3, 7) + 1, // the first of January 1970 was a Thursday
	}[id]
	if !ok {
		panic(bug{"no rule for the method " + id.String()})
	}
	return integer{typecheck.IntKind, n}
}

// secondsOf counts the seconds from 1970 to the time with these parts, and reports whether there is one in the years of four digits.
func secondsOf(year, month, day, hour, minute, second int64) (int64, bool) {
	in := func(n, least, most int64) bool { return n >= least && n <= most }
	if !in(year, 0, 9999) || !in(month, 1, 12) || !in(day, 1, daysIn(year, month)) || !in(hour, 0, 23) || !in(minute, 0, 59) || !in(second, 0, 59) {
		return 0, false
	}
	days := day - 1
	for m := int64(1); m < month; m++ {
		days += daysIn(year, m)
	}
	for y := int64(1970); y < year; y++ {
		days += daysOf(y)
	}
	for y := year; y < 1970; y++ {
		days -= daysOf(y)
	}
	return days*daySeconds + hour*3600 + minute*60 + second, true
}

// instantOf is the time so many seconds and nanoseconds after 1970, or null if it is beyond 64 bits.
func instantOf(seconds, nanoseconds int64) value {
	n := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(1e9))
	if n.Add(n, big.NewInt(nanoseconds)); !n.IsInt64() {
		return nil
	}
	return instant(n.Int64())
}

func timeOf(args []value) value {
	var p [6]int64
	for i, a := range args {
		p[i] = a.(integer).bits
	}
	seconds, ok := secondsOf(p[0], p[1], p[2], p[3], p[4], p[5])
	if !ok {
		return nil
	}
	return instantOf(seconds, 0)
}

var rfc3339 = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$`)

// parseTime takes a time of RFC 3339 with capital letters; what is beyond nanoseconds is cut off.
func parseTime(s string) value {
	m := rfc3339.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	number := func(digits string) int64 {
		n, _ := strconv.ParseInt(digits, 10, 64)
		return n
	}
	seconds, ok := secondsOf(number(m[1]), number(m[2]), number(m[3]), number(m[4]), number(m[5]), number(m[6]))
	hours, minutes := number(m[9]), number(m[10])
	if !ok || hours > 23 || minutes > 59 {
		return nil
	}
	if m[8] == "-" {
		hours, minutes = -hours, -minutes
	}
	return instantOf(seconds-hours*3600-minutes*60, number((m[7] + "000000000")[:9]))
}
