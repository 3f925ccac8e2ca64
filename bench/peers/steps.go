package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/server"
)

// steps is how many steps a workflow has.
const steps = 5

// PebbleSteps is the limit for a workflow each step of which is on disk before the next one
// begins: no program at all, five batches of one key, each synced.
func PebbleSteps(dir string) (load.System, error) {
	db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
	if err != nil {
		return load.System{}, err
	}
	var workflows atomic.Uint64
	return load.System{
		NewClient: func(int, int) load.Client {
			var key [16]byte
			value := make([]byte, valueBytes)
			return func(r *rand.Rand) error {
				binary.BigEndian.PutUint64(key[:], workflows.Add(1))
				for step := range steps {
					key[15] = byte(step)
					binary.BigEndian.PutUint64(value, r.Uint64())
					if err := db.Set(key[:], value, pebble.Sync); err != nil {
						return err
					}
				}
				return nil
			}
		},
		Close: func() { db.Close() },
	}, nil
}

const stepsSchema = `
create table %[1]s (id bigint primary key, status text not null, output text);
create table %[1]s_steps (workflow bigint not null, step int not null, output text not null, primary key (workflow, step));`

// PostgresSteps is a workflow as libraries keep it in PostgreSQL: a row for the workflow, a row for the output of every
// step in a transaction of its own, and the workflow's row once more at its end. Its transactions write one row each,
// so they need no more than READ COMMITTED. Nothing polls, and nothing would resume the workflow after a crash: engines
// are slower.
func PostgresSteps(s *server.Server, table string, callers int) (load.System, error) {
	ctx := context.Background()
	pool, err := postgresPool(s, callers, "read committed")
	if err != nil {
		return load.System{}, err
	}
	if _, err := pool.Exec(ctx, fmt.Sprintf(stepsSchema, table)); err != nil {
		pool.Close()
		return load.System{}, err
	}
	var workflows atomic.Int64
	begin := "insert into " + table + " values ($1, 'PENDING')"
	output := "insert into " + table + "_steps values ($1, $2, $3)"
	end := "update " + table + " set status = 'SUCCESS', output = $2 where id = $1"
	run := func(id int64) error {
		if _, err := pool.Exec(ctx, begin, id); err != nil {
			return err
		}
		said := ""
		for step, city := range []string{"Tokyo", "Seattle", "London", "Amsterdam", "Seoul"} {
			hello := "Hello " + city + "!"
			if _, err := pool.Exec(ctx, output, id, step, hello); err != nil {
				return err
			}
			said += hello
		}
		_, err := pool.Exec(ctx, end, id, said)
		return err
	}
	return load.System{
		CPU: s.CPU,
		NewClient: func(int, int) load.Client {
			return func(*rand.Rand) error { return run(workflows.Add(1)) }
		},
		Check: func() error {
			var ended, outputs int64
			err1 := pool.QueryRow(ctx, "select count(*) from "+table+" where status = 'SUCCESS'").Scan(&ended)
			err2 := pool.QueryRow(ctx, "select count(*) from "+table+"_steps").Scan(&outputs)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if begun := workflows.Load(); ended != begun || outputs != steps*begun {
				return fmt.Errorf("of %d workflows %d have ended with %d outputs", begun, ended, outputs)
			}
			return nil
		},
		Close: pool.Close,
	}, nil
}
