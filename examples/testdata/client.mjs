// What TestClientOfThePage runs: the client in TypeScript, as the page of the shop has it, before a fetch that is made up. The last line that it prints
// is "done".
import { AeonError, connect } from "./shop.js";

function same(got, want, what) {
	if (JSON.stringify(got) !== JSON.stringify(want)) {
		throw new Error(`${what}: ${JSON.stringify(got)}\nexpected: ${JSON.stringify(want)}`);
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
};

await cases[process.argv[2]]();
console.log("done");
