// One time series plot. uPlot draws on a canvas, so a sentence beside it says the same to those who cannot see it.
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

export type Series = { label: string; colour: string; values: (number | null)[] };
export type PlotProps = { title: string; unit: string; timesMs: number[]; series: Series[]; summary: string };

const heightPx = 160;
/** A plot of the first seconds would make every wiggle a mountain. */
const shortestSpanS = 120;

export function Plot({ title, unit, timesMs, series, summary }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  // Without a sample there is no time to put on the axis, and uPlot would take the year 1970.
  const isEmpty = timesMs.length === 0;
  const data: UPlot.AlignedData = [timesMs.map((ms) => ms / 1000), ...series.map(({ values }) => values)];

  useEffect(() => {
    const element = place.current;
    if (element === null || isEmpty) return;
    const made = new UPlot(optionsOf({ element, unit, series }), data, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: heightPx }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
    // Made once there is something to draw: colours and series of a plot never change, its data is set below.
  }, [isEmpty]);

  useEffect(() => plot.current?.setData(data), [timesMs]);

  return (
    <figure class="card">
      <figcaption>
        {title} <span class="quiet">{summary}</span>
        {series.length > 1 && (
          <span class="legend">
            {series.map(({ label, colour }) => (
              <span key={label}>
                <i style={{ background: colour }} />
                {label}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true">
        {isEmpty && <span class="quiet">The first sample comes within seconds.</span>}
      </div>
    </figure>
  );
}

function optionsOf(on: { element: HTMLElement; unit: string; series: Series[] }): UPlot.Options {
  const text = getComputedStyle(on.element).color;
  const axis = { stroke: text, grid: { stroke: "#8883", width: 1 }, ticks: { show: false } };
  return {
    width: on.element.clientWidth,
    height: heightPx,
    padding: [10, 16, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    axes: [
      { ...axis, size: 28, space: 84, incrs: wholeSeconds, values: (_, ticks) => ticks.map(clockTime) },
      { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => `${tick} ${on.unit}`) },
    ],
    scales: {
      x: { range: (_, min, max) => [Math.min(min, max - shortestSpanS), max] },
      y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] },
    },
    series: [
      {},
      ...on.series.map(({ label, colour }) => ({ label, stroke: colour, width: 2, points: { show: false } })),
    ],
  };
}

/** Between two labels, in seconds: the labels show whole seconds, so finer steps would repeat them. */
const wholeSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

function clockTime(seconds: number): string {
  const text = new Date(seconds * 1000).toLocaleTimeString("en-GB");
  return text.endsWith(":00") ? text.slice(0, 5) : text;
}
