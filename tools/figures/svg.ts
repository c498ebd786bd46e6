// Two kinds of plot, as SVG by hand: bars in groups, and lines. Colours follow the reader's light or dark scheme; every plot
// has a title and a description for those who cannot see it, and every bar and point its number.

export type BarGroup = {
  readonly label: string;
  readonly bars: readonly { readonly series: string; readonly value: number }[];
};
export type BarChart = {
  readonly title: string;
  readonly desc: string;
  /** What the numbers are, written along the axis. */
  readonly axis: string;
  readonly groups: readonly BarGroup[];
  /** A line across the bars at this value: what one is measured by. */
  readonly mark?: { readonly value: number; readonly label: string };
};
export type LineChart = {
  readonly title: string;
  readonly desc: string;
  readonly xAxis: string;
  readonly yAxis: string;
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
};

const width = 760;
const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .small { font-size: 12px }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .mark { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3 }
  .s0 { fill: #1a7f5a; stroke: #1a7f5a } .s1 { fill: #b35900; stroke: #b35900 } .s2 { fill: #0969da; stroke: #0969da }
  .line { fill: none; stroke-width: 2 }
  .paper { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .grid { stroke: #3d444d } .mark { stroke: #e6edf3 } .paper { fill: #0d1117 }
    .s0 { fill: #3fb68b; stroke: #3fb68b } .s1 { fill: #f0883e; stroke: #f0883e } .s2 { fill: #58a6ff; stroke: #58a6ff }
  }`;

export function barChart(chart: BarChart): string {
  const labelWidth = Math.min(360, 24 + 7 * Math.max(...chart.groups.map(({ label }) => label.length)));
  const [left, right, top, barHeight, gap] = [labelWidth, width - 70, 84, 16, 12];
  const names = [...new Set(chart.groups.flatMap(({ bars }) => bars.map(({ series }) => series)))];
  const values = chart.groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const ticks = ticksTo(Math.max(...values, chart.mark?.value ?? 0));
  const x = (value: number): number => left + ((right - left) * value) / (ticks.at(-1) ?? 1);
  const body: string[] = [];
  let y = top;
  for (const { label, bars } of chart.groups) {
    const middle = y + (bars.length * barHeight) / 2 + 4;
    body.push(text({ x: left - 8, y: middle, anchor: "end" }, cut(label, Math.floor((labelWidth - 24) / 6.6))));
    for (const { series, value } of bars) {
      const shape = `x="${left}" y="${y}" width="${round(Math.max(1, x(value) - left))}" height="${barHeight - 3}"`;
      body.push(`<rect class="s${names.indexOf(series)}" ${shape} rx="2"/>`);
      body.push(text({ x: x(value) + 5, y: y + barHeight - 5, className: "small" }, shown(value)));
      y += barHeight;
    }
    y += gap;
  }
  const grid = ticks.flatMap((tick) => [
    `<line class="grid" x1="${round(x(tick))}" x2="${round(x(tick))}" y1="${top - 6}" y2="${y - gap + 4}"/>`,
    text({ x: x(tick), y: y + 6, anchor: "middle", className: "small" }, shown(tick)),
  ]);
  const mark =
    chart.mark === undefined
      ? []
      : [
          `<line class="mark" x1="${round(x(chart.mark.value))}" x2="${round(x(chart.mark.value))}" y1="${top - 6}" y2="${y - gap + 4}"/>`,
          text({ x: x(chart.mark.value) + 4, y: top - 10, className: "small" }, chart.mark.label),
        ];
  const axis = text({ x: (left + right) / 2, y: y + 26, anchor: "middle" }, chart.axis);
  return page(chart, y + 40, [...grid, ...body, ...mark, axis, ...legend(names)]);
}

/** x in powers of ten, as numbers of clients are. */
export function lineChart(chart: LineChart): string {
  const [left, right, top, bottom] = [70, width - 40, 84, 360];
  const all = chart.series.flatMap(({ points }) => points);
  const ticks = ticksTo(Math.max(...all.map(({ y }) => y)));
  const exponents = all.map(({ x }) => Math.log10(x));
  const [first, last] = [Math.min(...exponents), Math.max(...exponents)];
  const atX = (x: number): number => left + 20 + ((right - left - 60) * (Math.log10(x) - first)) / (last - first || 1);
  const atY = (y: number): number => bottom - ((bottom - top) * y) / (ticks.at(-1) ?? 1);
  const body = ticks.flatMap((tick) => [
    `<line class="grid" x1="${left}" x2="${right}" y1="${round(atY(tick))}" y2="${round(atY(tick))}"/>`,
    text({ x: left - 8, y: atY(tick) + 4, anchor: "end", className: "small" }, shown(tick)),
  ]);
  for (const value of [...new Set(all.map(({ x }) => x))]) {
    body.push(text({ x: atX(value), y: bottom + 18, anchor: "middle", className: "small" }, shown(value)));
  }
  for (const [index, { points }] of chart.series.entries()) {
    const path = points.map(({ x, y }) => `${round(atX(x))},${round(atY(y))}`).join(" ");
    body.push(`<polyline class="s${index} line" style="fill: none" points="${path}"/>`);
    for (const { x, y } of points) {
      body.push(`<circle class="s${index}" cx="${round(atX(x))}" cy="${round(atY(y))}" r="4"/>`);
      body.push(text({ x: atX(x) + 8, y: atY(y) - 6, className: "small" }, shown(y)));
    }
  }
  body.push(text({ x: (left + right) / 2, y: bottom + 40, anchor: "middle" }, chart.xAxis));
  const turned = `transform="rotate(-90 20 ${(top + bottom) / 2})"`;
  body.push(`<text x="20" y="${(top + bottom) / 2}" text-anchor="middle" ${turned}>${escaped(chart.yAxis)}</text>`);
  return page(chart, bottom + 56, [...body, ...legend(chart.series.map(({ name }) => name))]);
}

function page(
  about: { readonly title: string; readonly desc: string },
  height: number,
  body: readonly string[],
): string {
  const start = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`;
  const said = `<title id="title">${escaped(about.title)}</title>\n<desc id="desc">${escaped(about.desc)}</desc>`;
  const paper = `<rect class="paper" width="${width}" height="${height}"/>`;
  const heading = text({ x: 16, y: 26, className: "title" }, about.title);
  return `${[start, said, `<style>${style}\n</style>`, paper, heading, ...body].join("\n")}\n</svg>\n`;
}

function legend(names: readonly string[]): string[] {
  if (names.length < 2) return [];
  let x = 16;
  return names.flatMap((name, index) => {
    const at = x;
    x += 34 + 7 * name.length;
    return [
      `<rect class="s${index}" x="${at}" y="42" width="12" height="12" rx="2"/>`,
      text({ x: at + 18, y: 53 }, name),
    ];
  });
}

type Place = {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "middle" | "end";
  readonly className?: string;
};
function text({ x, y, anchor, className }: Place, content: string): string {
  const more = `${anchor === undefined ? "" : ` text-anchor="${anchor}"`}${className === undefined ? "" : ` class="${className}"`}`;
  return `<text x="${round(x)}" y="${round(y)}"${more}>${escaped(content)}</text>`;
}

/** Round numbers from 0 to at least the value, five or so of them. */
export function ticksTo(value: number): number[] {
  const rough = (value > 0 ? value : 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const count = Math.ceil((value > 0 ? value : 1) / step);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

/** The digits that matter, three or (below one) two of them, and commas in thousands. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return `${Number(value.toPrecision(Math.abs(value) < 1 ? 2 : 3))}`;
}

function cut(label: string, most: number): string {
  return label.length <= most ? label : `${label.slice(0, most - 1).trimEnd()}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
