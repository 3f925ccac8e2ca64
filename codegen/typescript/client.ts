/** How the program is reached. */
export interface ConnectOptions {
	/** Where it listens: "https://shop.example.org"; in a page, location.origin is its own. Of a cluster, where its nodes listen: another one is tried when one does not answer. */
	url: string | readonly string[];
	/** Is sent with each request. */
	token?: string;
	/** How long a call is sent again, in milliseconds, until its outcome is known; 120 000. */
	timeoutMs?: number;
	/** How long an answer is waited for, in milliseconds, before the call is sent again; 40 000, which is longer than the program takes. */
	attemptMs?: number;
	/** Sends requests; the global fetch. */
	fetch?: typeof globalThis.fetch;
}

/** How one call is made. */
export interface CallOptions {
	/** The key by which the request is performed once, however often it is sent. Without one each call has a key of its own. */
	key?: string;
	/** Ends the call. What has been sent may happen all the same. */
	signal?: AbortSignal;
	/** As that of the connection. */
	timeoutMs?: number;
}

/** What is certain of a call that has failed. */
export type Happened = "no" | "yes" | "begun" | "partly" | "unknown";

/** A failure that the program has answered, or of which no answer has come. */
export class AeonError extends Error {
	/** A word that programs can rely on: "aborted", "fault", "unreachable". */
	readonly code: string;
	readonly happened: Happened;
	/** Of HTTP; 0: there was no answer. */
	readonly status: number;
	/** Where in the program it has failed, file:line. */
	readonly at: string | undefined;
	/** The calls that led there, the innermost first. */
	readonly path: readonly string[];

	constructor(code: string, message: string, happened: Happened, status: number, at?: string, path: readonly string[] = []) {
		super(message);
		this.name = "AeonError";
		this.code = code;
		this.happened = happened;
		this.status = status;
		this.at = at;
		this.path = path;
	}
}

/** A client that receives callbacks. */
export interface Listener<Refs> {
	/** Its objects, which methods of actors take. */
	readonly refs: Refs;
	/** Is fulfilled when the listener was closed. Is rejected when it has ended by itself, or a handler has failed: then listen again, and give the new references to the methods. */
	readonly closed: Promise<void>;
	/** Ends the listener. */
	close(): void;
}

// A codec reads values from JSON in which each number is a string, so that none loses digits, and writes them as JSON.
interface Codec<T> {
	read(raw: unknown): T;
	write(value: T): string;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyCodec = Codec<any>;

const asIs = <T>(): Codec<T> => ({ read: (raw) => raw as T, write: (v) => JSON.stringify(v) });
const text = asIs<string>();
const flag = asIs<boolean>();
const whole: Codec<number> = { read: (raw) => Number(raw), write: (v) => String(v) };
const big: Codec<bigint> = { read: (raw) => BigInt(raw as string), write: (v) => BigInt(v).toString() };
const real: Codec<number> = { read: (raw) => Number(raw), write: (v) => (Number.isFinite(v) ? (Object.is(v, -0) ? "-0" : String(v)) : JSON.stringify(String(v))) };
const list = <T>(of: Codec<T>): Codec<T[]> => ({
	read: (raw) => (raw as unknown[]).map((x) => of.read(x)),
	write: (v) => "[" + v.map((x) => of.write(x)).join(",") + "]",
});
const dict = <K extends string, T>(of: Codec<T>): Codec<Map<K, T>> => ({
	read: (raw) => new Map(Object.entries(raw as object).map(([k, x]) => [k as K, of.read(x)])),
	write: (v) => "{" + [...v].map(([k, x]) => JSON.stringify(k) + ":" + of.write(x)).join(",") + "}",
});
const orNull = <T>(of: Codec<T>): Codec<T | null> => ({
	read: (raw) => (raw === null ? null : of.read(raw)),
	write: (v) => (v === null || v === undefined ? "null" : of.write(v)),
});
const lazy = <T>(of: () => Codec<T>): Codec<T> => ({ read: (raw) => of().read(raw), write: (v) => of().write(v) });
const object = <T>(fields: readonly (readonly [name: string, of: AnyCodec])[]): Codec<T> => ({
	read: (raw) => {
		const from = raw as Record<string, unknown>;
		return Object.fromEntries(fields.map(([name, of]) => [name, of.read(Object.hasOwn(from, name) ? from[name] : null)])) as T;
	},
	write: (v) => {
		const from = v as Record<string, unknown>;
		const given = fields.filter(([name]) => from[name] !== undefined);
		return "{" + given.map(([name, of]) => JSON.stringify(name) + ":" + of.write(from[name])).join(",") + "}";
	},
});

// A text is no token of its own: an expression that finds texts takes a place on the stack for each escape in one.
const token = /"|\\.|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// parse reads JSON with each number as a string.
function parse(json: string): unknown {
	let inText = false;
	return JSON.parse(
		json.replace(token, (found) => {
			if (found === '"') {
				inText = !inText;
			}
			return inText || found === '"' ? found : `"${found}"`;
		}),
	);
}

interface Method {
	readonly params: AnyCodec;
	readonly result: AnyCodec | null;
	readonly readOnly: boolean;
}

interface ActorTable {
	readonly name: string;
	readonly methods: readonly (readonly [name: string, method: Method])[];
}

interface ClientTable {
	readonly name: string;
	readonly methods: ReadonlyMap<string, AnyCodec>;
}

const quietMs = 40_000; // a stream shows signs of life more often
const pauseMinMs = 100;
const pauseMaxMs = 5_000;
const sendMinMs = 50; // must be left for a further attempt: one that is under way at the end would leave open what has become of the call

// pauseAfter is how long to wait after an attempt, in milliseconds: longer after each.
function pauseAfter(attempt: number): number {
	const most = Math.min(pauseMinMs * 2 ** attempt, pauseMaxMs);
	return most / 2 + (Math.random() * most) / 2;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve, reject) => {
		const stop = (): void => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", stop);
			resolve();
		}, ms);
		signal?.addEventListener("abort", stop, { once: true });
		if (signal?.aborted) {
			stop();
		}
	});
}

