import { asText, isRecord } from '../../read-json.ts';
import { deriveId } from '../../seeded-random.ts';
import type { Json, JsonRecord, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';

/** Words by which a category is recognised; a category without words is never recognised. */
const wordsByCategory: Readonly<Record<string, RegExp | undefined>> = {
  hate: /\bhate(?:s|d|ful)?\b/i,
  'hate/threatening': undefined,
  harassment: /\bidiot|stupid\b/i,
  'harassment/threatening': undefined,
  illicit: /\b(?:steal|forge|launder)/i,
  'illicit/violent': undefined,
  'self-harm': /\bhurt myself\b/i,
  'self-harm/intent': /\bhurt myself\b/i,
  'self-harm/instructions': undefined,
  sexual: /\bnude\b/i,
  'sexual/minors': undefined,
  violence: /\b(?:kill|murder|stab)/i,
  'violence/graphic': undefined,
};
const judgedInPictures = /^(?:self-harm|sexual$|violence)/;

/** POST /v1/moderations; undefined for every other route. */
export function handleModerations(request: SimulatedRequest): SimulatedReply | undefined {
  if (request.path !== '/v1/moderations' || request.method !== 'POST') return undefined;
  const { model = 'omni-moderation-latest', input } = request.body ?? {};
  const inputs = readInputs(input);
  const id = `modr-${deriveId(JSON.stringify(input))}`;
  const body = { id, model: asText(model), results: inputs.map(judge) };
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

type Input = { readonly text: string; readonly types: readonly string[] };

function readInputs(input: Json | undefined): readonly Input[] {
  if (typeof input === 'string') return [{ text: input, types: ['text'] }];
  if (!Array.isArray(input) || input.length === 0)
    throw refuse("Missing required parameter: 'input'.", { param: 'input', code: 'missing_required_parameter' });
  if (input.every((item) => typeof item === 'string')) return input.map((text) => ({ text, types: ['text'] }));
  const parts = input.filter(isRecord);
  if (parts.length < input.length) throw refuse("Invalid type for 'input'.", { param: 'input', code: 'invalid_type' });
  const types = new Set(parts.map(({ type }) => (type === 'image_url' ? 'image' : 'text')));
  return [{ text: parts.map(({ text }) => asText(text)).join('\n'), types: [...types] }];
}

function judge({ text, types }: Input): JsonRecord {
  const names = Object.keys(wordsByCategory);
  const flags = names.map((name): [string, boolean] => [name, wordsByCategory[name]?.test(text) === true]);
  return {
    flagged: flags.some(([, flag]) => flag),
    categories: Object.fromEntries(flags),
    category_scores: Object.fromEntries(flags.map(([name, flag]) => [name, flag ? 0.93 : 0.00012])),
    category_applied_input_types: Object.fromEntries(
      names.map((name) => [name, types.filter((type) => type === 'text' || judgedInPictures.test(name))]),
    ),
  };
}
