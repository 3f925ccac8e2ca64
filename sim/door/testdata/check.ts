// What TestTypeScript runs: a client of the shop, which is checked by tsc and run by node. The last line that it prints is "done".
import { AeonError, connect, type CartRef, type EarRef, type Everything, type Item } from "./shop.js";

declare const process: { argv: string[] };

const url = process.argv[2] ?? "";
const shop = connect({ url: ["http://127.0.0.1:1", url], attemptMs: 5_000 }); // at the first nothing listens; fetch of node 20 may lose a request whose connection ends as it begins

function same(got: unknown, want: unknown, what: string): void {
	const text = (v: unknown): string => JSON.stringify(v, (_, x: unknown) => (typeof x === "bigint" ? `${x}n` : x instanceof Map ? [...x] : Object.is(x, -0) ? "-0" : typeof x === "number" ? String(x) : x));
	if (text(got) !== text(want)) {
		throw new Error(`${what}: ${text(got)}\nexpected: ${text(want)}`);
	}
}

async function failing(f: () => Promise<unknown>): Promise<AeonError> {
	try {
		await f();
	} catch (err) {
		if (err instanceof AeonError) {
			return err;
		}
		throw err;
	}
	throw new Error("it has not failed");
}

async function values(): Promise<void> {
	const main = shop.Shop("a/b é");
	const pen: Item = { Name: "pen", Cents: 120n, Size: "SMALL", Note: null, Tags: ["1", "-2.5e3", 'a "7" \\'] };
	await main.put({ item: pen });
	same(await main.find({ name: "pen" }), pen, "find");
	same(await main.find({ name: "cup" }), null, "find nothing");
	same(await main.cheap({ cents: 2n ** 63n - 1n }), [pen], "an argument left out");
	same(await main.cheap({ cents: 120n, size: "LARGE" }), [], "an enum");
	const cart: CartRef = await main.open({ owner: "ann" });
	same(await shop.Cart.at(cart).add({ item: pen, pieces: 3n }), 360n, "an actor without a name");
	const all: Everything = {
		Whole: -(2n ** 63n), Small: -128, Large: 2n ** 64n - 1n, Real: Number.NaN, Flag: true, Text: '12 "34" \\ \u2028 \udc80', Raw: "AP8=",
		At: "2026-01-02T03:04:05.000000006Z", Took: "1h2m3.000000004s", Kind: "LARGE", Items: [pen], Marks: [-1n, 9007199254740993n],
		ByName: new Map([["", pen], ["__proto__", pen], ["constructor", pen]]), Seen: new Map([["1m0s", false]]), Best: pen, Cart: cart, Shop: "Shop/a b",
	};
	for (const real of [Number.NaN, Number.POSITIVE_INFINITY, 1e-7, 5e-324, 1.7976931348623157e308, 0.1]) {
		const one = { ...all, Real: real };
		const kept = await main.keep({ e: one });
		same({ ...kept, ByName: new Map([...kept.ByName].sort()) }, { ...one, ByName: new Map([...one.ByName].sort()) }, "every type");
		same(await main.show(), kept, "what is shown");
	}
	const refused = await failing(() => main.put({ item: { ...pen, Cents: 0n } }));
	same([refused.code, refused.message, refused.happened, refused.status, refused.at?.startsWith("shop.aeon:")], ["aborted", "an item costs more than 0", "no", 422, true], "an abort");
	const fault = await failing(() => main.divide({ a: 1n, b: 0n }));
	same([fault.code, fault.path.length > 0], ["fault", true], "a fault");
	same((await failing(() => shop.Shop.at("Cart:1:7" as "Shop:1:7").total())).code, "not-found", "an actor that is not there");

	// @ts-expect-error: a number is no int
	void (() => main.add({ n: 5 }));
	// @ts-expect-error: an ear is no eye
	void ((ear: EarRef) => main.look({ e: ear }));
	// @ts-expect-error: carts have no names
	void (() => shop.Cart("ann"));
	// @ts-expect-error: there is no such size
	void (() => main.cheap({ cents: 1n, size: "TINY" }));

	const stopped = new AbortController();
	const spin = main.spin({ rounds: 4_000_000_000n }, { signal: stopped.signal });
	setTimeout(() => stopped.abort(new Error("enough")), 50);
	same(await spin.catch((err: unknown) => String(err)), "Error: enough", "an aborted call");
	const nowhere = await failing(() => connect({ url: "http://127.0.0.1:1", timeoutMs: 300 }).Shop("main").count());
	same([nowhere.code, nowhere.happened, nowhere.status], ["unreachable", "unknown", 0], "a program that is not there");
	let asked = 0;
	const expired = connect({ url: ["https://127.0.0.1:1", "https://127.0.0.1:2"], fetch: () => (asked++, Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("it has expired"), { code: "CERT_HAS_EXPIRED" }) }))) });
	const distrusted = await failing(() => expired.Shop("main").total());
	same([distrusted.code, distrusted.message, distrusted.happened, asked], ["unreachable", "the program has not answered: Error: it has expired", "no", 2], "certificates that are not trusted");
	const half = connect({ url: ["https://127.0.0.1:1", "https://127.0.0.1:2"], fetch: (url) => (String(url).startsWith("https://127.0.0.1:1") ? Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("it has expired"), { code: "CERT_HAS_EXPIRED" }) })) : Promise.resolve(new Response("7", { headers: { "Content-Type": "application/json" } }))) });
	same(await Promise.all([1, 2, 3, 4].map(() => half.Shop("main").total())), [7n, 7n, 7n, 7n], "calls at once, of which one address is not trusted");
}

