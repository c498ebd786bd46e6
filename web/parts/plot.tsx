// One time series plot. uPlot draws on a canvas, so a sentence beside it says the same to those who cannot see it.
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

export type Series = { label: string; colour: string; values: (number | null)[] };
export type PlotProps = { title: string; unit: string; timesMs: number[]; series: Series[]; summary: string };

export function Plot({ title, unit, timesMs, series, summary }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const data: UPlot.AlignedData = [timesMs.map((ms) => ms / 1000), ...series.map(({ values }) => values)];

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const text = getComputedStyle(element).color;
    const axis = { stroke: text, grid: { stroke: "#8883", width: 1 }, ticks: { show: false } };
    const made = new UPlot(
      {
        width: element.clientWidth,
        height: 180,
        legend: { show: series.length > 1, live: false },
        cursor: { drag: { x: false, y: false } },
        axes: [axis, { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => `${tick} ${unit}`) }],
        scales: { y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] } },
        series: [
          {},
          ...series.map(({ label, colour }) => ({ label, stroke: colour, width: 2, points: { show: false } })),
        ],
      },
      data,
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 180 }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
    // Made once: colours and series of a plot never change, its data is set below.
  }, []);

  useEffect(() => plot.current?.setData(data), [timesMs]);

  return (
    <figure class="card">
      <figcaption>
        {title} <span class="quiet">{summary}</span>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}
