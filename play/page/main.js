// The page: what is chosen, what is asked of the server, and what it answers.

const main = {
  data,
  /** The functions that the program exports, as of the last time it compiled. */
  functions: [],
  /** By function: the words for its parameters that were typed or came with the example. */
  words: new Map(),
  /** What the compiler said last. */
  diagnostics: [],
  /** What became of each line in the last run. */
  facts: null,
  /** Where the last run stopped. */
  trap: null,
  /** The name of the run that is going on. */
  running: null,
  checks: 0,

  start() {
    const { examples, widths, engines, chosen } = this.data;
    const option = (value, text) => make("option", { value }, text);
    element("example").append(option("", "–"), ...examples.map(({ name, about }) => option(name, `${name}: ${about}`)));
    element("width").append(...widths.map((lanes) => option(lanes, String(lanes))));
    element("engine").append(...engines.map((name) => option(name, name)));
    element("engine").value = engines.includes(chosen.engine) ? chosen.engine : "auto";
    editor.start();
    editor.onchange = () => this.changed();
    element("example").addEventListener("change", (event) => this.load(examples.find(({ name }) => name === event.target.value)));
    element("width").addEventListener("change", () => this.changed());
    element("engine").addEventListener("change", () => this.changed());
    element("entry").addEventListener("change", () => this.showParameters());
    element("explain").addEventListener("change", () => this.explain());
    element("run").addEventListener("click", () => this.run());
    element("step").addEventListener("click", () => this.step());
    element("stop").addEventListener("click", () => this.stop());
    element("call").addEventListener("submit", (event) => event.preventDefault());
    element("parameters").addEventListener("keydown", (event) => event.key === "Enter" && !event.ctrlKey && !event.metaKey && this.run());
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => stepper.isOpen && stepper.drawOverview());
    addEventListener("pagehide", () => this.save());
    if (!this.restore()) {
      this.load(examples[0]);
      if (chosen.width) element("width").value = chosen.width;
    }
  },

  key(event) {
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (event.shiftKey) this.step();
      else this.run();
    } else if (event.key === "Escape" && this.running) {
      this.stop();
    } else if (stepper.isOpen && isPlain && !event.target.closest("input, textarea, select, [tabindex]")) {
      const to = { ArrowLeft: stepper.at - 1, ArrowRight: stepper.at + 1, Home: 0, End: stepper.last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      stepper.go(to);
    }
  },

  /** A reload of the page keeps what was typed. */
  save() {
    const kept = { source: editor.text, entry: element("entry").value, words: [...this.words], width: element("width").value,
      engine: element("engine").value, example: element("example").value };
    try {
      sessionStorage.setItem("program", JSON.stringify(kept));
    } catch {
      // Nothing depends on it.
    }
  },

  restore() {
    try {
      const kept = JSON.parse(sessionStorage.getItem("program"));
      if (!kept) return false;
      for (const name of ["width", "engine", "example"]) element(name).value = kept[name];
      this.words = new Map(kept.words);
      this.entry = kept.entry;
      editor.text = kept.source;
      return true;
    } catch {
      return false;
    }
  },

  load(example) {
    if (!example) return;
    this.words = new Map([[example.entry, new Map(example.arguments.map((word) => [word.split("=")[0], word.slice(word.indexOf("=") + 1)]))]]
      .map(([entry, words]) => [entry, Object.fromEntries(words)]));
    this.entry = example.entry;
    element("example").value = example.name;
    element("width").value = example.width;
    fill("output");
    editor.text = example.source;
    element("editor").scrollTop = 0;
    this.say("");
  },

  get program() {
    return { source: editor.text, width: Number(element("width").value), engine: element("engine").value, fp: this.data.chosen.fp,
      explain: element("explain").checked };
  },

  /** The call, with the words that are typed. */
  get call() {
    const words = [...element("parameters").querySelectorAll("input")].map((input) => `${input.name}=${input.value.trim()}`);
    return { ...this.program, entry: element("entry").value, arguments: words };
  },

  say(text, isBusy = false) {
    element("status").textContent = text;
    element("status").classList.toggle("busy", isBusy);
  },

  /** The program is another one: what was said of the last one does not hold any more. */
  changed() {
    this.endStepping();
    [this.facts, this.trap] = [null, null];
    this.say(element("output").childElementCount ? "The program has been changed since it ran." : "");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), 200);
  },

  async check() {
    const own = ++this.checks;
    try {
      const answer = await ask("check", this.program);
      if (own !== this.checks) return;
      if (answer.functions) {
        this.functions = answer.functions;
        this.showFunctions();
      }
      this.showDiagnostics(answer);
    } catch (error) {
      if (own === this.checks) this.say(error.message);
    }
  },

  showFunctions() {
    const select = element("entry");
    const names = [...new Set(this.functions.map(({ name }) => name))];
    const wanted = [this.entry, select.value].find((name) => names.includes(name)) ?? names[0];
    this.entry = null;
    fill("entry", names.map((name) => make("option", { value: name }, name)));
    if (wanted) select.value = wanted;
    this.showParameters();
  },

  showParameters() {
    const chosen = this.functions.find(({ name }) => name === element("entry").value);
    element("entry").title = chosen ? chosen.declaration : "The program exports no function";
    const known = (chosen && this.words.get(chosen.name)) ?? {};
    const fields = (chosen?.params ?? []).map(({ name, type, word }) => {
      const input = make("input", { type: "text", name, title: type, autocomplete: "off", spellcheck: "false", oninput: (event) => {
        event.target.removeAttribute("aria-invalid");
        this.words.set(chosen.name, { ...this.words.get(chosen.name), [name]: event.target.value });
        this.endStepping();
      } });
      input.value = known[name] ?? word;
      return make("label", {}, `${name} =`, input);
    });
    const old = [...element("parameters").querySelectorAll("input")].map(({ name, value }) => `${name}=${value}`).join();
    const fresh = fields.map((label) => label.querySelector("input")).map(({ name, value }) => `${name}=${value}`).join();
    // Nobody's cursor is taken away while they type a word.
    if (old !== fresh) fill("parameters", fields);
  },

  /** What the compiler says: squiggles, notes at the ends of lines, and the list. */
  showDiagnostics({ diagnostics = [], left_out: leftOut = "", stopped = null }) {
    this.diagnostics = diagnostics;
    const shown = this.shownDiagnostics();
    fill("problems",
      shown.map(({ severity, code, message, labels, help, notes }) => {
        const line = labels[0]?.line;
        const text = `${line ? `Line ${line}: ` : ""}${message}`;
        const head = line ? make("button", { type: "button", onclick: () => editor.goTo(line, labels[0].range[0]) }, text) : make("span", {}, text);
        const said = labels.map((label, at) => label.text && `${at > 0 && label.line && label.line !== line ? `line ${label.line}: ` : ""}${label.text}`);
        const more = [...said, ...notes, help && `help: ${help}`].filter(Boolean);
        return make("li", { class: severity, "data-code": code }, make("span", {}, head, make("span", { class: "muted" }, ` ${code}`)),
          more.length ? make("span", { class: "more" }, more.join("; ")) : null);
      }),
      [leftOut, stopped].filter(Boolean).map((text) => make("li", {}, text)));
    this.annotate();
  },

  shownDiagnostics() {
    const isHint = ({ severity }) => severity === "hint";
    return this.diagnostics.filter((diagnostic) => !isHint(diagnostic) || element("explain").checked);
  },

  /** Puts into the source what is known of it. */
  annotate() {
    const [squiggles, notes, marks] = [[], new Map(), new Map()];
    const note = (line, kind, text) => notes.set(line, [...(notes.get(line) ?? []), { kind, text }]);
    for (const { severity, message, labels } of this.shownDiagnostics().slice().reverse()) {
      labels.slice(1).forEach(({ range }) => range && squiggles.push({ from: range[0], to: range[1], kind: "related" }));
      const { range, line } = labels[0] ?? {};
      if (!range) continue;
      squiggles.push({ from: range[0], to: range[1], kind: severity });
      note(line, severity, message);
      marks.set(line, severity === "hint" ? "" : severity);
    }
    if (element("explain").checked && this.facts) {
      for (const { line, facts } of this.facts) {
        const kind = this.kindOf(facts);
        if (!marks.get(line)) marks.set(line, kind);
        note(line, kind, this.summary(facts));
      }
    }
    if (this.trap?.range) {
      squiggles.push({ from: this.trap.range[0], to: this.trap.range[1], kind: "error" });
      note(this.trap.line, "error", this.trap.message);
      marks.set(this.trap.line, "error");
    }
    [editor.squiggles, editor.notes, editor.marks] = [squiggles, notes, marks];
    editor.draw();
  },

  /** Compiled, interpreted for a reason, or not hot enough to matter. */
  kindOf(facts) {
    if (facts.some((fact) => /^ *compiled/.test(fact))) return "compiled";
    return facts.some((fact) => /no loop around it has been hot/.test(fact)) ? "cold" : "interpreted";
  },

  /** What became of a line, in a few words. */
  summary(facts) {
    const costs = facts.filter((fact) => /^ *\d+ × /.test(fact)).map((fact) => fact.trim().replace(/:.*/, ""));
    const entered = facts.map((fact) => fact.match(/entered (\d+) times/)?.[1]).find(Boolean);
    const how = { compiled: `compiled${entered ? `, entered ${entered}×` : ""}`, interpreted: "interpreted", cold: "not hot" };
    return [how[this.kindOf(facts)], ...costs].join(" · ");
  },

  explain() {
    this.showDiagnostics({ diagnostics: this.diagnostics });
    if (element("explain").checked && !this.facts && !this.running) this.run();
    else this.showFacts();
  },

  showFacts() {
    const known = element("output").querySelector(".explained");
    if (known) known.remove();
    if (!element("explain").checked || !this.facts) return;
    const items = this.facts.map(({ line, facts }) => make("li", { "data-line": line },
      make("button", { type: "button", onclick: () => editor.goTo(line), "aria-label": `Line ${line}` }, String(line)),
      make("ul", {}, ...facts.map((fact) => make("li", {}, fact.trim())))));
    element("output").append(make("details", { class: "panel explained", open: true }, make("summary", {}, "What became of each line"),
      make("ol", { class: "facts" }, ...items)));
  },

  busy(name) {
    this.running = name;
    element("stop").disabled = name === null;
    element("run").disabled = name !== null;
    element("step").disabled = name !== null;
  },

  /** Has the server do something with the call, which can be stopped. */
  async work(path, saying) {
    if (this.running) return null;
    this.endStepping();
    clearTimeout(this.timer);
    ++this.checks;
    const name = `${Date.now()}-${Math.random()}`;
    this.busy(name);
    this.say(saying, true);
    this.facts = null;
    this.trap = null;
    fill("output");
    try {
      // The words are those of the functions that are there now.
      const checked = await ask("check", this.program);
      if (checked.functions) {
        this.functions = checked.functions;
        this.showFunctions();
      }
      this.showDiagnostics(checked);
      if (!checked.functions) {
        this.say("The program does not compile.");
        return null;
      }
      if (checked.functions.length === 0) {
        this.say("There is nothing to call: put `export` before a function.");
        return null;
      }
      const answer = await ask(path, { id: name, ...this.call });
      if (answer.diagnostics) this.showDiagnostics(answer);
      return answer;
    } catch (error) {
      this.say(error.message);
      this.markParameter(error.message);
      return null;
    } finally {
      this.busy(null);
      element("status").classList.remove("busy");
    }
  },

  /** Marks the word that a message is about. */
  markParameter(message) {
    for (const input of element("parameters").querySelectorAll("input")) {
      if (message.includes(`\`${input.name}\``)) input.setAttribute("aria-invalid", "true");
    }
  },

  async run() {
    const answer = await this.work("run", "Running…");
    if (!answer) return;
    if (answer.run_ms === undefined) {
      this.say(answer.stopped ? "Stopped while it was being compiled." : "The program does not compile.");
      return;
    }
    const { printed, arrays, globals, result, trap } = answer;
    this.trap = trap ?? null;
    this.facts = answer.explain ?? null;
    const times = `in ${answer.run_ms} ms on ${answer.engine}, compiled in ${answer.compile_ms} ms`;
    this.say(trap ? (trap.kind === "interrupted" ? "Stopped." : "The program has stopped.") : `Ran ${times}.`);
    const all = [...arrays, ...globals];
    const changed = all.filter((array) => array.changed);
    const others = all.filter((array) => !array.changed);
    fill("output",
      trap ? this.trapPanel(trap) : null,
      result !== undefined && result !== null ? make("section", { class: "panel" }, make("h3", {}, "Result"), make("div", { class: "value", id: "result" }, result)) : null,
      printed ? make("section", { class: "panel" }, make("h3", {}, "Printed"), make("pre", { class: "text", id: "printed", tabindex: "0" }, printed)) : null,
      changed.map((array) => pictures.show(array)),
      others.length ? make("details", {}, make("summary", {}, `Arrays that were only read: ${others.map(({ name }) => name).join(", ")}`), ...others.map((array) => pictures.show(array))) : null);
    this.showFacts();
    this.annotate();
    if (trap?.line) editor.reveal(trap.line);
  },

  trapPanel(trap) {
    const at = trap.line ? make("button", { type: "button", onclick: () => editor.goTo(trap.line, trap.range?.[0]) }, `Line ${trap.line}`) : null;
    return make("section", { class: "panel trap", "aria-label": "Trap" },
      make("p", {}, make("strong", {}, trap.kind), ` ${trap.message}`), at,
      make("details", {}, make("summary", {}, "What this means"), make("p", {}, trap.explanation),
        trap.rendered ? make("pre", { class: "text", tabindex: "0" }, trap.rendered) : null));
  },

  async step() {
    const answer = await this.work("step/open", "Recording…");
    if (!answer) return;
    if (answer.session === undefined) {
      if (answer.trap) fill("output", this.trapPanel(answer.trap));
      this.say(answer.trap ? "The program has stopped." : "The program does not compile.");
      return;
    }
    this.say(`Recorded ${plural(answer.stops, "step")}: ← and → move, or the slider.`);
    await stepper.open(answer);
  },

  endStepping() {
    if (!stepper.isOpen) return;
    stepper.close();
    this.trap = null;
    this.annotate();
    this.say("");
  },

  /** Until it has stopped: it may not have begun yet. */
  async stop() {
    const name = this.running;
    this.say("Stopping…", true);
    while (name && this.running === name) {
      await ask("stop", { id: name }).catch(() => {});
      await new Promise((done) => setTimeout(done, 100));
    }
  },
};

main.start();
