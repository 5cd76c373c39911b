import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findMissingLine } from './compare-output.ts';
import type { Block } from './read-page.ts';

/** The environment of a page's commands. */
export type PageSurroundings = {
  readonly directory: string;
  /** Replaced in commands and files before they are used: addresses, keys, future days. */
  readonly replacements: readonly (readonly [string, string])[];
  readonly environment: Readonly<Record<string, string>>;
  /** Defines `weir`. */
  readonly prelude: string;
};

/** Between the outputs of two blocks. */
const divider = '\u001e';
const pageLimitMs = 90_000;

/** Replaces values that differ in the test of a page. */
export function adapt(text: string, { replacements }: Pick<PageSurroundings, 'replacements'>): string {
  return replacements.reduce((adapted, [from, to]) => adapted.replaceAll(from, to), text);
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * One shell runs the blocks in their order, so that later ones have the variables and files of earlier ones. It ends
 * with the first failure.
 */
function writeScript(blocks: readonly Block[], surroundings: PageSurroundings): string {
  const steps = blocks.map((block, place) => {
    const text = adapt(block.text, surroundings);
    const { marker } = block;
    if (marker?.type === 'file') return `printf '%s' ${quote(text)} > ${quote(marker.value)}`;
    const run = marker?.type === 'exit code' ? `code=0\n{ ${text}} || code=$?\n[ "$code" = ${marker.value} ]` : text;
    return `printf '${divider}%s\\n' ${place}\n${run}`;
  });
  return ['set -eu -o pipefail', 'exec 2>&1', surroundings.prelude, ...steps, `printf '${divider}end\\n'`].join('\n');
}

/** Whether a block is a command that is run, or a file that is written for one. */
export function isRun({ language, marker }: Block): boolean {
  return (language === 'sh' && marker?.type !== 'not run' && marker?.type !== 'run by') || marker?.type === 'file';
}

/**
 * Runs the commands of a page in a directory of its own. Returns the errors: commands that failed, and samples that
 * differ from the output.
 */
export async function runPage(page: readonly Block[], surroundings: PageSurroundings): Promise<readonly string[]> {
  const run = page.filter(isRun);
  if (!run.some(({ language }) => language === 'sh')) return [];
  const { directory, environment } = surroundings;
  await mkdir(directory, { recursive: true });
  // Curl fails if the gateway refuses, shows no progress, and ends its output with a line.
  await writeFile(join(directory, '.curlrc'), 'fail-with-body\nsilent\nshow-error\nmax-time = 60\nwrite-out = "\\n"\n');
  const script = join(directory, '.page.sh');
  await writeFile(script, writeScript(run, surroundings));
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, ...environment };
  const printed = await new Promise<string>((resolve) => {
    execFile('bash', [script], { cwd: directory, env, timeout: pageLimitMs, maxBuffer: 64 << 20 }, (_error, stdout) => resolve(stdout));
  });
  return judge(page, run, printed);
}

function judge(page: readonly Block[], run: readonly Block[], printed: string): readonly string[] {
  const outputs = new Map<Block | undefined, string>();
  const wrong: string[] = [];
  let last = '';
  for (const piece of printed.split(divider).slice(1)) {
    const [place = '', ...lines] = piece.split('\n');
    last = place;
    outputs.set(run[Number(place)], lines.join('\n'));
  }
  if (last !== 'end') {
    const block = run[Number(last)];
    wrong.push(`line ${block?.line ?? 0}: this failed:\n${block?.text ?? ''}\n${outputs.get(block) ?? printed}`);
  }
  for (const [index, block] of page.entries()) {
    const output = outputs.get(page[index - 1]);
    if (block.language !== 'text' || output === undefined || block.marker !== undefined) continue;
    const missing = findMissingLine(block.text, output);
    if (missing !== undefined) wrong.push(`line ${block.line}: the sample has\n${missing}\nbut the output was:\n${output}`);
  }
  return wrong;
}
