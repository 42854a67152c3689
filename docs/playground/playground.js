// The page, and what its worker runs. See docs/playground.md.
"use strict";

// --- in the worker: Python. Its whole text is handed to the worker as a Blob, which keeps the page's security policy;
// a worker loaded from an address of its own would have none.

function inWorker() {
  let answer;

  async function start({ assets, files }) {
    const sizes = Object.values(files), all = sizes.reduce((sum, size) => sum + size, 0);
    let loaded = 0;

    async function fetched(name) {
      const response = await fetch(assets + name);
      if (!response.ok) { throw new Error(`${name}: ${response.status}`); }
      const counted = response.body.pipeThrough(new TransformStream({
        transform(chunk, to) { loaded += chunk.length; postMessage({ progress: Math.min(1, loaded / all) }); to.enqueue(chunk); },
      }));
      const plain = name.endsWith(".z") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
      return [assets + name.replace(/\.z$/, ""), await new Response(plain).arrayBuffer()];
    }

    const modules = Promise.all(["pyodide.js", "pyodide.asm.js"].map((name) => import(assets + name)));
    const known = new Map(await Promise.all(Object.keys(files).map(fetched)));
    const [{ loadPyodide }, asm] = await modules;
    postMessage({ progress: 1 });
    // Pyodide finds here what was fetched above; everything else is refused, the network is not asked any more.
    self.fetch = async (address) => {
      const content = known.get(String(address));
      if (!content) { throw new TypeError(`not part of the playground: ${address}`); }
      const type = String(address).endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
      return new Response(content, { headers: { "Content-Type": type } });
    };
    const python = await loadPyodide({ indexURL: assets, createPyodideModule: asm.default });
    python.unpackArchive(known.get(assets + "gatekeeper.zip"), "zip", { extractDir: "/playground" });
    python.runPython("import sys; sys.path.insert(0, '/playground')");
    const respond = python.pyimport("playground").Playground().respond;
    answer = (request, content) => respond(JSON.stringify(request), python.toPy(content).tobytes());
    known.clear();
    postMessage({ ready: true });
  }

  const started = new Promise((resolve) => {
    self.onmessage = async ({ data }) => {
      if (data.files) {
        start(data).then(resolve, (error) => postMessage({ failed: String(error) }));
        return;
      }
      await started;
      try {
        postMessage({ id: data.id, answer: JSON.parse(answer(data.request, data.content)) });
      } catch (error) {  // no refusal of the library, which is an answer
        postMessage({ id: data.id, answer: { error: String(error.message || error) } });
      }
    };
  });
}

// --- in the page

const one = (id) => document.getElementById(id);
const { assets, files, texts } = document.body.dataset, words = JSON.parse(texts);
const language = document.documentElement.lang;
const base = new URL(assets, location.href).href;
const waiting = new Map();
let file = null, name = say("pasted"), isRead = false, saved = "";

function say(key, values) {
  return words[key].replace(/\{(\w+)\}/g, (whole, name) => values[name]);
}

const source = new Blob([`(${inWorker})()`], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(source), { type: "module" });
worker.onerror = (event) => fail(event.message);
worker.onmessage = ({ data }) => {
  if (data.failed) { fail(data.failed); }
  if (data.progress) { showProgress(data.progress); }
  if (data.ready) {
    one("progress").hidden = one("amount").hidden = true;
    one("status").textContent = say("ready");
    document.body.dataset.ready = "true";
  }
  if (data.answer) { waiting.get(data.id)(data.answer); waiting.delete(data.id); }
};
worker.postMessage({ assets: base, files: JSON.parse(files) });

function fail(reason) {
  one("progress").hidden = one("amount").hidden = true;
  one("status").textContent = location.protocol === "file:" ? say("from_file") : `${say("failed")} ${reason || ""}`;
}

function showProgress(share) {
  const all = Object.values(JSON.parse(files)).reduce((sum, size) => sum + size, 0) / 1e6;
  one("progress").value = share;
  one("amount").textContent = `${(share * all).toFixed(1)} / ${all.toFixed(1)} MB`;
  if (share === 1) { one("status").textContent = say("starting"); }
}

