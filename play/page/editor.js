// The editor: a text area over coloured text, which also carries squiggles, notes at the ends of lines, and the line that executes.

const editor = {
  /** Ranges that are underlined: `{from, to, kind}`, the most important ones last. */
  squiggles: [],
  /** By line: what is said at its end, `{kind, text}`. */
  notes: new Map(),
  /** By line: marks in the gutter. */
  marks: new Map(),
  /** The line that executes. */
  here: null,
  /** Called when the text changes. */
  onchange: () => {},
  escaped: false,

  get text() {
    return element("source").value;
  },

  set text(text) {
    element("source").value = text;
    this.edited();
  },

  start() {
    const source = element("source");
    source.addEventListener("input", () => this.edited());
    source.addEventListener("keydown", (event) => this.key(event));
    source.addEventListener("blur", () => (this.escaped = false));
  },

  edited() {
    this.squiggles = [];
    this.notes = new Map();
    this.marks = new Map();
    this.here = null;
    this.draw();
    this.onchange();
  },

  /** Tab indents, unless Escape has been pressed before it; a new line begins below the one before. */
  key(event) {
    const source = event.target;
    if (event.key === "Escape") this.escaped = true;
    else if (event.key === "Tab" && !this.escaped && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      if (event.shiftKey) this.outdent(source);
      else this.type("    ");
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing) {
      event.preventDefault();
      const before = source.value.slice(0, source.selectionStart);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = line.match(/^[ \t]*/)[0];
      this.type(`\n${indent}${/\{\s*$/.test(line) ? "    " : ""}`);
    } else if (event.key !== "Shift") this.escaped = false;
  },

  /** As if it were typed, so that it can be undone. */
  type(text) {
    if (!document.execCommand("insertText", false, text)) {
      const source = element("source");
      source.setRangeText(text, source.selectionStart, source.selectionEnd, "end");
      this.edited();
    }
  },

  outdent(source) {
    const start = source.value.lastIndexOf("\n", source.selectionStart - 1) + 1;
    const blanks = source.value.slice(start).match(/^( {1,4}|\t)/)?.[0].length ?? 0;
    if (blanks === 0) return;
    const caret = Math.max(start, source.selectionStart - blanks);
    source.setSelectionRange(start, start + blanks);
    document.execCommand("delete");
    source.setSelectionRange(caret, caret);
  },

  /** Shows a line. */
  reveal(line) {
    const box = element("editor");
    const [scrolled, height] = [box.scrollTop, box.clientHeight];
    const top = 8 + 21 * (line - 1);
    if (top < scrolled || top + 42 > scrolled + height) box.scrollTop = top - height / 2;
  },

  /** Puts the cursor into a line. */
  goTo(line, offset) {
    const source = element("source");
    const starts = source.value.split("\n").slice(0, line - 1);
    const at = offset ?? starts.reduce((sum, text) => sum + text.length + 1, 0);
    source.focus();
    source.setSelectionRange(at, at);
    this.reveal(line);
  },

  showLine(line) {
    if (line === this.here) return;
    if (line) this.reveal(line);
    for (const [which, isHere] of [[this.here, false], [line, true]]) {
      for (const column of which ? ["gutter", "backdrop"] : []) element(column).children[which - 1]?.classList.toggle("here", isHere);
    }
    this.here = line;
  },

  draw() {
    const text = this.text;
    const colours = tokens(text);
    const rows = [];
    const numbers = [];
    let start = 0;
    text.split("\n").forEach((content, index) => {
      const end = start + content.length;
      const own = ([from, to]) => from < end && to > start;
      const parts = this.parts(content, start, colours.filter(own), this.squiggles.filter(({ from, to }) => from <= end && to >= start));
      const notes = (this.notes.get(index + 1) ?? []).map(({ kind, text }) => make("span", { class: `note ${kind}` }, text));
      const here = index + 1 === this.here ? " here" : "";
      rows.push(make("div", { class: `line${here}` }, ...parts, ...notes));
      numbers.push(make("div", { class: `${this.marks.get(index + 1) ?? ""}${here}` }, String(index + 1)));
      start = end + 1;
    });
    element("backdrop").replaceChildren(...rows);
    element("gutter").replaceChildren(...numbers);
  },

  /** A line cut where a colour or a squiggle begins or ends. */
  parts(content, start, colours, squiggles) {
    const cuts = new Set([0, content.length]);
    const cut = (at) => cuts.add(Math.min(Math.max(at - start, 0), content.length));
    colours.forEach(([from, to]) => (cut(from), cut(to)));
    squiggles.forEach(({ from, to }) => (cut(from), cut(to)));
    const ends = [...cuts].sort((a, b) => a - b);
    const parts = [];
    for (let i = 0; i + 1 < ends.length; i++) {
      const [from, to] = [ends[i] + start, ends[i + 1] + start];
      const colour = colours.find((token) => token[0] <= from && token[1] >= to)?.[2];
      const squiggle = squiggles.filter((range) => range.from <= from && range.to >= to).at(-1);
      const kinds = [colour, squiggle && `squiggle ${squiggle.kind}`].filter(Boolean).join(" ");
      const piece = content.slice(ends[i], ends[i + 1]);
      parts.push(kinds ? make("span", { class: kinds }, piece) : piece);
    }
    // What is missing at the end of a line is underlined behind it.
    const behind = squiggles.filter(({ from, to }) => from === to && from === start + content.length).at(-1);
    if (behind) parts.push(make("span", { class: `squiggle ${behind.kind}` }, "\u00a0"));
    return parts;
  },
};
