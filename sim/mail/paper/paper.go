// Package paper is the outside of the program post: a file in which each letter is a line.
package paper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aeon-lang/aeon/runtime"
)

// Write appends a line to a file: the key of the call, the time, and text. When it returns, the line is on the disk. Some
// calls fail nevertheless, as the time has it.
func Write(ctx context.Context, file, text string) error {
	now := time.Now().UnixNano()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d %s\n", runtime.CallKey(ctx), now, text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if now/1000%4 == 0 {
		return errors.New("the paper is torn")
	}
	return nil
}
