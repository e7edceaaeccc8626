// Months or years as bars and lines: drawn as SVG, so that it is sharp on paper and takes the page's colours.
// What it shows stands in the table below it, too: whoever cannot see it loses nothing.

import { Component, h } from "./vendor/preact.mjs";
import { table } from "./parts.js";

const HEIGHT = 220;
const EDGE = { top: 12, right: 4, bottom: 24 };
const LETTER_WIDTH = 7;
const STEPS = 4;
const LABEL_WIDTH = 40;

// Gives round numbers that a scale of these values is marked with, zero among them.
export function marks(values) {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const rough = (high - low || 100) / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

// Chart and table of {page, title, step, points, series}; a step is a month or a year. A point is {start,
// href, and values by the names of the series}; a series is {name, title, line: as a line in the place of
// bars}.
export class Chart extends Component {
  constructor() {
    super();
    this.state = { width: 560 };
    this.measure = new ResizeObserver(([{ contentRect }]) => this.setState({ width: contentRect.width }));
  }

  componentDidMount() {
    this.measure.observe(this.drawing);
  }

  componentWillUnmount() {
    this.measure.disconnect();
  }

  render({ page, title, step, points, series }) {
    const legend = h("ul", { class: "legend", "aria-hidden": "true" }, series.map(({ name, title: told, line }) =>
      h("li", { class: `${name} ${line ? "line" : "bar"}` }, told)));
    return h("figure", { class: "chart" },
      h("figcaption", null, h("h2", null, title), series.length > 1 && legend),
      h("div", { ref: (node) => { this.drawing = node; } }, this.drawn(page, title, step, points, series)),
      h("details", null, h("summary", null, page.say("as_table")), this.told(page, title, step, points, series)));
  }

  drawn(page, title, step, points, series) {
    const { width } = this.state;
    const scale = marks(series.flatMap(({ name }) => points.map((point) => point[name])));
    const [low, high] = [scale[0], scale.at(-1)];
    const y = (value) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - (value - low) / (high - low));
    const labels = scale.map((mark) => page.formats.short(Math.round(mark)));
    const start = LETTER_WIDTH * Math.max(...labels.map((label) => label.length)) + 12;
    const room = (width - start - EDGE.right) / points.length;
    const x = (at) => start + room * at;
    const every = Math.ceil(LABEL_WIDTH / room);
    return h("svg", { class: "drawn", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": page.say("chart_told", { title }) },
      scale.map((mark, at) => h("g", { class: mark === 0 ? "zero" : "mark" },
        h("line", { x1: start, x2: width - EDGE.right, y1: y(mark), y2: y(mark) }),
        h("text", { x: start - 8, y: y(mark) + 4 }, labels[at]))),
      points.map((point, at) => (points.length - 1 - at) % every === 0 &&
        h("text", { class: "month", x: x(at) + room / 2, y: HEIGHT - 6 }, page.formats[step](point.start))),
      bars(series.filter(({ line }) => !line), points, { x, y, room }),
      lines(series.filter(({ line }) => line), points, { x, y, room }),
      points.map((point, at) => h("rect", { class: "touch", x: x(at), y: 0, width: room, height: HEIGHT },
        h("title", null, spoken(page, step, point, series)))));
  }

  told(page, title, step, points, series) {
    return table(page, {
      caption: title,
      columns: [
        { title: page.say(step), short: true, cell: (point) => named(page, step, point) },
        ...series.map(({ name, title: told }) => ({
          title: told,
          figure: true,
          cell: (point) => h("a", { href: point.href }, page.formats.amount(point[name])),
        })),
      ],
      rows: points,
    });
  }
}

const named = (page, step, { start }) => (step === "year" ? page.formats.year(start) : page.formats.monthYear(start));

const spoken = (page, step, point, series) =>
  [named(page, step, point), ...series.map(({ name, title }) => `${title} ${page.formats.money(point[name])}`)].join("\n");

function bars(series, points, { x, y, room }) {
  const width = Math.min(22, (room * 0.72) / series.length);
  return series.map(({ name }, nth) => h("g", { class: `bar ${name}` }, points.map((point, at) => {
    const [top, bottom] = [y(Math.max(0, point[name])), y(Math.min(0, point[name]))];
    const left = x(at) + room / 2 + (nth - series.length / 2) * width;
    return h("rect", { x: left + 0.5, y: top, width: Math.max(1, width - 1), height: Math.max(bottom - top, point[name] ? 1 : 0), rx: 1.5 });
  })));
}

function lines(series, points, { x, y, room }) {
  return series.map(({ name }) => {
    const spots = points.map((point, at) => [x(at) + room / 2, y(point[name])]);
    return h("g", { class: `line ${name}` },
      h("path", { d: `M${spots.map((spot) => spot.join(" ")).join("L")}` }),
      spots.map(([left, top]) => h("circle", { cx: left, cy: top, r: 3 })));
  });
}
