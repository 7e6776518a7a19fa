// Uses the page of a running doctrove as people do, and judges what it sees. Argument: the JSON file that run.py writes.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const given = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const TALLEST = 900;
const WIDTHS = [320, 800, 1400];
const PLACES = {
  home: "#/", search: "#/?q=valves", nothing: "#/?q=qqqq", library: "#/valve",
  answer: "#/valve/7.2?ask=watch+a+valve", section: "#/valve/7.2/valve-watch?ask=watch+a+valve",
  text: "#/valve/7.2?ask=watch+a+valve&as=text", json: "#/valve/7.2?ask=watch+a+valve&as=json",
  connect: "#connect", stdio: "#connect?client=codex&via=stdio",
  fault: "#/valve/9",
};

/* What must never happen, on no page of any check. */
let trouble = [];

async function open(browser, base, options = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: TALLEST}, ...options.context});
  await context.route("**", (route) => {
    const url = route.request().url();
    if (url.startsWith(base) || url.startsWith("data:")) return route.continue();
    trouble.push(`a request to ${url}`);
    return route.abort();
  });
  await context.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  for (const script of options.scripts || []) await context.addInitScript(script);
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  page.on("pageerror", (error) => trouble.push(`an error of the page: ${error.message}`));
  page.on("console", (message) => {
    const expected = (options.expected || []).some((part) => message.text().includes(part));
    if (["error", "warning"].includes(message.type()) && !expected) trouble.push(`${message.type()} on the console: ${message.text()}`);
  });
  page.base = base;
  page.at = async (fragment) => {
    const isThere = page.url().startsWith(base);
    if (isThere) await page.evaluate((to) => new Promise((done) => {
      if (location.hash === to) done();
      addEventListener("hashchange", done, {once: true});
      location.hash = to;
    }), fragment); else await page.goto(base + fragment);
    await page.settled();
  };
  page.settled = () => page.waitForFunction(() => document.querySelector("main").getAttribute("aria-busy") === null);
  page.text = (selector) => page.locator(selector).innerText();
  return page;
}

/* The answer of a tool, asked for beside the page. */
async function call(name, args) {
  const meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}};
  const message = {jsonrpc: "2.0", id: 1, method: "tools/call", params: {name, arguments: args, _meta: meta}};
  const response = await fetch(given.plain + "mcp", {method: "POST", body: JSON.stringify(message),
    headers: {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}});
  return (await response.json()).result;
}

const focused = (page) => page.evaluate(() => {
  const at = document.activeElement;
  return at.id || at.getAttribute("href") || at.textContent.trim().slice(0, 40);
});
const place = (page) => page.evaluate(() => location.hash);

