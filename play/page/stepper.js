// Steps through a recorded call: a slider over the lines that were executed, with the masks and the variables of each.

const stepper = {
  /** What the server recorded; `null`: nothing is being stepped through. */
  call: null,
  /** What is shown. */
  state: null,
  byInstruction: false,
  /** Characters of the widest value that has been shown. */
  widest: 0,
  /** Where to go next, while the server is asked for another place. */
  wanted: null,
  isAsking: false,

  get isOpen() {
    return this.call !== null;
  },

  get last() {
    return this.byInstruction ? this.call.last : this.call.stops - 1;
  },

  get at() {
    return this.state === null ? 0 : this.byInstruction ? this.state.position : this.state.stop;
  },

  /** Begins at the first line. */
  async open(call) {
    this.close();
    this.call = call;
    this.byInstruction = false;
    this.widest = 1;
    this.build();
    element("stepper").hidden = false;
    await this.go(call.trap ? this.last : 0);
    element("slider").focus({ preventScroll: true });
  },

  close() {
    if (this.call) ask("step/close", { session: this.call.session }).catch(() => {});
    this.call = null;
    this.state = null;
    this.wanted = null;
    element("stepper").hidden = true;
    fill("stepper");
    editor.showLine(null);
  },

  build() {
    const button = (label, shape, keys, to) =>
      make("button", { type: "button", "aria-label": label, title: `${label} (${keys})`, onclick: () => this.go(to()) },
        draw("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, draw("path", { d: shape, fill: "currentColor" })));
    const slider = make("input", { id: "slider", type: "range", min: 0, max: this.last, value: 0, step: 1, "aria-label": "Step",
      oninput: (event) => this.go(Number(event.target.value)) });
    const fine = make("input", { id: "fine", type: "checkbox", onchange: (event) => this.setUnit(event.target.checked) });
    const overview = make("canvas", { class: "overview", "aria-hidden": "true", title: "All lanes over time; click to go there",
      onclick: (event) => this.seek(event) });
    const what = make("input", { id: "why", type: "text", placeholder: "x[3]", "aria-label": "Variable and lane", autocomplete: "off" });
    const asked = make("form", { class: "asked", onsubmit: (event) => (event.preventDefault(), this.why(what.value)) },
      make("label", { for: "why" }, "Why has this value?"), what, make("button", { type: "submit" }, "Ask"));
    fill("stepper", make("section", { class: "panel", "aria-label": "Stepper" },
      make("div", { id: "place", class: "place", role: "status" }),
      make("p", { class: "caption" }, "All lanes, from the first step to the last"), overview,
      make("div", { class: "controls" },
        button("To the start", "M2 2h2v12H2zM14 2v12L5 8z", "Home", () => 0), button("Back", "M12 2v12L3 8z", "←", () => this.at - 1), slider,
        button("Forward", "M4 2v12l9-6z", "→", () => this.at + 1), button("To the end", "M12 2h2v12h-2zM2 2v12l9-6z", "End", () => this.last),
        make("label", { class: "choice" }, fine, " Instructions")),
      make("div", { id: "trap-here" }),
      make("div", { id: "lanes", class: "lanes", tabindex: "0", role: "region", "aria-label": "Masks and variables by lane" }),
      make("div", { id: "uniform" }),
      asked,
      make("div", { id: "because", role: "status" }),
      this.call.printed ? make("details", {}, make("summary", {}, "All that it prints"), make("pre", { class: "text", tabindex: "0" }, this.call.printed)) : null,
      make("div", { class: "ending" }, make("span", { class: "muted" }, this.call.ended),
        make("button", { type: "button", onclick: () => main.endStepping() }, "End stepping"))));
    this.drawOverview();
  },

  setUnit(byInstruction) {
    this.byInstruction = byInstruction;
    const slider = element("slider");
    slider.max = this.last;
    slider.value = this.at;
    this.go(this.at);
  },

  /** Goes somewhere. While the server is asked, only the last of several wishes counts. */
  async go(at) {
    if (!this.isOpen) return;
    this.wanted = Math.min(Math.max(at, 0), this.last);
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      while (this.wanted !== null && this.isOpen) {
        const call = this.call;
        const question = { session: call.session, at: this.wanted, instructions: this.byInstruction };
        this.wanted = null;
        const state = await ask("step/show", question);
        if (this.call !== call) break;
        if (state.error) throw new Error(state.error);
        this.state = state;
        this.show();
      }
    } catch (error) {
      main.say(error.message);
    } finally {
      this.isAsking = false;
    }
  },

  show() {
    const { state } = this;
    const slider = element("slider");
    if (this.wanted === null) slider.value = this.at;
    slider.setAttribute("aria-valuetext", this.placeText());
    const source = state.line ? editor.text.split("\n")[state.line - 1] ?? "" : "";
    fill("place",
      make("h2", {}, this.placeText()),
      make("span", { class: "muted" }, [this.byInstruction ? "" : `instruction ${state.position.toLocaleString("en")}`, this.inCalls()].filter(Boolean).join(", ")),
      state.returned ? null : make("code", { class: "source" }, source.trim() || "\u00a0"),
      this.byInstruction && state.instruction ? make("code", { class: "instruction" }, `${state.pc}: ${state.instruction}`) : null);
    fill("trap-here", state.trap && main.trapPanel(state.trap));
    fill("lanes", state.returned ? this.results(state.returned) : this.table());
    fill("uniform", state.returned ? null : this.others());
    fill("because");
    main.trap = state.trap ?? null;
    main.annotate();
    editor.showLine(state.returned ? null : state.line);
    this.drawOverview();
  },

  placeText() {
    const { state } = this;
    const count = this.byInstruction ? `Instruction ${this.at} of ${this.last}` : `Step ${this.at} of ${this.last}`;
    return state.returned ? `${count}: the function has returned` : `${count}: line ${state.line ?? "?"} in ${state.function}`;
  },

  inCalls() {
    const outer = (this.state.calls ?? []).slice(1).map(({ function: name, line, task }) => `${name}${line ? `:${line}` : ""}${task === null ? "" : ` (task ${task})`}`);
    return outer.length ? `called by ${outer.join(" ← ")}` : "";
  },

  results(returned) {
    return returned.map((lanes) => make("p", { class: "value" }, `result = ${lanes.join(" ")}`));
  },

  /** Masks and varying variables: a row each, a column per lane. */
  table() {
    const { lanes: n } = this.call;
    const { mask, strips, variables } = this.state;
    const numbers = Array.from({ length: n }, (_, lane) => lane);
    const head = make("tr", {}, make("th", { scope: "col" }, "lane"), ...numbers.map((lane) => make("th", { scope: "col" }, String(lane))));
    const isShown = ({ name, mask: lanes }) => name === "current" || (name !== "entry" && (lanes[0] || lanes[1]));
    const rows = strips.filter(isShown).map((strip) => {
      const on = lanesOf(strip.mask, n);
      const said = on.length === n ? "all lanes" : on.length === 0 ? "no lane" : `lanes ${on.join(" ")}`;
      const name = strip.line ? `${strip.name} (${strip.line})` : strip.name;
      return make("tr", { class: `mask ${strip.name === "current" ? "current" : ""}`, title: strip.meaning, "data-mask": strip.name },
        make("th", { scope: "row" }, name, make("span", { class: "hidden-text" }, `: ${strip.meaning}: ${said}`)),
        ...numbers.map((lane) => make("td", { class: hasLane(strip.mask, lane) ? "on" : "", "aria-hidden": "true" }, hasLane(strip.mask, lane) ? "■" : "·")));
    });
    const varying = variables.filter(({ uniform, values }) => !uniform && values).map(({ name, type, values, changed }) =>
      make("tr", { class: "values", "data-variable": name },
        make("th", { scope: "row", title: type }, name),
        ...values.map((value, lane) => {
          const isOn = hasLane(mask, lane);
          const kinds = [isOn ? "" : "idle", hasLane(changed, lane) ? "changed" : ""].filter(Boolean).join(" ");
          return make("td", { class: kinds, title: `Why has ${name}[${lane}] this value?`, onclick: () => this.why(`${name}[${lane}]`) },
            isOn ? value : `(${value})`);
        })));
    // All columns are as wide as the widest value has been, so that nothing jumps about.
    this.widest = Math.max(this.widest, ...variables.filter(({ uniform, values }) => !uniform && values)
      .flatMap(({ values }) => values.map((value, lane) => value.length + (hasLane(mask, lane) ? 0 : 2))));
    const table = make("table", {}, make("thead", {}, head),
      make("tbody", {}, ...rows, varying.length ? make("tr", { class: "gap", "aria-hidden": "true" }, make("td", { colspan: n + 1 })) : null, ...varying));
    table.style.setProperty("--widest", `${this.widest}ch`);
    return table;
  },

  /** Variables with one value, and what was written to memory. */
  others() {
    const { variables, written, written_more: more } = this.state;
    const single = variables.filter(({ uniform, values }) => uniform || !values);
    const entries = single.flatMap(({ name, type, values, text, changed }) => [
      make("dt", { title: type }, name),
      make("dd", { class: changed[0] || changed[1] ? "changed" : "", "data-variable": name }, values ? values[0] : text ?? ""),
    ]);
    const writes = written.map(({ place, lane, values, bytes }) => {
      const by = lane === null ? "" : ` by lane ${lane}`;
      return values ? `${place}: ${values[0]} → ${values[1]}${by}` : `${place}: ${plural(bytes, "byte")}${by}`;
    });
    if (more) writes.push(`… and ${plural(more, "more write")}`);
    return [
      entries.length ? make("dl", { class: "names" }, entries) : null,
      writes.length ? make("div", {}, make("h3", {}, "Written by this step"), make("pre", { class: "text", id: "written", tabindex: "0" }, writes.join("\n"))) : null,
    ];
  },

  async why(what) {
    if (!this.isOpen || !what.trim()) return;
    element("why").value = what;
    let text;
    try {
      const answer = await ask("step/why", { session: this.call.session, position: this.state.position, what });
      text = answer.text ?? answer.error;
    } catch (error) {
      text = error.message;
    }
    fill("because", make("pre", { class: "text", tabindex: "0", "aria-label": `Why ${what}` }, text));
  },

  /** The stop below the pointer. */
  seek(event) {
    const box = event.target.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    const stop = Math.round(share * (this.call.stops - 1));
    this.go(this.byInstruction ? Math.round(share * this.call.last) : stop);
  },

  /** All lanes over time, with a line where the slider is. */
  drawOverview() {
    const canvas = element("stepper").querySelector(".overview");
    const { overview, lanes: n, stops } = this.call;
    const scale = Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(Math.round(canvas.clientWidth * scale), 1);
    const height = Math.max(Math.round(canvas.clientHeight * scale), 1);
    [canvas.width, canvas.height] = [width, height];
    const style = getComputedStyle(canvas);
    const [on, here] = [style.getPropertyValue("--accent"), style.getPropertyValue("--here-edge")];
    const context = canvas.getContext("2d");
    const row = height / n;
    context.fillStyle = on;
    overview.forEach(([stop, , mask], column) => {
      const from = width * stop / stops;
      const to = width * (overview[column + 1]?.[0] ?? stops) / stops;
      const gap = to - from > 4 ? 1 : 0;
      for (let lane = 0; lane < n; lane++) {
        if (hasLane(mask, lane)) context.fillRect(from, lane * row, to - from - gap, Math.max(row - (row > 3 ? 1 : 0), 0.5));
      }
    });
    if (this.state) {
      context.fillStyle = here;
      const at = width * (this.state.stop + 0.5) / stops;
      context.fillRect(at - 1.5 * scale, 0, 3 * scale, height);
    }
  },
};
