#!/bin/sh
# Tries the shop as a program without a library does: try.sh [URL]. The shop runs as README.md says.
set -eu
url=${1:-http://localhost:8080}
shop=$url/v1/Shop/main
run=$$-$(date +%s) # names that no run before has used
tmp=$(mktemp -d)
stream=
trap '[ -z "$stream" ] || kill "$stream" 2>/dev/null || true; rm -rf "$tmp"' EXIT

step() { printf '\n# %s\n' "$1"; }
fail() {
	printf 'try.sh: %s\n' "$1" >&2
	exit 1
}

# post URL JSON [HEADER]: sends JSON, and writes the answer and its status.
post() {
	curl -sS --max-time 60 -w ' %{http_code}' "$1" -H 'Content-Type: application/json' ${3:+-H "$3"} -d "$2" | tr -d '\n'
}

# expect TEXT PATTERN: shows a text, which matches the pattern.
expect() {
	printf '%s\n' "$1"
	# shellcheck disable=SC2254 # it is a pattern
	case $1 in
	$2) ;;
	*) fail "that is not $2" ;;
	esac
}

step "two more pens; the stock can be read by GET"
expect "$(post "$shop/restock" '{"article": "pen", "pieces": 2}')" '[1-9]* 200'
expect "$(curl -sS --max-time 60 "$shop/list")" '\[*{"Name":"pen","Cents":120,"Stock":[1-9]*'

step "a client, which hears what changes"
client=$(curl -sS --max-time 60 "$url/v1/clients" -H 'Content-Type: application/json' -d '{"classes": ["Page"]}')
printf '%s\n' "$client"
events=$(printf '%s' "$client" | sed -n 's/.*"events":"\([^"]*\)".*/\1/p')
page=$(printf '%s' "$client" | sed -n 's/.*"Page":"\([^"]*\)".*/\1/p')
curl -sSN --max-time 60 "$url$events" >"$tmp/stream" &
stream=$!
expect "$(post "$shop/watch" "{\"id\": \"try $run\", \"customer\": \"ann $run\", \"page\": \"$page\"}")" '{"Articles":*} 200' >/dev/null

step "an order with a key; sent again it gets the same answer, and happens once"
order="{\"customer\": \"ann $run\", \"article\": \"pen\", \"pieces\": 2}"
first=$(post "$shop/order" "$order" "Idempotency-Key: $run")
expect "$first" '{"Number":*,"Article":"pen","Pieces":2,"Cents":240,*} 200'
again=$(post "$shop/order" "$order" "Idempotency-Key: $run")
expect "$again" "$first"
expect "$(post "$shop/ordered" "{\"customer\": \"ann $run\"}")" "\[${first% 200}\] 200"

step "an order of what is not there: nothing of it has happened, and the answer says where"
expect "$(post "$shop/order" "{\"customer\": \"ann $run\", \"article\": \"desk\", \"pieces\": 1}")" '{*"detail":"the shop has no desk","code":"aborted","happened":"no","at":"shop.aeon:*} 422'

step "what the client has heard: the stock, and the order"
i=0
until grep -q '"method":"ordered"' "$tmp/stream"; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail 'the stream has no order after a minute'
	sleep 0.1
done
expect "$(cat "$tmp/stream")" '*"method":"stocked","arguments":{"article":{"Name":"pen",*"method":"ordered",*"Pieces":2,*'
curl -sS --max-time 60 -X DELETE "$url${events%/events}"

printf '\ndone\n'
