import { countTextCharacters } from '../../inference/count-text-characters.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { WorkSlices } from '../../platform/yield-queue.ts';
import type { ContextFit, ContextFitting, ContextLimits } from '../chat-dialect.ts';
import { dropMiddle } from './truncate-middle.ts';

/** What a token holds on average. */
const charactersPerToken = 4;

/** More than a token holds on average in any text that is not made of one sign: long common words are single tokens. */
const charactersPerTokenMost = 16;

/** Signs that repeat more often than this, blanks above all, share tokens of a hundred and more. */
const repeatsMost = 3;

/** A picture, of which nothing is known before it is looked at. */
const tokensPerImage = 1000;

/** What a message or an item costs besides its text. */
const tokensPerItem = 4;

function countImages(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item: JsonValue) => sum + countImages(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const { type, content, output } = value as JsonObject;
  const own = type === 'input_image' || type === 'computer_screenshot' ? 1 : 0;
  return own + countImages(content) + countImages(output);
}

function estimateTokens(item: JsonValue | undefined): number {
  return Math.ceil(countTextCharacters([item]) / charactersPerToken) + countImages(item) * tokensPerImage + tokensPerItem;
}

/** Text of a request, for a bound from below. Files, pictures and what is sealed are left out: what they cost is not known. */
function gatherText(value: JsonValue | undefined, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) gatherText(item, into);
  else if (typeof value === 'object' && value !== null) {
    const { content, text, arguments: args, output, input } = value as JsonObject;
    for (const member of [content, text, args, output, input]) gatherText(member, into);
  }
}

/** What is counted in one step: a few milliseconds. */
const stepCharacters = 1024 * 1024;

/**
 * Signs of a text, in which each row of the same ones counts once. Looked at one by one, and a long text in steps between which others have their turn: a regular expression
 * takes ten times as long.
 */
async function countSigns(text: string, slices: WorkSlices): Promise<number> {
  let signs = 0;
  let row = 0;
  let last = -1;
  for (let at = 0; at < text.length;) {
    for (const end = Math.min(at + stepCharacters, text.length); at < end; at++) {
      const unit = text.charCodeAt(at);
      const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
      const sign = isPair ? unit * 0x10000 + text.charCodeAt(++at) : unit;
      if (sign === last) {
        row += 1;
        continue;
      }
      signs += row > repeatsMost ? 1 : row;
      row = 1;
      last = sign;
    }
    if (slices.isOver) await slices.yield();
  }
  return signs + (row > repeatsMost ? 1 : row);
}

/** Tokens that the text of a request has at the very least; the length alone, where that is no more than the window. */
async function countLeast(values: readonly (JsonValue | undefined)[], contextTokensMax: number): Promise<number> {
  const texts: string[] = [];
  for (const value of values) gatherText(value, texts);
  const most = Math.floor(texts.reduce((sum, text) => sum + text.length, 0) / charactersPerTokenMost);
  if (most <= contextTokensMax) return most;
  const slices = new WorkSlices();
  let signs = 0;
  for (const text of texts) signs += await countSigns(text, slices);
  return Math.floor(signs / charactersPerTokenMost);
}

/**
 * Looks whether a Responses request, its history in `input`, fits a model's window. With `truncation: "auto"` items are dropped from the
 * middle where the estimate says that it does not. Without it, what is too long with certainty is told as such; in doubt it fits, and the vendor knows,
 * unless the operator has set the window: then the same estimate decides.
 * Text of many megabytes is counted in steps.
 */
export async function fitContext(
  body: JsonObject,
  { contextTokensMax, outputTokensMax = 0, refusesEstimate }: ContextLimits,
): Promise<ContextFit> {
  const { instructions, tools, text, input } = body;
  const judge = async (items: JsonValue | undefined): Promise<ContextFit | undefined> => {
    const tokensMin = await countLeast([instructions, items], contextTokensMax);
    return tokensMin > contextTokensMax ? { kind: 'too-long', tokensMin, tokensMax: contextTokensMax } : undefined;
  };
  if (body.truncation !== 'auto' && refusesEstimate === true) {
    const items = Array.isArray(input) ? (input as readonly JsonValue[]) : [input];
    const estimated = [instructions, tools, text, ...items].reduce<number>(
      (sum, value: JsonValue | undefined) => sum + estimateTokens(value),
      0,
    );
    if (estimated > contextTokensMax) return { kind: 'too-long', tokensMin: estimated, tokensMax: contextTokensMax, isEstimate: true };
  }
  if (body.truncation !== 'auto' || !Array.isArray(input)) return (await judge(input)) ?? { kind: 'fits' };
  // A limit of the output that fills the window is no wish for so long a reply.
  const reserved = Math.min(outputTokensMax, Math.floor(contextTokensMax / 2));
  const fixed = estimateTokens(instructions) + estimateTokens(tools) + estimateTokens(text);
  const tokensMax = contextTokensMax - reserved - fixed;
  const { items, dropped, droppedIds } = dropMiddle(input as readonly JsonValue[], { tokensMax, countTokens: estimateTokens });
  if (dropped === 0) return (await judge(input)) ?? { kind: 'fits' };
  return (await judge([...items])) ?? { kind: 'truncated', body: { ...body, input: items }, dropped, droppedIds };
}

const isPresent = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

/** `truncation` of the Responses interface. */
export const contextFitting: ContextFitting = {
  fit: fitContext,
  namesHistory: ({ previous_response_id: previous, conversation }) => isPresent(previous) || isPresent(conversation),
  letsDrop: ({ truncation }) => truncation === 'auto',
  keepAll: (body) => ({ ...body, truncation: 'disabled' }),
  param: 'input',
  advice: 'Shorten it, or set truncation to auto.',
};