const checks = {
  "the start lists what there is": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/");
    assert.match(await page.text("#home-status"), /^3 libraries in 5 versions$/);
    assert.deepEqual(await page.locator("#found .row").allInnerTexts(), ["Gauge", `Hostile ${NAUGHTY}`, "Valve"]);
    assert.deepEqual(await page.locator("#found li:last-child .chips a").allInnerTexts(), ["7.2", "6.0"]);
    assert.match(await page.text("#facts"), new RegExp(given.plain + "mcp"));
    await page.locator("#found .chips a", {hasText: "6.0"}).click();
    await page.settled();
    assert.equal(await place(page), "#/valve/6.0");
  },

  "a server without resources is asked with its tools": async (browser) => {
    const bare = async (route) => {
      if (route.request().postDataJSON().method !== "server/discover") return route.continue();
      const response = await route.fetch(), message = await response.json();
      delete message.result.capabilities.resources;
      return route.fulfill({response, json: message});
    };
    const guarded = await open(browser, given.guarded, {scripts: [`sessionStorage.setItem("doctrove.token", ${JSON.stringify(given.token)})`]});
    await guarded.context().route("**/mcp", bare);
    await guarded.at("#/");
    assert.deepEqual(await guarded.locator("#found .row").allInnerTexts(), ["Valve", "Gauge", `Hostile ${NAUGHTY}`]);
    const plain = await open(browser, given.plain);
    await plain.context().route("**/mcp", bare);
    await plain.at("#/");
    assert.match(await plain.text("#found"), /Documented here: valve, /);
  },

  "a search shows score and matches, and is the address": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/");
    await page.fill("#query", "watch valves");
    await page.waitForFunction(() => document.querySelector("#found .why"));
    const {results} = (await call("catalog_lookup", {query: "watch valves", limit: 20})).structuredContent;
    const row = page.locator("#found li").first();
    assert.equal(await row.locator(".row").innerText(), results[0].name);
    assert.ok((await row.innerText()).includes(results[0].matches[0]));
    assert.ok((await row.innerText()).includes(results[0].score.toFixed(2)));
    assert.equal(await place(page), "#/?q=watch+valves");
    await page.reload();
    await page.settled();
    assert.equal(await page.inputValue("#query"), "watch valves");
  },

  "a question is answered with the passages that the agent sees": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/valve");
    await page.fill("#question", "watch a valve");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".passage .why");
    await page.settled();
    assert.equal(await place(page), "#/valve?ask=watch+a+valve");
    const {sections, more, releaseNote, total} = (await call("doc_extract", {id: "valve", focus: "watch a valve"})).structuredContent;
    const passages = page.locator(".passage");
    assert.equal(await passages.count(), sections.length);
    for (const [number, row] of sections.entries()) {
      const text = await passages.nth(number).innerText();
      const parts = [row.heading, "#" + row.id, row.path, row.relevance.toFixed(2), row.score.toFixed(2), ...row.matches];
      assert.deepEqual(parts.filter((part) => !text.includes(part)), [], text);
    }
    assert.deepEqual(await page.locator(".more .row").evaluateAll((links) => links.map((link) => link.firstChild.data)), more.map((row) => row.heading));
    assert.ok((await page.text("#answer-status")).includes(`${sections.length} of ${total} sections that match · 7.2, ${releaseNote}`));
  },

  "the agent's text and JSON are shown to the letter": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/valve/7.2?ask=watch+a+valve");
    const {content, structuredContent} = await call("doc_extract", {id: "valve", version: "7.2", focus: "watch a valve"});
    await page.getByText("Agent’s text").click();
    await page.settled();
    assert.equal(await page.locator("#answer pre").nth(1).textContent(), content[0].text);
    assert.match(await page.locator("#answer pre").nth(0).textContent(), /^doc_extract \{"id":"valve","version":"7.2","focus":"watch a valve"\}$/);
    await page.getByText("JSON", {exact: true}).click();
    await page.settled();
    assert.deepEqual(JSON.parse(await page.locator("#answer pre").nth(1).textContent()), structuredContent);
    assert.match(await place(page), /as=json/);
  },

  "another version is chosen, with the question kept": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/valve?ask=close+a+valve");
    await page.locator("#versions a", {hasText: "6.0"}).click();
    await page.settled();
    assert.equal(await place(page), "#/valve/6.0?ask=close+a+valve");
    assert.match(await page.text("#answer-status"), /6\.0, exactly the version asked for/);
    assert.equal(await page.locator("#versions [aria-current]").innerText().then((text) => text.split("\n")[0]), "6.0");
    await page.at("#/valve/%5E6?ask=close+a+valve");
    assert.match(await page.text("#answer-status"), /6\.0, newest version that fits \^6/);
  },

  "a section is read whole, its Markdown rendered": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/valve/7.2/valve-watch");
    const {body} = (await call("doc_extract", {id: "valve", version: "7.2", focus: "#valve-watch"})).structuredContent.sections[0];
    const prose = page.locator(".passage.whole .prose");
    assert.equal(await prose.locator("pre").textContent(), body.split("```")[1].replace(/^python\n|\n$/g, ""));
    assert.deepEqual(await prose.locator("th").allInnerTexts(), ["argument", "meaning"]);
    assert.deepEqual(await prose.locator("td").allInnerTexts(), ["name", "the valve's name, or a|b for one of two", "limit", "how long it may take"]);
    assert.equal(await prose.locator("td code").nth(1).innerText(), "a|b");
    assert.deepEqual(await prose.locator("ol > li > ul > li").allInnerTexts(), ["slowly, or", "at once."]);
    assert.equal(await prose.locator("blockquote").innerText(), "A valve that is gone cannot watch.");
    assert.equal(await prose.locator("strong").innerText(), "name");
    assert.equal(await prose.getByText("the first one").getAttribute("href"), "#/valve/7.2/valve-open");
    const outside = prose.getByText("the manual");
    assert.equal(await outside.getAttribute("href"), "https://docs.example/valve?a=1&b=2");
    assert.equal(await outside.getAttribute("rel"), "noopener noreferrer");
    assert.equal(await prose.getByText("a file beside it").evaluate((element) => element.tagName), "SPAN");
    await page.locator("#pages a").last().click();
    await page.settled();
    assert.equal(await place(page), "#/valve/7.2/valve-drain");
  },

  "back leads to the answer, where it was left": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/");
    await page.at("#/valve/7.2?ask=valve");
    const link = page.locator(".more .row").last();
    await link.focus();
    const [before, target] = [await page.evaluate(() => scrollY), await link.getAttribute("href")];
    assert.ok(before > 100);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".passage.whole");
    await page.settled();
    assert.equal(await place(page), target);
    assert.equal(await focused(page), "passage-1");
    assert.equal(await page.evaluate(() => scrollY), 0);
    await page.goBack();
    await page.waitForSelector(".more");
    await page.settled();
    assert.equal(await place(page), "#/valve/7.2?ask=valve");
    assert.equal(await focused(page), target);
    assert.equal(await page.evaluate(() => scrollY), before);
    await page.goBack();
    await page.settled();
    assert.ok(await page.isVisible("#home"));
    await page.goForward();
    await page.waitForSelector(".more");
  },

  "the keyboard alone leads from the search to a section and back": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/");
    await page.keyboard.press("/");
    assert.equal(await focused(page), "query");
    await page.keyboard.type("valve");
    await page.waitForFunction(() => document.querySelector("#found .why"));
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(page), "#/valve");
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(page), "query");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#library:not([hidden]) #answer .row");
    await page.settled();
    assert.equal(await focused(page), "library-title");
    await page.keyboard.press("/");
    assert.equal(await focused(page), "question");
    await page.keyboard.type("drain a valve");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".passage .why");
    await page.settled();
    assert.equal(await focused(page), "question");
    await page.keyboard.press("ArrowDown");
    const first = await focused(page);
    assert.match(first, /^#\/valve\/7\.2\/valve-drain/);
    await page.keyboard.press("End");
    assert.notEqual(await focused(page), first);
    await page.keyboard.press("Home");
    assert.equal(await focused(page), first);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".passage.whole");
    await page.settled();
    await page.keyboard.press("Escape");
    await page.waitForSelector(".passage .why");
    await page.settled();
    assert.equal(await place(page), "#/valve/7.2?ask=drain+a+valve");
    for (const at of ["#/valve/7.2", "#/"]) {
      await page.keyboard.press("Escape");
      await page.waitForFunction((wanted) => location.hash === wanted, at);
      await page.settled();
    }
    await page.fill("#query", "gauge");
    await page.press("#query", "Escape");
    assert.equal(await page.inputValue("#query"), "");
  },

  "the tabulator reaches everything, shows where it is, and is not trapped": async (browser) => {
    const page = await open(browser, given.plain);
    for (const [name, fragment] of Object.entries(PLACES)) {
      await page.at(fragment);
      await page.evaluate(() => { document.activeElement.blur(); getSelection().removeAllRanges(); document.body.tabIndex = -1; document.body.focus(); });
      const wanted = await page.evaluate(() => {
        const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")].filter((element) => element.checkVisibility());
        all.forEach((element, number) => { element.dataset.number = number; });
        return all.filter((element) => element.type !== "radio" || element.checked).map((element) => element.dataset.number);
      });
      const seen = new Set();
      for (let step = 0; step < wanted.length + 3; step++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const element = document.activeElement;
          const outlined = (part) => part && part.checkVisibility({opacityProperty: true}) && getComputedStyle(part).outlineStyle !== "none"
            && parseFloat(getComputedStyle(part).outlineWidth) >= 1;
          const shows = [element, element.closest("label"), element.closest("li")].some(outlined);
          return {number: element.dataset.number, shows, what: element.outerHTML.slice(0, 120)};
        });
        if (at.number === undefined) continue;
        assert.ok(at.shows, `${name}: no focus is seen at ${at.what}`);
        seen.add(at.number);
      }
      const missed = wanted.filter((number) => !seen.has(number));
      const show = (numbers) => numbers.map((number) => document.querySelector(`[data-number="${number}"]`).outerHTML.slice(0, 120));
      assert.deepEqual(await page.evaluate(show, missed), [], name);
    }
  },

  "everything that can be used has a name": async (browser) => {
    const page = await open(browser, given.plain);
    for (const [name, fragment] of Object.entries(PLACES)) {
      await page.at(fragment);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("a[href], button, input, summary, nav, [role=region], section")]
        .filter((element) => element.checkVisibility())
        .filter((element) => {
          const by = (element.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent).join("");
          const own = element.matches("a, button, summary") ? element.textContent : [...(element.labels || [])].map((label) => label.textContent).join("");
          return !(element.getAttribute("aria-label") || by || own).trim();
        }).map((element) => element.outerHTML.slice(0, 150)));
      assert.deepEqual(nameless, [], name);
      const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
      assert.equal(new Set(ids).size, ids.length, `${name}: ids are unique`);
    }
  },

  "a server with tokens asks for one and keeps it for the tab alone": async (browser) => {
    const page = await open(browser, given.guarded, {expected: ["401"]});
    await page.at("#/valve/7.2/valve-open");
    assert.ok(await page.isVisible("#token"));
    assert.equal(await focused(page), "token-value");
    await page.keyboard.type("not-the-right-token");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#token-wrong").textContent);
    assert.match(await page.text("#token-wrong"), /does not accept/);
    await page.fill("#token-value", "日本");
    await page.keyboard.press("Enter");
    assert.match(await page.text("#token-wrong"), /ASCII/);
    await page.fill("#token-value", given.token);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".passage.whole");
    assert.ok(await page.isHidden("#token"));
    const stored = await page.evaluate(() => [sessionStorage.getItem("doctrove.token"), JSON.stringify(localStorage), document.cookie]);
    assert.deepEqual(stored, [given.token, "{}", ""]);
    assert.equal(page.url(), given.guarded + "#/valve/7.2/valve-open");
    await page.reload();
    await page.waitForSelector(".passage.whole");
    await page.at("#connect?client=claude&via=http");
    assert.ok(await page.isChecked("#with-token"));
    assert.ok(!(await page.text("#config")).includes(given.token));
    const other = await open(browser, given.guarded, {expected: ["401"]});
    await other.at("#/");
    assert.ok(await other.isVisible("#token"));
  },

  "what is copied is what is shown": async (browser) => {
    const page = await open(browser, given.plain, {context: {permissions: ["clipboard-read", "clipboard-write"]}});
    await page.at("#connect?client=opencode&via=http");
    await page.locator("#config .quiet").first().click();
    await page.waitForFunction(() => document.querySelector("#toast").textContent === "Copied");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(text), {mcp: {doctrove: {type: "remote", url: given.plain + "mcp", enabled: true}}});
    await page.at("#/valve/7.2/valve-open");
    await page.locator(".prose .code .quiet").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => navigator.clipboard.readText().then((copied) => copied.includes("valve.open(name)")));
  },

  "without the clipboard's interface the older way copies, and else the text is selected": async (browser) => {
    const older = await open(browser, given.plain, {context: {permissions: ["clipboard-read"]}, scripts: [`
      navigator.clipboard.writeText = () => Promise.reject(new Error("forbidden"));`]});
    await older.at("#connect?client=cursor&via=http");
    await older.locator("#config .quiet").first().click();
    await older.waitForFunction(() => document.querySelector("#toast").textContent === "Copied");
    assert.match(await older.evaluate(() => navigator.clipboard.readText()), /mcpServers/);
    const none = await open(browser, given.plain, {scripts: [`
      Object.defineProperty(navigator, "clipboard", {value: undefined});
      document.execCommand = () => false;`]});
    await none.at("#connect?client=cursor&via=http");
    await none.locator("#config .quiet").first().click();
    await none.waitForFunction(() => document.querySelector("#toast").textContent.includes("Ctrl+C"));
    assert.equal(await none.evaluate(() => getSelection().toString().trim()), (await none.locator("#config pre").first().textContent()).trim());
  },

  "each client's configuration is what setup writes": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#connect?via=stdio");
    const names = await page.locator("#clients input").evaluateAll((inputs) => inputs.map((input) => input.value));
    assert.deepEqual(names, Object.keys(given.setup));
    await page.fill("#path", given.packed);
    for (const [name, text] of Object.entries(given.setup)) {
      await page.at(`#connect?client=${name}&via=stdio`);
      assert.equal((await page.locator("#config pre").first().textContent()).trim(), text.replace(/^( *(?:command|cmd): )"python3"$/m, "$1python3"), name);
    }
    await page.locator("#clients label", {hasText: "Gemini CLI"}).click();
    await page.getByText("HTTP", {exact: true}).click();
    assert.equal(await place(page), "#connect?client=gemini&via=http");
    await page.check("#with-token");
    assert.deepEqual(JSON.parse(await page.locator("#config pre").first().textContent()),
      {mcpServers: {doctrove: {httpUrl: given.plain + "mcp", headers: {Authorization: "Bearer YOUR_TOKEN"}}}});
    const url = given.plain + "mcp";
    const forms = {
      codex: `[mcp_servers.doctrove]\nurl = "${url}"\nbearer_token_env_var = "DOCTROVE_HTTP_TOKEN"\n`,
      cn: `name: my-config\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: doctrove\n    type: streamable-http\n    url: "${url}"\n`
        + "    requestOptions:\n      headers:\n        Authorization: \"Bearer YOUR_TOKEN\"\n",
    };
    for (const [name, text] of Object.entries(forms)) {
      await page.at(`#connect?client=${name}&via=http`);
      assert.equal(await page.locator("#config pre").first().textContent(), text);
    }
    await page.uncheck("#with-token");
    assert.ok(!(await page.text("#config")).includes("requestOptions"));
  },

  "a hostile documentation stays text": async (browser) => {
    const page = await open(browser, given.plain);
    const part = encodeURIComponent(NAUGHTY);
    for (const at of ["#/", "#/?q=hostile", "#/hostile", "#/hostile?ask=trouble", `#/hostile/1.0/${part}?ask=trouble`, `#/hostile/1.0/${part}`,
      "#/hostile?ask=trouble&as=text", "#/hostile?ask=trouble&as=json", `#/hostile/${part}`, `#/${part}`, `#/hostile/1.0/${part}x`, `#/valve?ask=${part}`,
      `#/?q=${part}`, `#connect?client=${part}&via=${part}`]) {
      await page.at(at);
      const found = await page.evaluate(() => ({
        broken: window.broken, dialogs: document.querySelectorAll("main :is(script, img, iframe, style, object, embed, svg)").length,
        handlers: [...document.querySelectorAll("main *")].flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on")).length,
        links: [...document.querySelectorAll("main a[href]")].map((link) => link.protocol).filter((protocol) => !["http:", "https:"].includes(protocol)),
      }));
      assert.deepEqual(found, {broken: undefined, dialogs: 0, handlers: 0, links: []}, at);
    }
    await page.at(`#/hostile/1.0/${part}`);
    const shown = await page.locator(".prose").textContent();
    for (const text of ["<script>window.broken = 1</script>", "<iframe srcdoc=", "<style>body { display: none }</style>", "<script>window.broken = 12</script>",
      "<img src=x onerror=window.broken=13>", "unclosed"]) assert.ok(shown.includes(text), text);
    assert.ok(!(await page.evaluate(() => document.querySelector(".prose").querySelector("[href*=javascript]"))));
    const started = performance.now();
    await page.at("#/hostile/1.0/deep");
    assert.ok(performance.now() - started < 4000, "a text that is nested without end takes no time without end");
  },

  "strange ids have addresses": async (browser) => {
    const page = await open(browser, given.plain);
    await page.at("#/?q=gauge");
    await page.locator("#found .row").first().click();
    await page.settled();
    assert.equal(await place(page), "#/%40scope%2Fgauge");
    await page.locator("#answer .row").first().click();
    await page.waitForSelector(".passage.whole");
    assert.match(await page.text(".passage"), /zanzibar/);
    await page.reload();
    await page.waitForSelector(".passage.whole");
    assert.match(await page.text(".passage"), /zanzibar/);
  },

  "what goes wrong is said, with what helps": async (browser) => {
    const page = await open(browser, given.plain, {expected: ["ERR_", "502"]});
    await page.at("#/valve/9?ask=open");
    assert.match(await page.text(".fault"), /no version that fits '9'. Available: 7\.2, 6\.0/);
    assert.equal(await page.locator("#versions [aria-current]").count(), 0);
    await page.locator(".fault a", {hasText: "7.2"}).click();
    await page.waitForSelector(".passage .why");
    await page.at("#/valv");
    assert.match(await page.text(".fault"), /Nearest ids: valve/);
    await page.locator(".fault a").first().click();
    await page.waitForSelector("#answer .row");
    await page.at("#/valve/7.2/valve-opem");
    assert.match(await page.text(".fault"), /no section '#valve-opem'/);
    await page.locator(".fault a").first().click();
    await page.waitForSelector(".passage.whole");
    await page.at("#/valve?ask=qqqq");
    assert.ok((await page.text("#answer")).includes((await call("doc_extract", {id: "valve", focus: "qqqq"})).structuredContent.next));
    await page.context().route("**/mcp", (route) => route.abort());
    await page.at("#/valve?ask=another+question");
    assert.match(await page.text(".fault"), /cannot be reached/);
    await page.context().route("**/mcp", (route) => route.fulfill({status: 502, body: "Bad gateway"}));
    await page.at("#/valve?ask=yet+another");
    assert.match(await page.text(".fault"), /HTTP status 502/);
  },

  "an answer may come as an event stream": async (browser) => {
    const page = await open(browser, given.plain);
    await page.context().route("**/mcp", async (route) => {
      const response = await route.fetch();
      const progress = JSON.stringify({jsonrpc: "2.0", method: "notifications/progress"});
      const body = `: sign of life\n\nevent: message\ndata: ${progress}\n\nevent: message\ndata: ${await response.text()}\n\n`;
      await route.fulfill({headers: {"Content-Type": "text/event-stream"}, body});
    });
    await page.at("#/valve?ask=watch+a+valve");
    assert.match(await page.text(".passage h2 >> nth=0"), /valve\.watch/);
  },

  "text has the contrast of WCAG AA in both themes": async (browser) => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(browser, given.plain, {context: {colorScheme}});
      for (const [name, fragment] of Object.entries(PLACES)) {
        await page.at(fragment);
        const weak = await page.evaluate(weakTexts);
        assert.ok(weak.count > 20, `${name}: only ${weak.count} texts`);
        assert.deepEqual(weak.found, [], `${name}, ${colorScheme}`);
      }
    }
  },

  "the theme is chosen and kept": async (browser) => {
    const page = await open(browser, given.plain, {context: {colorScheme: "light"}});
    await page.at("#/");
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.click("#theme");
    assert.equal(await background(), light);
    await page.click("#theme");
    assert.match(await page.text("#theme"), /dark/);
    assert.notEqual(await background(), light);
    await page.reload();
    assert.match(await page.text("#theme"), /dark/);
    await page.click("#theme");
    assert.equal(await background(), light);
  },

  "nothing moves where less motion is wanted": async (browser) => {
    const page = await open(browser, given.plain, {context: {reducedMotion: "reduce"}});
    await page.at("#/valve?ask=watch");
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("*")].map((element) => getComputedStyle(element))
      .filter((style) => parseFloat(style.transitionDuration) > 0 || style.animationName !== "none").length), 0);
  },

  "the policy and the page's headers are as strict as they can be": async (browser) => {
    const response = await fetch(given.plain);
    const policy = response.headers.get("content-security-policy");
    for (const part of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
      "require-trusted-types-for 'script'"]) {
      assert.ok(policy.includes(part), part);
    }
    assert.ok(!policy.includes("unsafe"));
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    const page = await open(browser, given.plain, {expected: ["TrustedHTML", "Content Security Policy"]});
    await page.at("#/");
    assert.match(await page.evaluate(() => { try { document.body.innerHTML = "<p>x"; return "done"; } catch (error) { return error.name; } }), /TypeError/);
    await page.evaluate(() => { window.violations = []; });
  },

  "nothing is wider than the window, from 320 px on": async (browser) => {
    for (const colorScheme of given.shots ? ["light", "dark"] : ["light"]) {
      for (const width of WIDTHS) {
        const page = await open(browser, given.plain, {context: {colorScheme, viewport: {width, height: TALLEST}}});
        for (const [name, fragment] of Object.entries(PLACES)) {
          await page.at(fragment);
          const [wide, widest] = await page.evaluate(() => {
            const sticksOut = (element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".scroll, pre, .for-readers");
            return [document.documentElement.scrollWidth - innerWidth, [...document.querySelectorAll("body *")].find(sticksOut)?.outerHTML.slice(0, 100)];
          });
          assert.ok(wide <= 0 && !widest, `${name} at ${width} is ${wide} too wide: ${widest}`);
          if (given.shots) await page.screenshot({path: `${given.shots}/${name}-${width}-${colorScheme}.png`});
        }
        await page.context().close();
      }
    }
  },
};
const NAUGHTY = "<img src=x onerror=window.broken=20>";

