// The page of the shop: articles with their stock, which changes in all pages that are open, and orders, each of which is made
// once. page.ts is its source, and shop.ts is generated of the program; page.js and shop.js are made of them (README.md).
import { AeonError, connect } from "./shop.js";
// What fails before the page runs, as a storage that the browser keeps closed.
addEventListener("error", (e) => showFailure(`The page cannot work: ${e.message}.`));
const connectionTexts = { connecting: "Connecting…", live: "Live", lost: "No connection, trying again" };
const stayMs = 60_000; // the shop forgets pages that do not say for three minutes that they are open
const pauseMs = 1_000;
const orderMs = 600_000;
const piecesMax = 99n;
const pendingPrefix = "shop.pending.";
function element(id) {
    const found = document.getElementById(id);
    if (found === null) {
        throw new Error(`the page has no element ${id}`);
    }
    return found;
}
function make(tag, className, text, ...children) {
    const made = document.createElement(tag);
    made.className = className;
    made.append(text, ...children);
    return made;
}
function newKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
const euros = new Intl.NumberFormat(undefined, { style: "currency", currency: "EUR" });
const price = (cents) => euros.format(Number(cents) / 100);
// The connection.
let watching = false; // the shop knows this page
let reached = true; // the last request was answered
function showConnection() {
    const state = !reached ? "lost" : watching ? "live" : "connecting";
    const shown = element("connection");
    if (shown.dataset.state !== state) { // else a screen reader would say it again
        shown.dataset.state = state;
        shown.textContent = connectionTexts[state];
        showOrders(); // those that wait for the connection say so
    }
}
// Where the shop asks for a token, the page is opened once with it: https://shop.example.org/#token=TOKEN
function givenToken() {
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (given !== null) {
        localStorage.setItem("shop.token", given);
        history.replaceState(null, "", location.pathname); // it is neither shown nor kept in a bookmark
    }
    return localStorage.getItem("shop.token");
}
const token = givenToken();
addEventListener("hashchange", () => location.reload()); // it was given to a page that is open
const program = connect({
    url: location.origin,
    ...(token === null ? {} : { token }),
    attemptMs: 35_000,
    fetch: async (input, init) => {
        try {
            const answer = await fetch(input, init);
            reached = true;
            return answer;
        }
        catch (error) {
            reached = init?.signal?.aborted === true && reached;
            throw error;
        }
        finally {
            showConnection();
        }
    },
});
const shop = program.Shop("main");
// Failures, each until it is read.
function showFailure(text) {
    const close = make("button", "", "Close");
    const shown = make("div", "failure", "", make("span", "", text), close);
    close.addEventListener("click", () => {
        shown.remove();
        element("articles").querySelector("button")?.focus();
    });
    element("failure").replaceChildren(shown);
}
const say = (text) => {
    element("said").textContent = text;
};
let articles = new Map();
const rows = new Map();
function newRow(name) {
    const more = make("span", "", "");
    const stock = make("span", "stock", "");
    const pieces = make("input", "", "");
    pieces.type = "number";
    pieces.inputMode = "numeric";
    pieces.min = "1";
    pieces.value = "1";
    pieces.setAttribute("aria-label", `Pieces of ${name}`);
    const verb = make("span", "", "Order");
    const button = make("button", "", "", verb, make("span", "heard-only", ` ${name}`));
    button.type = "button";
    const item = make("li", "", "", make("div", "what", "", make("div", "name", name), make("p", "more", "", more), make("p", "more", "", stock)), pieces, button);
    const order = () => {
        if (button.getAttribute("aria-disabled") === "true") {
            return;
        }
        if (!pieces.reportValidity() || pieces.value === "") {
            showFailure(`Say how many of ${name} you want: a number from 1 to ${pieces.max}.`);
            return;
        }
        begin({ key: newKey(), article: name, pieces: Number(pieces.value) });
    };
    button.addEventListener("click", order);
    pieces.addEventListener("keydown", (e) => {
        if (e.key === "Enter") {
            order();
        }
    });
    return { item, more, stock, pieces, button, verb };
}
function showArticles() {
    const list = element("articles");
    const names = [...articles.keys()].sort((a, b) => a.localeCompare(b));
    for (const [name, row] of rows) {
        if (!articles.has(name)) {
            row.item.remove();
            rows.delete(name);
        }
    }
    names.forEach((name, i) => {
        const a = articles.get(name);
        if (a === undefined) {
            return;
        }
        let row = rows.get(name);
        if (row === undefined) {
            row = newRow(name);
            rows.set(name, row);
        }
        if (list.children[i] !== row.item) { // else it would lose the focus
            list.insertBefore(row.item, list.children[i] ?? null);
        }
        row.more.textContent = price(a.Cents);
        const stock = a.Stock === 0n ? "sold out" : `${a.Stock} in stock`;
        if (row.stock.textContent !== stock) {
            const isNew = row.stock.textContent === "";
            row.stock.textContent = stock;
            row.stock.classList.remove("changed");
            if (!isNew) {
                void row.stock.offsetWidth; // begins the animation anew
                row.stock.classList.add("changed");
            }
        }
        const most = a.Stock < piecesMax ? a.Stock : piecesMax;
        row.pieces.max = String(most === 0n ? 1n : most);
        row.pieces.disabled = a.Stock === 0n;
        const ordering = [...pending.values()].some((p) => p.article === name && !stuck.has(p.key));
        row.button.setAttribute("aria-disabled", String(a.Stock === 0n || ordering)); // disabled, it would lose the focus
        row.verb.textContent = ordering ? "Ordering…" : a.Stock === 0n ? "Sold out" : "Order";
    });
    element("no-articles").hidden = !watching || articles.size > 0;
}
// Orders.
let orders = new Map();
const pending = new Map();
const stuck = new Set(); // keys of orders that are sent again only when the customer says so
function showOrders() {
    const waiting = [...pending.values()].map((p) => {
        const what = make("div", "what", "", make("div", "name", `${p.pieces} × ${p.article}`));
        const item = make("li", "", "", what);
        if (!stuck.has(p.key)) {
            what.append(make("p", "more", reached ? "is being ordered…" : "is ordered when the connection is back"));
            return item;
        }
        what.append(make("p", "more", "No answer has come. Trying again does not order twice."));
        const again = make("button", "", "Try again");
        again.addEventListener("click", () => void send(p));
        item.append(again);
        return item;
    });
    const made = [...orders.values()].sort((a, b) => (a.Number < b.Number ? 1 : -1)).map((o) => {
        const when = new Date(o.At).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
        return make("li", "", "", make("div", "what", "", make("div", "name", `${o.Pieces} × ${o.Article}`), make("p", "more", `Order ${o.Number}, ${when}`)), make("span", "", price(o.Cents)));
    });
    element("orders").replaceChildren(...waiting, ...made);
    element("no-orders").hidden = waiting.length + made.length > 0;
}
function show() {
    showConnection();
    showArticles();
    showOrders();
}
// begin makes an order: first it is kept, then it is sent.
function begin(p) {
    localStorage.setItem(pendingPrefix + p.key, JSON.stringify(p));
    element("failure").replaceChildren();
    void send(p);
}
// send sends an order until its outcome is known.
async function send(p) {
    pending.set(p.key, p);
    stuck.delete(p.key);
    show();
    try {
        const o = await shop.order({ customer, article: p.article, pieces: BigInt(p.pieces) }, { key: p.key, timeoutMs: orderMs });
        orders.set(o.Number, o);
        say(`You have ordered ${o.Pieces} of ${o.Article}.`);
    }
    catch (error) {
        if (!(error instanceof AeonError) || error.happened !== "no" || error.status === 503) {
            stuck.add(p.key); // it may have happened
            show();
            return;
        }
        showFailure(error.code === "aborted" ? `Not ordered: ${error.message}.` : `Not ordered, as the shop has failed: ${error.message} (${error.code}).`);
    }
    pending.delete(p.key);
    localStorage.removeItem(pendingPrefix + p.key);
    show();
}
// What the shop tells.
let heard = new Map(); // since this page began to watch; callbacks may come before the answer of watch
function stocked({ article }) {
    const known = heard.get(article.Name);
    if (known === undefined || known.Change < article.Change) {
        heard.set(article.Name, article);
        articles.set(article.Name, article);
        show();
    }
}
function ordered({ order }) {
    orders.set(order.Number, order);
    show();
}
// watch has the shop tell this page what changes, for as long as its client lives.
async function watch() {
    heard = new Map();
    const orderedSince = new Map();
    const listener = await program.listen({
        Page: {
            stocked,
            ordered: ({ order }) => {
                orderedSince.set(order.Number, order);
                ordered({ order });
            },
        },
    });
    let timer;
    try {
        const view = await shop.watch({ id, customer, page: listener.refs.Page });
        for (const a of view.Articles) {
            const later = heard.get(a.Name);
            if (later === undefined || later.Change < a.Change) {
                heard.set(a.Name, a);
            }
        }
        articles = new Map(heard);
        orders = new Map([...view.Orders.map((o) => [o.Number, o]), ...orderedSince]);
        watching = true;
        show();
        timer = setInterval(() => {
            shop.stay({ id }, { timeoutMs: stayMs }).then((known) => known || listener.close(), () => { }); // the next one may be answered
        }, stayMs);
        await listener.closed;
    }
    finally {
        clearInterval(timer);
        listener.close();
        watching = false;
        show();
    }
}
const id = newKey(); // of this page
const customer = localStorage.getItem("shop.customer") ?? `guest-${newKey()}`; // nothing else tells customers apart, so it cannot be guessed
async function run() {
    localStorage.setItem("shop.customer", customer);
    for (const name of Object.keys(localStorage).filter((n) => n.startsWith(pendingPrefix))) {
        void send(JSON.parse(localStorage.getItem(name) ?? ""));
    }
    for (;;) {
        try {
            await watch();
        }
        catch (error) {
            if (error instanceof AeonError && (error.status === 401 || error.status === 403)) {
                throw error;
            } // else the server has ended, or was started again: its clients end with it
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
}
run().catch((error) => {
    const help = error instanceof AeonError ? " Open it with a token that has the right, as …/#token=TOKEN." : "";
    showFailure(`The page cannot work: ${error instanceof Error ? error.message : String(error)}.${help}`);
});
