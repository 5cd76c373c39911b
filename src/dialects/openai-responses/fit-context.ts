import { countTextCharacters } from '../../inference/count-text-characters.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { WorkSlices } from '../../platform/yield-queue.ts';
import type { ContextFit, ContextFitting, ContextLimits } from '../chat-dialect.ts';
import { dropMiddle } from './truncate-middle.ts';

/** Average characters per token. */
const charactersPerToken = 4;

/**
 * An upper bound of characters per token in any text that does not repeat one character: long common words are single
 * tokens.
 */
const charactersPerTokenMost = 16;

/** Characters that repeat more often than this, above all blanks, share tokens of a hundred and more. */
const repeatsMost = 3;

/** An estimate, because nothing is known about an image before it is read. */
const tokensPerImage = 1000;

/** The overhead of a message or an item beside its text. */
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

/**
 * Collects text of a request for a lower bound. Files, images and encrypted content are omitted, because their cost is
 * unknown.
 */
function gatherText(value: JsonValue | undefined, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) gatherText(item, into);
  else if (typeof value === 'object' && value !== null) {
    const { content, text, arguments: args, output, input } = value as JsonObject;
    for (const member of [content, text, args, output, input]) gatherText(member, into);
  }
}

/** Characters that are counted in one step of a few milliseconds. */
const stepCharacters = 256 * 1024;

/**
 * Counts the characters of a text, and a run of equal ones as at most `repeatsMost`. Characters are compared one by
 * one, because a regular expression takes ten times as long. A long text is counted in steps that yield to the event
 * loop.
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

/**
 * A lower bound for the tokens of a request's text. If the length alone is within the context window, it is the length.
 */
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
 * Checks whether a Responses request with its history in `input` fits a model's context window.
 *
 * - With `truncation: "auto"`, items are dropped from the middle if the estimate exceeds the window.
 * - Otherwise a request is refused only if it is certainly too long, because in doubt the vendor decides. If the
 *   operator has configured the window, the estimate decides.
 *
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
  // An output limit that fills the window does not mean that such a long reply is expected.
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
