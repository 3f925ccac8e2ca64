// A program of a user: it opens the shop of a module of its own, which imports another package.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/aeon-lang/aeon"

	"example.com/outside/shop"
	"example.com/outside/shop/stock"
)

func main() {
	ctx := context.Background()
	db, err := shop.Open(ctx, aeon.Dir("data"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	s := db.Shop("main")
	was, err := s.Order(ctx, []stock.Item{{Name: "tea", Count: 2, Size: stock.SizeLARGE}}, aeon.Once("1"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.Order(ctx, nil); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 1 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	items, err := s.All(ctx)
	if err != nil {
		log.Fatal(err)
	}
	data, err := json.Marshal(items)
	fmt.Println(was, string(data), err)
}