function call(request, content = new Uint8Array()) {
  const id = Math.random();
  worker.postMessage({ id, request, content }, [content.buffer]);
  return new Promise((resolve) => waiting.set(id, resolve));
}

let queue = Promise.resolve();

function enqueue(work) {
  queue = queue.then(async () => {
    one("form").setAttribute("aria-busy", "true");
    one("working").textContent = say("working");
    one("error").textContent = "";
    try { await work(); } finally {
      one("form").removeAttribute("aria-busy");
      one("working").textContent = "";
    }
  }).catch((error) => { one("error").textContent = String(error); });
}

async function read() {
  const text = one("chat").value;
  isRead = false;
  one("read").textContent = "";
  if (!file && !text.trim()) { one("error").textContent = say("empty"); return; }
  const content = file ? new Uint8Array(await file.arrayBuffer()) : new TextEncoder().encode(text);
  const request = { call: "read", name, form: one("format").value, conversation: one("conversation").value, language };
  const answer = await call(request, content);
  if (answer.choose) {
    const options = Object.entries(answer.choose).map(([number, heading]) => new Option(heading, number));
    one("conversation").replaceChildren(new Option("", ""), ...options);
    one("which").hidden = false;
  }
  if (answer.error) { one("error").textContent = answer.error; return; }
  one("read").textContent = [say("read", { name, ...answer }), ...answer.notes].join(" ");
  if (answer.model) {
    const known = [...one("model").options].find((option) => option.value === answer.model);
    (known || one("model").appendChild(new Option(answer.model))).selected = true;
  }
  isRead = true;
}

async function ask() {
  if (!isRead) { await read(); }
  if (!isRead) { return; }
  const model = one("model").value;
  const request = { call: "ask", query: one("query").value, budget: Number(one("budget").value), strategy: one("strategy").value, model, language };
  const answer = await call(request);
  if (answer.error) { one("error").textContent = answer.error; return; }
  show(answer, model);
  one("h-result").focus();
}

function show(answer, model) {
  one("costs").textContent = say("costs", { model });
  for (const row of ["selected", "whole"]) {
    answer[row].forEach((value, at) => { one(row).querySelectorAll("td")[at].textContent = value; });
  }
  one("saved").textContent = say("saved", answer);
  one("explanation").srcdoc = answer.page;
  URL.revokeObjectURL(saved);
  saved = URL.createObjectURL(new Blob([answer.page], { type: "text/html" }));
  one("save").href = saved;
  one("result").hidden = false;
}

function changed(newFile, newName = say("pasted")) {
  file = newFile;
  name = newName;
  isRead = false;
  one("which").hidden = true;
  one("conversation").replaceChildren();
}

function take(newFile) {
  if (!newFile) { return; }
  one("chat").value = "";
  changed(newFile, newFile.name);
  enqueue(read);
}

// The answer to the first example comes with the page, before Python does.
const first = JSON.parse(document.body.dataset.first);
one("chat").value = first.text;
one("query").value = first.query;
changed(null, first.file);
show(first.answer, one("model").value);

one("form").addEventListener("submit", (event) => { event.preventDefault(); enqueue(ask); });
one("chat").addEventListener("input", () => { one("file").value = ""; changed(null); });
one("chat").addEventListener("paste", () => setTimeout(() => enqueue(read)));
one("file").addEventListener("change", () => take(one("file").files[0]));
one("format").addEventListener("change", () => { if (file || one("chat").value.trim()) { enqueue(read); } });
one("conversation").addEventListener("change", () => enqueue(read));
document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  one("file").value = "";
  take(event.dataTransfer.files[0]);
});
document.querySelectorAll("button[data-file]").forEach((button) => button.addEventListener("click", () => enqueue(async () => {
  one("chat").value = (await call({ call: "example", file: button.dataset.file })).text;
  one("query").value = button.dataset.query;
  one("file").value = one("format").value = "";
  changed(null, button.dataset.file);
  await ask();
})));
