package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/server"
)

// PostgresConnections is how many connections the clients share at most: a process for
// each of a thousand clients would only slow PostgreSQL down.
const PostgresConnections = 64

// postgresPool connects to the server; it holds a connection for each of n clients, up to the limit.
func postgresPool(s *server.Server, n int, isolation string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(fmt.Sprintf("host=%s user=bench dbname=postgres", s.Socket))
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = isolation
	cfg.MaxConns = int32(min(n, PostgresConnections))
	return pgxpool.NewWithConfig(context.Background(), cfg)
}

const postgresSchema = `
create table %[1]s (id int primary key, balance bigint not null) with (fillfactor = 50);
create function %[1]s_transfer(payer int, payee int, amount bigint) returns void language plpgsql as $$
begin
	if (select balance from %[1]s where id = payer) < amount then
		raise exception 'not enough';
	end if;
	-- In one order, or half of the time would be spent waiting for deadlocks to be found.
	if payer < payee then
		update %[1]s set balance = balance - amount where id = payer;
		update %[1]s set balance = balance + amount where id = payee;
	else
		update %[1]s set balance = balance + amount where id = payee;
		update %[1]s set balance = balance - amount where id = payer;
	end if;
end $$;`

// postgresAccounts makes the accounts of one system in a table of its own.
func postgresAccounts(ctx context.Context, pool *pgxpool.Pool, table string) error {
	if _, err := pool.Exec(ctx, fmt.Sprintf(postgresSchema, table), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	_, err := pool.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "balance"},
		pgx.CopyFromSlice(load.Accounts, func(i int) ([]any, error) { return []any{i, int64(initialBalance)}, nil }))
	if err != nil {
		return err
	}
	// Without statistics it would scan the table, and every transaction conflict with every other.
	_, err = pool.Exec(ctx, "vacuum analyze "+table)
	return err
}

// postgresOnce makes one attempt to transfer from one account to another.
type postgresOnce func(ctx context.Context, pool *pgxpool.Pool, table string, from, to int) error

// oneCall transfers in one round trip.
func oneCall(ctx context.Context, pool *pgxpool.Pool, table string, from, to int) error {
	_, err := pool.Exec(ctx, "select "+table+"_transfer($1, $2, 1)", from, to)
	return err
}

// fiveTrips transfers as an application does that thinks between its statements.
func fiveTrips(ctx context.Context, pool *pgxpool.Pool, table string, from, to int) error {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.Serializable})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // does nothing after Commit
	var balance int64
	if err := tx.QueryRow(ctx, "select balance from "+table+" where id = $1", from).Scan(&balance); err != nil {
		return err
	}
	if balance < 1 {
		return errNotEnough
	}
	for _, id := range []int{min(from, to), max(from, to)} { // in one order, as the function does
		by := 1
		if id == from {
			by = -1
		}
		if _, err := tx.Exec(ctx, "update "+table+" set balance = balance + $2 where id = $1", id, by); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// refused reports whether PostgreSQL asks to make the transaction again: it could not be
// serialised, or stood in a deadlock.
func refused(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// PostgresWithStandby transfers by one call of a function, in a PostgreSQL whose commits are on a standby, too, when they are answered.
func PostgresWithStandby(s *server.Server, table string, callers int) (load.System, error) {
	pool, err := postgresPool(s, 1, "read committed")
	if err != nil {
		return load.System{}, err
	}
	defer pool.Close()
	var state string
	for end := time.Now().Add(standbyMax); state != "sync"; {
		err := pool.QueryRow(context.Background(), "select coalesce(max(sync_state), '') from pg_stat_replication").Scan(&state)
		if err == nil && state != "sync" && time.Now().After(end) {
			err = fmt.Errorf("the standby is %q, not synchronous, after %v", state, standbyMax)
		}
		if err != nil {
			return load.System{}, err
		}
	}
	return Postgres(s, table, callers, false, false)
}

// standbyMax is how long a standby may take until it follows.
const standbyMax = 20 * time.Second

// Postgres transfers in PostgreSQL, SERIALIZABLE and synced, in a table of its own: with one call of a function, or in five
// round trips. A transaction that is refused is made again at once.
func Postgres(s *server.Server, table string, callers int, hot, trips bool) (load.System, error) {
	ctx := context.Background()
	pool, err := postgresPool(s, callers, "serializable")
	if err != nil {
		return load.System{}, err
	}
	if err := postgresAccounts(ctx, pool, table); err != nil {
		pool.Close()
		return load.System{}, err
	}
	once := postgresOnce(oneCall)
	if trips {
		once = fiveTrips
	}
	var retries atomic.Int64
	return load.System{
		Retries: retries.Load,
		CPU:     s.CPU,
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				for {
					err := once(ctx, pool, table, from, to)
					if !refused(err) {
						return err
					}
					retries.Add(1)
				}
			}
		},
		Check: func() error {
			var sum int64
			err := pool.QueryRow(ctx, "select sum(balance)::bigint from "+table).Scan(&sum)
			return errors.Join(err, conserved(sum))
		},
		Close: pool.Close,
	}, nil
}
