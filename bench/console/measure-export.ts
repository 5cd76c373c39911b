import type { RunningWeir } from '../../conformance/support/start-weir.ts';
import { cpuSecondsOf } from '../cpu-seconds.ts';
import { residentMb } from './resident-mb.ts';

type ExportMeasured = {
  readonly format: string;
  readonly megabytes: number;
  /** From the request to the first bytes. */
  readonly firstMs: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Growth of the resident memory at most. */
  readonly grownMb: number;
  /** Times of answers of `/livez` of the console meanwhile. */
  readonly p99Ms: number;
  readonly maxMs: number;
};

const everyMs = 50;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Exports calls, and meanwhile asks the console whether it lives and how much memory it has. */
export async function measureExport(weir: RunningWeir, token: string, query: string, format: string): Promise<ExportMeasured> {
  const { pid } = weir.process;
  const [before, cpu] = [residentMb(pid), cpuSecondsOf(pid)];
  const taken: number[] = [];
  let [most, isOver] = [before, false];
  const watching = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await (await fetch(`${weir.consoleUrl}/livez`)).text();
      taken.push(performance.now() - asked);
      most = Math.max(most, residentMb(pid));
      await wait(everyMs);
    }
  })();
  const start = performance.now();
  const response = await fetch(`${weir.consoleUrl}/api/v1/calls/export?${query}&format=${format}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok || response.body === null) throw new Error(`export: ${response.status} ${await response.text()}`);
  let [bytes, firstMs] = [0, 0];
  for await (const part of response.body) {
    if (bytes === 0) firstMs = performance.now() - start;
    bytes += part.length;
  }
  const seconds = (performance.now() - start) / 1000;
  isOver = true;
  await watching;
  taken.sort((one, other) => one - other);
  return {
    format,
    megabytes: bytes / 1e6,
    firstMs,
    seconds,
    cpuSeconds: cpuSecondsOf(pid) - cpu,
    grownMb: most - before,
    p99Ms: taken[Math.floor(taken.length * 0.99)] ?? 0,
    maxMs: taken.at(-1) ?? 0,
  };
}

/** The rows of a table, with its head. */
export function exportTable(rows: readonly ExportMeasured[]): readonly string[] {
  return [
    '| Export | MB | first bytes ms (limit 1000) | s (limit 60) | CPU s | memory +MB (limit 64) | console meanwhile p99 / max ms |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const figures = [row.megabytes, row.firstMs, row.seconds, row.cpuSeconds, row.grownMb].map((value) => value.toFixed(1));
      return `| ${[row.format, ...figures, `${row.p99Ms.toFixed(1)} / ${row.maxMs.toFixed(1)}`].join(' | ')} |`;
    }),
  ];
}
