package peers

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/server"
)

var redisTransfer = redis.NewScript(`
if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[1]) then
	return redis.error_reply('not enough')
end
redis.call('DECRBY', KEYS[1], ARGV[1])
return redis.call('INCRBY', KEYS[2], ARGV[1])`)

// Redis transfers with a script, which Redis runs alone. What is on disk when it answers
// is up to how the server was started.
func Redis(s *server.Server, callers int, hot bool) (load.System, error) {
	ctx := context.Background()
	db := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket, PoolSize: callers, MaxRetries: -1})
	pipe := db.Pipeline()
	pipe.FlushAll(ctx)
	keys := make([]string, load.Accounts)
	for i := range keys {
		keys[i] = "account:" + strconv.Itoa(i)
		pipe.Set(ctx, keys[i], int64(initialBalance), 0)
	}
	redisTransfer.Load(ctx, pipe)
	if _, err := pipe.Exec(ctx); err != nil {
		return load.System{}, errors.Join(err, db.Close())
	}
	return load.System{
		CPU: s.CPU,
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				return redisTransfer.EvalSha(ctx, db, []string{keys[from], keys[to]}, 1).Err()
			}
		},
		Check: func() error {
			values, err := db.MGet(ctx, keys...).Result()
			if err != nil {
				return err
			}
			var sum int64
			for _, v := range values {
				text, _ := v.(string)
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return err
				}
				sum += n
			}
			return conserved(sum)
		},
		Close: func() { db.Close() },
	}, nil
}
