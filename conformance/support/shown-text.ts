import { estimateTokens } from '../../src/inference/count-text-characters.ts';

/** The amount of a reply's text that its client had at a time of its own clock. */
export type ShownText = { readonly atMs: number; readonly characters: number };

/** The number of bytes of a body that had arrived at a time. */
export type Arrival = { readonly atMs: number; readonly bytes: number };

/** The text that a frame adds, as a JSON string. Frames that repeat the whole text at the end do not match. */
const deltas: Readonly<Record<string, RegExp>> = {
  'anthropic-messages': /"type":\s*"text_delta",\s*"text":\s*("(?:[^"\\]|\\.)*")/g,
  'openai-responses': /"type":\s*"response\.output_text\.delta"[^\n]*?"delta":\s*("(?:[^"\\]|\\.)*")/g,
  'openai-chat': /"delta":\s*\{[^{}\n]*?"content":\s*("(?:[^"\\]|\\.)*")/g,
  'gemini-generate-content': /"text":\s*("(?:[^"\\]|\\.)*")/g,
};

/**
 * Computes from the bytes of a stream when its client had how much of the text: one element per frame with text, in
 * order.
 */
export function readShownText(dialect: string, body: Buffer, arrivals: readonly Arrival[]): readonly ShownText[] {
  const pattern = deltas[dialect];
  if (pattern === undefined) return [];
  const shown: ShownText[] = [];
  let characters = 0;
  let arrival = 0;
  // One character per byte, so that positions in the text are positions in the body.
  for (const found of body.toString('latin1').matchAll(pattern)) {
    const end = found.index + found[0].length;
    while (arrival < arrivals.length - 1 && (arrivals[arrival]?.bytes ?? 0) < end) arrival += 1;
    characters += (JSON.parse(Buffer.from(found[1] ?? '""', 'latin1').toString()) as string).length;
    shown.push({ atMs: arrivals[arrival]?.atMs ?? Number.POSITIVE_INFINITY, characters });
  }
  return shown;
}

/** A gateway records the usage of a stream when data arrives and the last record is this old. */
const noteEveryMs = 200;
/** Clocks are read in whole milliseconds. */
const clockMs = 2;

/**
 * The output tokens that a gateway has certainly recorded before it died. It writes a progress record before it passes
 * data on. Its client received a last frame, so the gateway handled data after the upstream had emitted everything
 * before that frame. Text that the client had received by then for longer than the recording interval is in a record,
 * however seldom any of the processes ran. Stalled processes make this figure smaller, and never wrong.
 */
export function notedTokensMin(
  shown: readonly ShownText[],
  emissions: readonly { readonly tokens: number; readonly atMs: number }[],
): number {
  const tokensBefore = estimateTokens(shown.at(-2)?.characters ?? 0);
  const lastAtMs = emissions.findLast(({ tokens }) => tokens <= tokensBefore)?.atMs ?? 0;
  return estimateTokens(shown.findLast(({ atMs }) => atMs <= lastAtMs - noteEveryMs - clockMs)?.characters ?? 0);
}