// What stands between answers with a page: what has become of the call is unknown, and is told soon.
async function between(): Promise<void> {
	const pen: Item = { Name: "pen", Cents: 120n, Size: "SMALL", Note: null, Tags: [] };
	const open = `"${"a".repeat(30)}`; // a text that does not end
	const none = "http unknown";
	const outcome = (call: Promise<unknown>): Promise<string> => call.then(String, (err: unknown) => (err instanceof AeonError ? `${err.code} ${err.happened}` : String(err)));
	for (const [status, type, body, put, count] of [
		[200, "text/html; charset=utf-8", `<html>${open}`, none, none],
		[200, "application/json", open, none, none],
		[200, "application/json", '{"code":"login"}', "result yes", "result yes"],
		[202, "application/json", "7", none, none],
		[200, "application/json; charset=utf-8", "7", "result yes", "7"],
		[204, "text/plain", null, "undefined", "result yes"],
	] as const) {
		const answered = connect({ url: "http://127.0.0.1:1", fetch: () => Promise.resolve(new Response(body, { status, headers: { "Content-Type": type } })) });
		const began = Date.now();
		const got = await Promise.all([answered.Shop("main").put({ item: pen }), answered.Shop("main").count(), answered.listen({ Ear: {} })].map(outcome));
		same(got, [put, count, none], `${status} ${type} ${String(body)}`);
		same(Date.now() - began < 2_000, true, "an answer is read soon");
	}
}

// streaming is the program if its stream of callbacks is this one.
function streaming(type: string, events: string): typeof shop {
	return connect({
		url: "http://127.0.0.1:1",
		fetch: (_, init) => {
			const begun = new Response('{"id":"x","events":"/v1/clients/x/events","references":{"Ear":"Ear:1"}}', { status: 201, headers: { "Content-Type": "application/json" } });
			return Promise.resolve(init?.method === "POST" ? begun : new Response(events, { headers: { "Content-Type": type } }));
		},
	});
}

async function streams(): Promise<void> {
	const l = await streaming("text/html", "<html>").listen({ Ear: {} });
	same(await l.closed.catch((err: unknown) => err instanceof AeonError && err.code), "http", "a page instead of the stream");
	const said = (n: number): string => `id: ${n}\ndata: {"class":"Ear","method":"said","arguments":{"number":${n},"text":"","about":null}}\n\n`;
	const heard: bigint[] = [];
	const closing = streaming("text/event-stream", said(1) + said(2)).listen({
		Ear: {
			said: async ({ number }) => {
				heard.push(number);
				(await closing).close();
			},
		},
	});
	same([await (await closing).closed, heard], [undefined, [1n]], "a listener that its handler closes");
}

async function callbacks(): Promise<void> {
	const main = shop.Shop("callbacks");
	const heard: unknown[] = [];
	let enough = (): void => {};
	const done = new Promise<void>((resolve) => (enough = resolve));
	const l = await shop.listen({
		Ear: {
			said: async (s) => {
				await Promise.resolve();
				heard.push(s.number);
			},
			greeted: (g) => {
				heard.push(g.by, g.shop);
				enough();
			},
		},
	});
	await main.listen({ ear: l.refs.Ear });
	await main.say({ text: "x", times: 3n });
	await main.greet({ ear: l.refs.Ear, by: l.refs.Ear });
	await done;
	same(heard, [1n, 2n, 3n, l.refs.Ear, "Shop/callbacks"], "callbacks");
	l.close();
	await l.closed;
	const failed = await shop.listen({ Ear: { said: () => { throw new Error("no"); } } });
	await shop.Shop("other").listen({ ear: failed.refs.Ear });
	await shop.Shop("other").say({ text: "x", times: 1n });
	same(await failed.closed.catch((err: unknown) => String(err)), "Error: no", "a handler that fails");
}

// Keyed requests, and a listener that listens again, while the server is killed and connections break.
async function kills(requests: number): Promise<void> {
	const main = shop.Shop("main");
	const counts = new Set<bigint>();
	let sent = 0;
	let over = false;
	let last = 0n;
	let heard = 0;
	let listeners = 0;
	const stop = new AbortController();
	const listening = (async () => {
		while (!over) {
			listeners++;
			const l = await shop.listen(
				{
					Ear: {
						said: (s) => {
							if (s.number <= last) {
								throw new Error(`behind ${last} comes ${s.number}`);
							}
							last = s.number;
							heard++;
						},
					},
				},
				{ signal: stop.signal },
			);
			await main.listen({ ear: l.refs.Ear }, { signal: stop.signal }).catch((err: unknown) => {
				if (!(err instanceof AeonError && err.code === "no-client")) {
					throw err;
				}
			});
			await l.closed.catch((err: unknown) => {
				if (!(err instanceof AeonError && err.code === "not-found")) {
					throw err;
				}
			});
		}
	})().catch((err: unknown) => {
		if (!over) {
			throw err;
		}
	});
	const workers = Array.from({ length: 6 }, async () => {
		while (sent < requests) {
			sent++;
			const n = await main.say({ text: "x", times: 1n });
			if (counts.has(n)) {
				throw new Error(`${n} comes twice`);
			}
			counts.add(n);
		}
	});
	await Promise.all(workers);
	over = true;
	stop.abort(new Error("over"));
	await listening;
	same(await main.add({ n: 0n }), BigInt(counts.size), "how often the shop has spoken");
	console.log(`${counts.size} requests, ${heard} callbacks of ${last} to ${listeners} listeners`);
}

if (process.argv[3] === "kills") {
	await kills(Number(process.argv[4]));
} else {
	await values();
	await between();
	await streams();
	await callbacks();
}
console.log("done");
