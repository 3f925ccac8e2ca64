package value

import (
	"cmp"
	"strings"
	"time"
)

// Time is the value time: nanoseconds since the start of 1970, UTC.
type Time int64

// Duration is the value duration, in nanoseconds.
type Duration int64

// Compare implements Ordered.
func (t Time) Compare(other Time) int { return cmp.Compare(t, other) }

// Add returns t + d, or faults on overflow.
func (t Time) Add(d Duration) Time { return Add(t, Time(d)) }

// SubDuration returns t - d, or faults on overflow.
func (t Time) SubDuration(d Duration) Time { return Sub(t, Time(d)) }

// Sub returns the duration from u to t, or faults on overflow.
func (t Time) Sub(u Time) Duration { return Duration(Sub(t, u)) }

// Str returns t as RFC 3339 writes it.
func (t Time) Str() string { return t.utc().Format(time.RFC3339Nano) }

func (t Time) utc() time.Time { return time.Unix(0, int64(t)).UTC() }

// Year returns the year of t in UTC.
func (t Time) Year() int64 { return int64(t.utc().Year()) }

// Month returns the month of t in UTC, from 1.
func (t Time) Month() int64 { return int64(t.utc().Month()) }

// Day returns the day of the month of t in UTC, from 1.
func (t Time) Day() int64 { return int64(t.utc().Day()) }

// Hour returns the hour of t in UTC.
func (t Time) Hour() int64 { return int64(t.utc().Hour()) }

// Minute returns the minute of t in UTC.
func (t Time) Minute() int64 { return int64(t.utc().Minute()) }

// Second returns the second of t in UTC, without its fraction.
func (t Time) Second() int64 { return int64(t.utc().Second()) }

// Weekday returns the day of the week of t in UTC, as ISO 8601 counts: 1 is Monday, 7 is Sunday.
func (t Time) Weekday() int64 { return int64(t.utc().Weekday()+6)%7 + 1 }

// timeFrom returns a time of Go, or false if it is none that a Time can be.
func timeFrom(t time.Time) (Time, bool) {
	n := Time(t.UnixNano())
	return n, n.utc().Equal(t)
}

// TimeOf returns the time that has these parts in UTC, or null if there is none.
func TimeOf(year, month, day, hour, minute, second int64) Opt[Time] {
	if year < 1677 || year > 2262 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return Opt[Time]{}
	}
	t := time.Date(int(year), time.Month(month), int(day), int(hour), int(minute), int(second), 0, time.UTC)
	n, ok := timeFrom(t)
	return SomeIf(n, ok && t.Day() == int(day)) // Go counts the 30th of February as a day in March
}

// ParseTime returns the time that s is as RFC 3339 has it, with any offset, or null. What is beyond nanoseconds is cut off.
func ParseTime(s string) Opt[Time] {
	read, err := time.Parse(time.RFC3339, s)
	if err != nil || !isRFC3339(s) {
		return Opt[Time]{}
	}
	n, ok := timeFrom(read)
	return SomeIf(n, ok)
}

// isRFC3339 refuses what Go takes beyond RFC 3339: hours of one digit, a comma before the fraction, offsets of a day and more.
func isRFC3339(s string) bool {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[13] != ':' || strings.Contains(s, ",") {
		return false
	}
	if strings.HasSuffix(s, "Z") {
		return true
	}
	offset := s[len(s)-len("15:04"):]
	return offset < "24" && offset[3:] < "60"
}

// Compare implements Ordered.
func (d Duration) Compare(other Duration) int { return cmp.Compare(d, other) }

// After returns the time that is d after t, or faults on overflow. It is t.Add(d) for operands in this order.
func (d Duration) After(t Time) Time { return Add(Time(d), t) }

// Str returns d as Go writes it, such as 1m30s.
func (d Duration) Str() string { return time.Duration(d).String() }