/* Runs in the page: the visible texts whose contrast with what is behind them is below 4.5, and 3 for large ones. */
function weakTexts() {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return {channels: [red, green, blue], alpha: alpha / 255};
  };
  const over = (top, below) => top.channels.map((channel, at) => channel * top.alpha + below[at] * (1 - top.alpha));
  const luminance = (channels) => {
    const [red, green, blue] = channels.map((channel) => channel / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own.alpha === 1 ? own.channels : over(own, behind(element.parentElement));
  };
  const found = [];
  let count = 0;
  const judge = (element, text, color) => {
    const style = getComputedStyle(element), ground = behind(element);
    const [light, dark] = [luminance(over(parse(color), ground)), luminance(ground)].sort((one, other) => other - one);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    count++;
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${element.tagName} ${text.slice(0, 40)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    const isSeen = text && element.checkVisibility({opacityProperty: true}) && !element.closest(".for-readers, .skip, script, noscript");
    if (isSeen) judge(element, text, getComputedStyle(element).color);
  }
  for (const input of document.querySelectorAll("input:is([type=search], [type=text])")) {
    if (input.checkVisibility()) judge(input, input.placeholder, getComputedStyle(input, "::placeholder").color);
  }
  return {count, found};
}

const browser = await chromium.launch({executablePath: given.chromium, args: ["--no-sandbox", "--disable-gpu"]});
let [passed, failed] = [0, 0];
for (const [name, check] of Object.entries(checks)) {
  if (!name.includes(given.only)) continue;
  trouble = [];
  const started = performance.now();
  let fault = "";
  try {
    await check(browser);
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      trouble.push(...(await page.evaluate(() => window.violations)).map((what) => `a violation of the policy: ${what}`));
    }
    if (trouble.length) fault = trouble.join("\n");
  } catch (error) {
    fault = [error.message, ...trouble].join("\n");
  }
  for (const context of browser.contexts()) await context.close();
  if (fault) failed++; else passed++;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${fault ? "FAIL" : "PASS"} ${name} (${seconds} s)${fault && "\n    " + fault.slice(0, 2500).replaceAll("\n", "\n    ")}`);
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(passed && !failed ? 0 : 1);  // timers of requests that were forwarded would keep it for half a minute