// within calls f with a signal that ends when another one does, or a time is over, which more() begins anew.
async function within<T>(ms: number, signal: AbortSignal | undefined, f: (signal: AbortSignal, more: () => void) => Promise<T>): Promise<T> {
	signal?.throwIfAborted();
	const both = new AbortController();
	const stop = (): void => both.abort(signal?.reason);
	const late = (): void => both.abort(new Error(`no answer for ${ms} ms`));
	let timer = setTimeout(late, ms);
	signal?.addEventListener("abort", stop, { once: true });
	try {
		return await f(both.signal, () => {
			clearTimeout(timer);
			timer = setTimeout(late, ms);
		});
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", stop);
	}
}

interface Answer {
	readonly status: number;
	readonly type: string;
	readonly body: string;
	readonly retryAfterMs: number;
}

// typeOf is the media type of an answer, without parameters.
function typeOf(a: Response): string {
	return (a.headers.get("Content-Type") ?? "").replace(/;.*/, "").trim().toLowerCase();
}

// failureOf reads a problem (RFC 9457).
function failureOf(a: Answer): AeonError {
	try {
		const p = JSON.parse(a.body) as { code: string; detail: string; happened: Happened; at?: string; path?: string[] };
		if (typeof p.code === "string") {
			return new AeonError(p.code, p.detail, p.happened, a.status, p.at, p.path);
		}
	} catch {
		// it is none: something between has answered
	}
	return foreign(a);
}

// foreign is the failure of a request that something between has answered: with a page for logging in, say, to which it has redirected fetch.
function foreign(a: Answer): AeonError {
	return new AeonError("http", `the answer is none of the program; its status is ${a.status}, its type "${a.type}"`, "unknown", a.status);
}

// resultOf reads the answer to a request that has been performed, which has this status: a result, or that there is none (204), or that a client has begun
// (201). Where one of the first two comes instead of the other the program has another version than this client.
function resultOf<T>(a: Answer, status: 200 | 201 | 204, read: (raw: unknown) => T): T {
	if (!(a.status === 204 && status !== 201) && !(a.type === "application/json" && (a.status === status || (a.status === 200 && status === 204)))) {
		throw foreign(a);
	}
	let raw: unknown = null;
	try {
		raw = a.status === 204 ? null : parse(a.body);
	} catch {
		throw foreign(a); // the program writes JSON
	}
	let why = `its status is ${a.status}`;
	try {
		if (a.status === status) {
			return read(raw);
		}
	} catch (err) {
		why = String(err);
	}
	throw new AeonError("result", `the call has happened, and its result cannot be read: ${why}; generate the client again`, "yes", a.status);
}

