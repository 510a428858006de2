// Pictures of arrays: rows of numbers as an image, others as a plot.

const pictures = {
  /** Colours from the least to the greatest number: dark blue over green to pale yellow, evenly lighter. */
  ramp: [[13, 26, 64], [35, 78, 124], [45, 128, 140], [98, 174, 122], [186, 208, 108], [253, 246, 200]],

  colour(share) {
    const at = Math.min(Math.max(share, 0), 1) * (this.ramp.length - 1);
    const [low, part] = [Math.min(Math.floor(at), this.ramp.length - 2), at];
    return [0, 1, 2].map((c) => this.ramp[low][c] + (this.ramp[low + 1][c] - this.ramp[low][c]) * (part - low));
  },

  /** A number of the server's, which writes those that JSON does not have as text. */
  number(value) {
    if (typeof value === "boolean") return value ? 1 : 0;
    if (typeof value === "number") return value;
    return value === "inf" ? Infinity : value === "-inf" ? -Infinity : NaN;
  },

  short(value) {
    if (!Number.isFinite(value)) return String(value);
    return Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(5)));
  },

  range(numbers) {
    let [least, greatest] = [Infinity, -Infinity];
    for (const x of numbers) {
      if (!Number.isFinite(x)) continue;
      least = Math.min(least, x);
      greatest = Math.max(greatest, x);
    }
    return least > greatest ? [0, 0] : [least, greatest];
  },

  /** What a picture or plot shows, in words. */
  words(array, least, greatest) {
    const shape = array.shape.length ? `${array.type}[${array.shape.join(" × ")}]` : array.type;
    return `${shape}, from ${this.short(least)} to ${this.short(greatest)}`;
  },

  /** An array with its picture, and its elements as text. */
  show(array) {
    const numbers = array.numbers.map((value) => this.number(value));
    const isImage = array.shape.length >= 2 && array.shape.length <= 3 && array.shape[0] > 1 && array.shape[1] > 1
      && (array.shape.length === 2 || [1, 3, 4].includes(array.shape[2]));
    const [least, greatest] = this.range(numbers);
    const title = make("h3", {}, array.name, make("span", { class: "muted" }, ` ${this.words(array, least, greatest)}`));
    const reading = make("p", { class: "reading" });
    const body = [title];
    if (numbers.length > 1) body.push(isImage ? this.image(array, numbers, reading) : this.plot(array, numbers, reading), reading);
    const total = array.shape.reduce((product, n) => product * n, 1);
    const more = total > array.shown.length ? `, … (${plural(total - array.shown.length, "more element")})` : "";
    const elements = make("pre", { class: "text", tabindex: "0", "aria-label": `Elements of ${array.name}` }, this.rows(array) + more);
    body.push(numbers.length > 1 ? make("details", {}, make("summary", {}, "Elements"), elements) : elements);
    return make("article", { class: "panel", "data-array": array.name }, ...body);
  },

  /** The elements that are listed, in lines that begin with their indices. */
  rows(array) {
    const per = array.shape.length > 1 ? Math.min(array.shape.at(-1), 16) : 8;
    const width = Math.max(...array.shown.map((text) => text.length), 1);
    const lines = [];
    for (let i = 0; i < array.shown.length; i += per) {
      lines.push(`${String(i).padStart(5)} │ ${array.shown.slice(i, i + per).map((text) => text.padStart(width)).join(" ")}`);
    }
    return lines.join("\n");
  },

  image(array, numbers, reading) {
    const every = array.every;
    const [rows, columns] = [Math.ceil(array.shape[0] / every), Math.ceil(array.shape[1] / every)];
    const channels = array.shape[2] ?? 1;
    const [least, greatest] = this.range(numbers);
    const [from, to] = array.type === "u8" ? [0, 255] : least >= 0 && greatest <= 1 && channels > 1 ? [0, 1] : [least, greatest];
    const share = (x) => (Number.isNaN(x) ? 0 : to > from ? (x - from) / (to - from) : 0);
    const canvas = make("canvas", { class: "picture", width: columns, height: rows, role: "img",
      "aria-label": `${array.name} as a picture: ${this.words(array, least, greatest)}` });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i++) {
      const rgb = channels === 1 ? this.colour(share(numbers[i])) : [0, 1, 2].map((c) => 255 * share(numbers[i * channels + c]));
      // What is no number is red.
      pixels.data.set(channels === 1 && Number.isNaN(numbers[i]) ? [200, 40, 40, 255] : [...rgb, 255], i * 4);
    }
    context.putImageData(pixels, 0, 0);
    canvas.style.width = `${columns * Math.max(1, Math.floor(560 / columns))}px`;
    canvas.addEventListener("mousemove", (event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.min(columns - 1, Math.floor((event.clientX - box.left) / box.width * columns));
      const row = Math.min(rows - 1, Math.floor((event.clientY - box.top) / box.height * rows));
      const values = numbers.slice((row * columns + column) * channels, (row * columns + column + 1) * channels);
      reading.textContent = `${array.name}[${row * every}][${column * every}] = ${values.map((x) => this.short(x)).join(", ")}`;
    });
    canvas.addEventListener("mouseleave", () => (reading.textContent = ""));
    return canvas;
  },

  /** Bars for few numbers; else a line, of long arrays through the least and the greatest of each piece. */
  plot(array, numbers, reading) {
    const [width, height, left, bottom] = [560, 170, 56, 20];
    const [inner, top] = [width - left - 6, 8];
    let [least, greatest] = this.range(numbers);
    const label = `${array.name} as a plot: ${this.words(array, least, greatest)}`;
    if (numbers.length <= 64) [least, greatest] = [Math.min(least, 0), Math.max(greatest, 0)];
    if (least === greatest) [least, greatest] = [least - 0.5, greatest + 0.5];
    const y = (x) => top + (height - bottom - top) * (1 - (x - least) / (greatest - least));
    const svg = draw("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const x of least < 0 && greatest > 0 ? [least, 0, greatest] : [least, greatest]) {
      svg.append(draw("line", { class: "axis", x1: left, x2: width - 6, y1: y(x), y2: y(x) }));
      svg.append(draw("text", { x: left - 6, y: y(x) + 4, "text-anchor": "end" }, this.short(x)));
    }
    svg.append(draw("text", { x: left, y: height - 4 }, "0"));
    svg.append(draw("text", { x: width - 6, y: height - 4, "text-anchor": "end" }, String((numbers.length - 1) * array.every)));
    if (numbers.length <= 64) {
      const step = inner / numbers.length;
      numbers.forEach((x, i) => {
        if (!Number.isFinite(x)) return;
        const [from, to] = [y(Math.max(x, 0)), y(Math.min(x, 0))];
        svg.append(draw("rect", { class: "bar", x: left + i * step + step * 0.1, width: step * 0.8, y: from, height: Math.max(to - from, 1) }));
      });
    } else {
      svg.append(draw("path", { class: "series", d: this.path(numbers, left, inner, y) }));
    }
    svg.addEventListener("mousemove", (event) => {
      const box = svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * width - left) / inner;
      const i = Math.min(numbers.length - 1, Math.max(0, Math.floor(share * numbers.length)));
      reading.textContent = `${array.name}[${i * array.every}] = ${this.short(numbers[i])}`;
    });
    svg.addEventListener("mouseleave", () => (reading.textContent = ""));
    return svg;
  },

  path(numbers, left, inner, y) {
    const pieces = Math.min(numbers.length, 1000);
    let [path, isOpen] = ["", false];
    for (let piece = 0; piece < pieces; piece++) {
      const own = numbers.slice(Math.floor(piece * numbers.length / pieces), Math.floor((piece + 1) * numbers.length / pieces));
      const finite = own.filter(Number.isFinite);
      if (finite.length === 0) {
        isOpen = false;
        continue;
      }
      const x = (left + inner * (piece + 0.5) / pieces).toFixed(1);
      for (const value of new Set([Math.min(...finite), Math.max(...finite)])) {
        path += `${isOpen ? "L" : "M"}${x} ${y(value).toFixed(1)}`;
        isOpen = true;
      }
    }
    return path;
  },
};
