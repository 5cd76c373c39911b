/** One line of the reliability table. */
export type Figure = {
  /** The promise that it measures: R3, R4, … */
  readonly row: string;
  readonly what: string;
  readonly measured: string;
  readonly gate: string;
  readonly isMet: boolean;
  /** Details for debugging. Not part of the table. */
  readonly examples?: readonly string[];
};

/** The figures as a Markdown table. */
export function writeTable(figures: readonly Figure[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const lines = figures.map(
    ({ row, what, measured, gate, isMet }) =>
      `| ${row} | ${cell(what)} | ${cell(measured)} | ${cell(gate)} | ${isMet ? 'yes' : '**no**'} |`,
  );
  return ['| | What | Measured | Gate | Met |', '|---|---|---|---|---|', ...lines, ''].join('\n');
}

/** Formats milliseconds for people. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return 'never';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Formats bytes for people. */
export function size(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