// passing are the statuses after which a request is sent again: that of the program, and those of what stands between.
const passing = new Set([502, 503, 504]);

// untrusted are the codes with which fetch of Node.js fails when it does not trust the certificate of the program. Browsers do not tell.
const untrusted = new Set([
	"CERT_CHAIN_TOO_LONG", "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "CERT_REJECTED", "CERT_REVOKED", "CERT_SIGNATURE_FAILURE", "CERT_UNTRUSTED", "DEPTH_ZERO_SELF_SIGNED_CERT",
	"ERR_TLS_CERT_ALTNAME_INVALID", "HOSTNAME_MISMATCH", "INVALID_CA", "INVALID_PURPOSE", "PATH_LENGTH_EXCEEDED", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT",
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

// unconnected are the codes with which it fails when there is no connection: no process listens, or the host is not found or silent.
const unconnected = new Set(["EAI_AGAIN", "ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]);

// unsent is why fetch has surely not sent a request; undefined: it may have.
function unsent(err: unknown): { code: string; message: string } | undefined {
	const cause = (err as { cause?: { code?: string; message?: string } } | null)?.cause;
	const code = cause?.code ?? "";
	return untrusted.has(code) || unconnected.has(code) ? { code, message: cause?.message ? String(cause) : code } : undefined; // of several addresses it has no message
}

// reasonOf is why fetch has failed. Node.js has it behind an error that says no more than that.
function reasonOf(err: unknown): string {
	const cause = (err as { cause?: { code?: string; message?: string } } | null)?.cause;
	return cause ? `${String(err)}: ${cause.message ? String(cause) : (cause.code ?? String(cause))}` : String(err);
}

// uncertain is a failure of a request that may have happened before.
function uncertain(f: AeonError): AeonError {
	return new AeonError(f.code, f.message, "unknown", f.status, f.at, f.path);
}

// uncarried are the characters that the value of a header must not have. For most of them, and for what is no address, fetch fails as it does when a
// connection is lost.
const uncarried = /[^\t\x20-\x7e\x80-\xff]/;

// addressOf checks where a program listens, and returns it without a slash at its end.
function addressOf(url: string): string {
	let u: URL | undefined;
	try {
		u = new URL(url);
	} catch {
		// it has no scheme, say
	}
	if (u === undefined || !/^https?:$/.test(u.protocol) || u.search + u.hash !== "") {
		throw new Error(`connect: ${JSON.stringify(url)} is no address of a program; write http://HOST:PORT or https://HOST:PORT; in a page, location.origin is its own`);
	}
	if (u.username + u.password !== "") { // not shown: it is secret
		throw new Error(`connect: the address of ${u.host} has a name or a password, which fetch does not send; give a token`);
	}
	return (u.origin + u.pathname).replace(/\/+$/, "");
}

class Connection {
	private readonly options: ConnectOptions;
	private readonly urls: readonly string[];
	at = 0; // of urls, the one that answers

	constructor(options: ConnectOptions) {
		this.options = options;
		this.urls = (typeof options.url === "string" ? [options.url] : options.url).map(addressOf);
		if (this.urls.length === 0) {
			throw new Error("connect needs the address of the program");
		}
		if (uncarried.test(options.token ?? "")) { // not shown: it is secret
			throw new Error("connect: the token has a character that no header carries; leave out the end of the line if it is from a file");
		}
	}

	/** Has requests go to another address than at, which does not answer, unless they do already: calls that fail together move on once. */
	next(at: number): void {
		if (this.at === at) {
			this.at = (at + 1) % this.urls.length;
		}
	}

	private head(more: Record<string, string>): Record<string, string> {
		return this.options.token === undefined ? more : { ...more, Authorization: `Bearer ${this.options.token}` };
	}

	fetch(method: string, path: string, head: Record<string, string>, body: string | undefined, signal: AbortSignal, at = this.at): Promise<Response> {
		const send = this.options.fetch ?? globalThis.fetch;
		return send((this.urls[at] ?? "") + path, { method, headers: this.head(head), body: body ?? null, signal, cache: "no-store" });
	}

	private send(at: number, path: string, head: Record<string, string>, body: string, ms: number, signal: AbortSignal | undefined): Promise<Answer> {
		return within(ms, signal, async (both) => {
			const a = await this.fetch("POST", path, head, body, both, at);
			return { status: a.status, type: typeOf(a), body: await a.text(), retryAfterMs: Number(a.headers.get("Retry-After") ?? 0) * 1000 || 0 };
		});
	}

	/** Posts a request, which may come twice, until it is answered: with this status if it has been performed. */
	async ask<T>(path: string, head: Record<string, string>, body: string, options: CallOptions, status: 200 | 201 | 204, read: (raw: unknown) => T): Promise<T> {
		const until = Date.now() + (options.timeoutMs ?? this.options.timeoutMs ?? 120_000);
		const all = { ...head, "Content-Type": "application/json" };
		let lost = false; // an attempt may have happened
		const refused = new Set<number>(); // addresses, the last ones that were tried, whose certificates are not trusted
		for (let attempt = 0; ; attempt++) {
			let failure: AeonError;
			let pauseMs = pauseAfter(attempt);
			const { at } = this;
			try {
				const a = await this.send(at, path, all, body, Math.max(1, Math.min(this.options.attemptMs ?? 40_000, until - Date.now())), options.signal);
				if (a.status < 400) {
					return resultOf(a, status, read);
				}
				failure = failureOf(a);
				refused.clear();
				if (!passing.has(a.status)) { // 422 is the outcome, whichever attempt has brought it about
					throw lost && a.status !== 422 ? uncertain(failure) : failure;
				}
				pauseMs = Math.max(pauseMs, a.retryAfterMs);
				lost ||= failure.happened !== "no";
			} catch (err) {
				options.signal?.throwIfAborted();
				if (err instanceof AeonError) {
					throw err;
				}
				const why = unsent(err);
				lost ||= why === undefined;
				if (why !== undefined && untrusted.has(why.code)) {
					refused.add(at);
				} else {
					refused.clear();
				}
				failure = new AeonError("unreachable", `the program has not answered: ${why?.message ?? reasonOf(err)}`, why === undefined ? "unknown" : "no", 0);
			}
			const failed = lost ? uncertain(failure) : failure;
			if (Date.now() + pauseMs + sendMinMs >= until || refused.size === this.urls.length) { // certificates are for people to mend
				throw failed;
			}
			this.next(at);
			await pause(pauseMs, options.signal);
			if (Date.now() + sendMinMs >= until) { // the machine was asleep
				throw failed;
			}
		}
	}

	async call(path: string, m: Method, args: unknown, options: CallOptions = {}): Promise<unknown> {
		const key = options.key ?? newKey();
		if (uncarried.test(key)) {
			throw new AeonError("arguments", `the key ${JSON.stringify(key)} has a character that no header carries; choose one of letters, digits and signs of ASCII`, "no", 0);
		}
		const head: Record<string, string> = m.readOnly ? {} : { "Idempotency-Key": key };
		const { result } = m;
		return this.ask(path, head, m.params.write(args ?? {}), options, result === null ? 204 : 200, (raw) => result?.read(raw));
	}
}

function newKey(): string {
	return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

// actorsOf makes what finds the actors of a class: by their names, and by their references.
function actorsOf(c: Connection, of: ActorTable): unknown {
	const find = (key: string): unknown => {
		if (["", ".", ".."].includes(key)) { // what reads URLs takes such parts out of a path, escaped or not: the request would go elsewhere
			throw new Error(`${of.name}: no URL leads to an actor of the name ${JSON.stringify(key)}; choose another name`);
		}
		const at = `/v1/${of.name}/${encodeURIComponent(key)}/`;
		return Object.fromEntries(
			of.methods.map(([name, m]) => {
				const bare = m.params === none;
				return [name, (...given: unknown[]) => (bare ? c.call(at + name, m, {}, given[0] as CallOptions) : c.call(at + name, m, given[0], given[1] as CallOptions))];
			}),
		);
	};
	return Object.assign((name: string) => find(name), {
		at: (ref: string) => find(ref.slice(ref.search(/[/:]/)).replace(/^\//, "")),
	});
}

const none = object<object>([]);

interface Event {
	kind: string;
	id: string;
	data: string;
}

// eventsOf reads server-sent events; more is called when anything has come.
async function* eventsOf(body: ReadableStream<Uint8Array>, more: () => void): AsyncGenerator<Event> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	let event: Event = { kind: "", id: "", data: "" };
	try {
		for (;;) {
			const { value, done } = await reader.read();
			if (done) {
				return; // what is not whole comes again
			}
			more();
			const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
			rest = lines.pop() ?? "";
			for (const line of lines) {
				const i = line.indexOf(":");
				const field = i < 0 ? line : line.slice(0, i);
				const content = i < 0 ? "" : line.slice(i + 1).replace(/^ /, "");
				if (field === "event") {
					event.kind = content;
				} else if (field === "id") {
					event.id = content;
				} else if (field === "data") {
					event.data += content;
				} else if (line === "") {
					if (event.data !== "") {
						yield event;
					}
					event = { kind: "", id: "", data: "" };
				}
			}
		}
	} finally {
		reader.cancel().catch(() => {}); // the connection may have gone
	}
}

// follow hands callbacks to handlers until the client has ended. A stream that breaks is resumed.
async function follow(c: Connection, events: string, tables: Record<string, ClientTable>, handlers: Record<string, object>, signal: AbortSignal): Promise<never> {
	let last = "";
	for (let attempt = 0; ; attempt++) {
		let failed: { error: unknown } | undefined; // for good
		const { at } = c;
		try {
			await within(quietMs, signal, async (both, more) => {
				const a = await c.fetch("GET", events, last === "" ? {} : { "Last-Event-ID": last }, undefined, both);
				if (a.status !== 200 || a.body === null || typeOf(a) !== "text/event-stream") {
					const failure = failureOf({ status: a.status, type: typeOf(a), body: await a.text(), retryAfterMs: 0 });
					if (!passing.has(a.status)) {
						failed = { error: failure };
					}
					return;
				}
				for await (const e of eventsOf(a.body, more)) {
					signal.throwIfAborted(); // the handler before may have closed the listener
					attempt = 0;
					if (e.kind === "end") {
						const end = JSON.parse(e.data) as { code: string; detail: string };
						failed = { error: new AeonError(end.code, end.detail, "no", 0) };
						return;
					}
					try {
						await dispatch(e.data, tables, handlers);
					} catch (error) {
						failed = { error };
						return;
					}
					last = e.id;
					more();
				}
			});
		} catch {
			signal.throwIfAborted(); // else the connection has broken
		}
		if (failed !== undefined) {
			throw failed.error;
		}
		c.next(at);
		await pause(pauseAfter(attempt), signal);
	}
}

// dispatch hands one callback to its handler.
async function dispatch(data: string, tables: Record<string, ClientTable>, handlers: Record<string, object>): Promise<void> {
	const e = parse(data) as { class: string; method: string; arguments: unknown };
	const known = Object.entries(tables).find(([, of]) => of.name === e.class);
	const params = known?.[1].methods.get(e.method);
	if (known === undefined || params === undefined) {
		throw new Error(`the program calls ${e.class}.${e.method}, which is not known here: generate the client again`);
	}
	const handler = handlers[known[0]] as Record<string, (args: unknown) => unknown>;
	await handler[e.method]?.(params.read(e.arguments));
}

async function listen(c: Connection, tables: Record<string, ClientTable>, handlers: Record<string, object>, options: CallOptions): Promise<Listener<unknown>> {
	const names = Object.keys(handlers).filter((name) => handlers[name] !== undefined);
	const classes = names.map((name) => tables[name]?.name ?? name);
	const begun = await c.ask("/v1/clients", {}, JSON.stringify({ classes }), options, 201, (raw) => raw as { events: string; references: Record<string, string> });
	const stop = new AbortController();
	const reason = new Error("the listener was closed");
	const close = (): void => stop.abort(reason);
	options.signal?.addEventListener("abort", close, { once: true });
	if (options.signal?.aborted) {
		close();
	}
	const closed = follow(c, begun.events, tables, handlers, stop.signal)
		.catch((error: unknown) => {
			if (error !== reason) {
				throw error;
			}
		})
		.finally(() => {
			options.signal?.removeEventListener("abort", close);
			const path = begun.events.replace(/\/events$/, "");
			within(pauseMaxMs, undefined, (signal) => c.fetch("DELETE", path, {}, undefined, signal)).catch(() => {}); // it expires
		});
	closed.catch(() => {}); // it need not be awaited
	return { refs: Object.fromEntries(names.map((name, i) => [name, begun.references[classes[i] ?? ""]])), closed, close };
}
