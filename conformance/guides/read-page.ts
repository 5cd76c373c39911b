/** A fenced block of a page, with the comment right above it, which sets its treatment. */
export type Block = {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly marker?: Marker;
};

/**
 * `<!-- not run: reason -->`, `<!-- run by: path of the test -->`, `<!-- file: name -->` (the block is the content of
 * that file), `<!-- exit code: 1 -->`.
 */
type Marker = {
  readonly type: 'not run' | 'run by' | 'file' | 'exit code';
  readonly value: string;
};

const markerLine = /^<!-- (not run|run by|file|exit code): (\S.*?) -->$/;

function readMarker(line: string | undefined): Marker | undefined {
  const [, type, value] = markerLine.exec(line?.trim() ?? '') ?? [];
  return type === undefined || value === undefined ? undefined : { type: type as Marker['type'], value };
}

/** Reads the fenced blocks of a page in their order. Throws if a fence is not closed. */
export function readPage(page: string): readonly Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let place = 0; place < lines.length; place += 1) {
    const [, indent = '', language = ''] = /^(\s*)```(\w*)$/.exec(lines[place] ?? '') ?? [];
    if (lines[place]?.trim().startsWith('```') !== true) continue;
    const end = lines.findIndex((line, index) => index > place && line === `${indent}\`\`\``);
    if (end === -1) throw new Error(`line ${place + 1}: the fence is never closed`);
    const text = lines.slice(place + 1, end).map((line) => line.slice(indent.length));
    const marker = readMarker(lines[place - 1]);
    blocks.push({ language, text: `${text.join('\n')}\n`, line: place + 1, ...(marker === undefined ? {} : { marker }) });
    place = end;
  }
  return blocks;
}
