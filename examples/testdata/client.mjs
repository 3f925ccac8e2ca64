// What TestClientOfThePage runs: the client in TypeScript, as the page of the shop has it, before a fetch that is made up. The last line that it prints
// is "done".
import { createServer } from "node:net";
import { AeonError, connect } from "./shop.js";

const text = (v) => JSON.stringify(v, (_, x) => (typeof x === "bigint" ? `${x}n` : x));

function same(got, want, what) {
	if (text(got) !== text(want)) {
		throw new Error(`${what}: ${text(got)}\nexpected: ${text(want)}`);
	}
}

const outcome = (call) => call.then(String, (err) => (err instanceof AeonError ? `${err.code} ${err.happened}` : String(err)));

// busy is a fetch that answers, after 5 ms, that it performs no calls now.
function busy(seen) {
	return (_, { signal }) => new Promise((resolve, reject) => {
		seen();
		const problem = '{"code":"unavailable","detail":"it is ending","happened":"no"}';
		setTimeout(() => resolve(new Response(problem, { status: 503, headers: { "Content-Type": "application/problem+json" } })), 5);
		signal.addEventListener("abort", () => reject(signal.reason));
	});
}

const cases = {
	// A call whose time is over before its next attempt has not happened, if no attempt has: there is no further one, which would leave that open.
	async ends() {
		const timeoutMs = 1_500;
		await Promise.all(Array.from({ length: 10 }, async () => {
			const began = Date.now();
			let sent = 0;
			let last = 0;
			const shop = connect({ url: "http://127.0.0.1:1", timeoutMs, fetch: busy(() => (sent++, (last = Date.now() - began))) });
			same(await outcome(shop.Shop("main").order({ customer: "ann", article: "pen", pieces: 1n })), "unavailable no", "the outcome");
			same([sent > 1, last < timeoutMs, Date.now() - began < timeoutMs + 300], [true, true, true], `${sent} attempts, the last one after ${last} ms`);
		}));
	},

	// So it is where the pause takes longer than it should, as the machine was asleep.
	async sleeps() {
		const until = Date.now() + 500;
		let sent = 0;
		const shop = connect({ url: "http://127.0.0.1:1", timeoutMs: 500, fetch: busy(() => {
			sent++;
			setTimeout(() => { while (Date.now() < until) { /* nothing else goes on */ } }, 20);
		}) });
		same([await outcome(shop.Shop("main").list()), sent], ["unavailable no", 1], "the outcome, and how often it was sent");
	},

	// The first attempt is made however little time there is.
	async hurries() {
		let sent = 0;
		const shop = connect({ url: "http://127.0.0.1:1", timeoutMs: 20, fetch: busy(() => sent++) });
		same([await outcome(shop.Shop("main").list()), sent], ["unavailable no", 1], "the outcome, and how often it was sent");
	},

	// A call has not happened if no process listens, as Node.js says. It is sent again, and if a connection is lost once it may have happened.
	async listens() {
		const order = { customer: "ann", article: "pen", pieces: 1n };
		const failed = (cause) => () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause }));
		const port = await new Promise((resolve) => {
			const server = createServer().listen(0, () => {
				const { port } = server.address();
				server.close(() => resolve(port));
			});
		});
		const causes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].map((code) => ({ code }));
		for (const host of ["127.0.0.1", "localhost"]) { // which may have two addresses
			causes.push(await fetch(`http://${host}:${port}`).catch((err) => err.cause));
		}
		for (const cause of causes) {
			let sent = 0;
			const refuse = failed(cause);
			const options = { url: "http://127.0.0.1:1", timeoutMs: 500, fetch: () => (sent++, refuse()) };
			same([await outcome(connect(options).Shop("main").order(order)), sent > 1], ["unreachable no", true], `the outcome for ${cause}, ${cause.code}, and whether it was sent again`);
			const lose = failed({ code: "ECONNRESET" });
			options.fetch = () => (sent++ === 0 ? lose() : refuse());
			sent = 0;
			same(await outcome(connect(options).Shop("main").order(order)), "unreachable unknown", `the outcome for a lost connection, and ${cause.code}`);
		}
	},

	// An answer of the program that this client cannot read is none of something between: the call has happened, and the client is of another version.
	async differs() {
		const answers = (status, body, type = "application/json") => connect({ url: "http://127.0.0.1:1", fetch: async () => new Response(body, { status, headers: { "Content-Type": type } }) }).Shop("main");
		const told = (call) => call.then(String, (err) => `${err.code} ${err.happened} ${err.message.includes("generate the client again")}`);
		const own = "result yes true";
		const between = "http unknown false";
		for (const [status, body, offer, list, restock] of [
			[200, '[{"Name":"pen"}]', own, own, own],
			[200, "7", own, own, "7"],
			[200, '{"a":1}', own, own, own],
			[204, null, "undefined", own, own],
			[200, "[7", between, between, between],
			[202, "7", between, between, between],
		]) {
			const shop = answers(status, body);
			const got = await Promise.all([shop.offer({ name: "pen", cents: 1n, stock: 1n }), shop.list(), shop.restock({ article: "pen", pieces: 1n })].map(told));
			same(got, [offer, list, restock], `${status} ${body}`);
		}
	},

	// A text of any length is read, and numbers in it stay what they are.
	async escapes() {
		const name = `\n"1" -2.5e3 \\`.repeat(1_000_000);
		const articles = [{ Name: name, Cents: 120, Stock: 7, Change: 1 }];
		const shop = connect({ url: "http://127.0.0.1:1", fetch: async () => new Response(JSON.stringify(articles), { headers: { "Content-Type": "application/json" } }) }).Shop("main");
		const list = await shop.list();
		same([list.length, list[0].Name === name, list[0].Cents], [1, true, 120n], "what was read");
	},

	// Why fetch has failed is told, as Node.js has it behind "fetch failed".
	async tells() {
		for (const [cause, want] of [
			[new Error("read ECONNRESET"), "the program has not answered: TypeError: fetch failed: Error: read ECONNRESET"],
			[{ code: "UND_ERR_SOCKET" }, "the program has not answered: TypeError: fetch failed: UND_ERR_SOCKET"],
			[undefined, "the program has not answered: TypeError: fetch failed"],
		]) {
			const shop = connect({ url: "http://127.0.0.1:1", timeoutMs: 20, fetch: () => Promise.reject(new TypeError("fetch failed", { cause })) }).Shop("main");
			same(await shop.list().catch((err) => err.message), want, "the message");
		}
	},

	// What fetch would refuse to send is refused at once, and not taken for a program that does not answer.
	async refuses() {
		const order = { customer: "ann", article: "pen", pieces: 1n };
		const sent = [];
		const fetch = async (url, init) => { // as the real one, but for the network
			sent.push(new Request(url, init).url);
			return new Response('{"Number":1,"Article":"pen","Pieces":1,"Cents":1,"At":""}', { headers: { "Content-Type": "application/json" } });
		};
		const made = (options) => {
			try {
				connect({ url: "http://127.0.0.1:1", fetch, ...options });
				return "made";
			} catch (err) {
				return err.message;
			}
		};
		const none = (url) => `connect: ${JSON.stringify(url)} is no address of a program; write http://HOST:PORT or https://HOST:PORT; in a page, location.origin is its own`;
		for (const url of ["", "/shop", "shop.example.org", "shop.example.org:80", "//shop.example.org", "ftp://shop.example.org", "http://", "http://a b", "http://a?b", "http://a#b"]) {
			same([made({ url }), made({ url: ["http://a", url] })], [none(url), none(url)], "an address");
		}
		same(made({ url: [] }), "connect needs the address of the program", "no address");
		same(made({ url: "http://ann:secret@a" }), "connect: the address of a has a name or a password, which fetch does not send; give a token", "a password");
		for (const token of ["a\n", "a\r\nb", "\u0100", "\0", "\x7f"]) {
			same(made({ token }), "connect: the token has a character that no header carries; leave out the end of the line if it is from a file", "a token");
		}
		const shop = connect({ url: " HTTPS://A/b// ", token: "a-b.c=", timeoutMs: 300, fetch }).Shop("main");
		for (const key of ["a\nb", "\u0100", "\0", "\x1f", "\x7f"]) {
			same(await outcome(shop.order(order, { key })), "arguments no", `the key ${JSON.stringify(key)}`);
		}
		same(sent, [], "what was sent");
		for (const key of ["a b", "\t~\x80\xff"]) {
			same((await shop.order(order, { key })).Number, 1n, "a key");
		}
		same(sent, ["https://a/b/v1/Shop/main/order", "https://a/b/v1/Shop/main/order"], "what was sent");
	},

	// An actor that no URL leads to is refused, as the request would go elsewhere. Names that look alike are reached.
	async misleads() {
		const sent = [];
		const program = connect({ url: "http://a", fetch: async (url, init) => {
			sent.push(new Request(url, init).url);
			return new Response("[]", { headers: { "Content-Type": "application/json" } });
		} });
		const found = (find) => {
			try {
				return find();
			} catch (err) {
				return err.message;
			}
		};
		for (const name of ["", ".", ".."]) {
			const want = `Shop: no URL leads to an actor of the name ${JSON.stringify(name)}; choose another name`;
			same([found(() => program.Shop(name)), found(() => program.Shop.at(`Shop/${name}`))], [want, want], "a name");
		}
		for (const name of ["...", "%2e", "a/..", "./b"]) {
			await program.Shop(name).list();
			await program.Shop.at(`Shop/${name}`).list();
		}
		await program.Supplier.at("Supplier:1:2").deliver({ shop: "Shop/main", article: "pen", pieces: 1n }).catch(() => {});
		const want = ["...", "%252e", "a%2F..", ".%2Fb"].map((name) => `http://a/v1/Shop/${name}/list`);
		same(sent, [...want.flatMap((url) => [url, url]), "http://a/v1/Supplier/%3A1%3A2/deliver"], "what was sent");
	},
};

await cases[process.argv[2]]();
console.log("done");
