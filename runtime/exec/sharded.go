package exec

// shardCount is into how many parts is divided what many goroutines use at once.
const shardCount = 64

// sharded is so many T, each in cache lines of its own.
type sharded[T any] [shardCount]struct {
	shard T
	_     [64]byte
}

// of returns the shard of a number. Neighbouring numbers have different ones.
func (s *sharded[T]) of(n uint64) *T { return &s[(n*0x9e3779b97f4a7c15)>>32%shardCount].shard }

// all visits every shard.
func (s *sharded[T]) all(visit func(*T) bool) {
	for i := range s {
		if !visit(&s[i].shard) {
			return
		}
	}
}
