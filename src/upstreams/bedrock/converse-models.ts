import type { ConverseTraits, ModelTraits } from '../../inference/model-traits.ts';
import { usualServerTraits } from '../usual-server-traits.ts';

/**
 * A newer model of a maker that is not in the table. Functions work in whole replies of every model that has them, so
 * streams with functions are asked for as whole replies.
 */
const usual: ConverseTraits = {
  systemText: true,
  tools: 'whole',
  forcedTools: [],
  resultStatus: false,
  media: ['file'],
  cachePoints: [],
  stopSequencesMax: 4,
};

type Row = {
  /** The name without regions: `amazon.nova-pro-v1:0`. */
  readonly names: RegExp;
  readonly converse?: Partial<ConverseTraits>;
  readonly traits?: Partial<Omit<ModelTraits, 'chat' | 'converse'>>;
};

const noSchemas = { structuredOutput: false } as const;
/** Nova reads only type, properties and required at the top of a function's schema. */
const nova = {
  structuredOutput: false,
  jsonSchemaTools: false,
  imagesInToolResults: true,
  contextTokensMax: 300_000,
  outputTokensMax: 10_000,
} as const;
const novaConverse = {
  tools: 'streamed',
  forcedTools: ['any', 'tool'],
  resultStatus: true,
  media: ['image', 'file', 'video'],
  cachePoints: ['system', 'messages'],
  topKField: ['inferenceConfig', 'topK'],
} as const;

/**
 * The models of Converse; the first row that matches applies. Sources:
 * - system text, media and functions: "supported models and model features" of the Bedrock user guide;
 * - results of functions: ToolResultBlock and ToolResultContentBlock of the API reference;
 * - schemas: "structured outputs" of the user guide;
 * - caches, top-k and thinking: the user guides of Nova;
 * - choices of functions, functions in streams: langchain-aws, `chat_models/bedrock_converse.py`.
 */
const rows: readonly Row[] = [
  {
    names: /^amazon\.nova-2/,
    converse: novaConverse,
    traits: { ...nova, reasoning: 'effort', efforts: ['low', 'medium', 'high'], contextTokensMax: 1_000_000, outputTokensMax: 65_535 },
  },
  { names: /^amazon\.nova-premier/, converse: novaConverse, traits: { ...nova, contextTokensMax: 1_000_000 } },
  { names: /^amazon\.nova-micro/, converse: { ...novaConverse, media: [] }, traits: { ...nova, contextTokensMax: 128_000 } },
  { names: /^amazon\.nova/, converse: novaConverse, traits: nova },
  { names: /^amazon\.titan-text-premier/, converse: { systemText: false, tools: 'none', media: [] }, traits: noSchemas },
  { names: /^amazon\.titan/, converse: { systemText: false, tools: 'none' }, traits: noSchemas },
  { names: /^ai21\.jamba-instruct/, converse: { tools: 'none', media: [] }, traits: noSchemas },
  { names: /^ai21\./, converse: { tools: 'streamed' }, traits: noSchemas },
  { names: /^cohere\.command-r/, converse: { tools: 'streamed', topKField: ['k'] }, traits: noSchemas },
  { names: /^cohere\./, converse: { tools: 'none' }, traits: noSchemas },
  { names: /^meta\.llama4/, converse: { media: ['image', 'file'], stopSequencesMax: 0 }, traits: noSchemas },
  { names: /^meta\.llama3-2-(?:11|90)b/, converse: { media: ['image', 'file'], stopSequencesMax: 0 }, traits: noSchemas },
  { names: /^meta\.llama(?:3-2|3-\d+b|2)/, converse: { tools: 'none', stopSequencesMax: 0 }, traits: noSchemas },
  { names: /^meta\./, converse: { stopSequencesMax: 0 }, traits: noSchemas },
  { names: /^mistral\.(?:mistral-7b|mixtral)/, converse: { systemText: false, tools: 'none' }, traits: noSchemas },
  { names: /^mistral\.mistral-large-24/, converse: { forcedTools: ['any'], topKField: ['top_k'] }, traits: noSchemas },
  { names: /^mistral\.pixtral/, converse: { media: ['image', 'file'] }, traits: noSchemas },
  { names: /^mistral\.(?:mistral-large-3|ministral)/, converse: { media: ['image', 'file'] } },
  { names: /^mistral\.mistral-small/, traits: noSchemas },
  { names: /^deepseek\.r1/, converse: { tools: 'none' }, traits: { ...noSchemas, alwaysReasons: true } },
  { names: /^deepseek\.v3-v1/, converse: { tools: 'streamed', forcedTools: ['any'] } },
  { names: /^deepseek\./, converse: { tools: 'streamed', forcedTools: ['any', 'tool'] } },
  { names: /^qwen\.qwen3-vl/, converse: { tools: 'streamed', media: ['image', 'file'] } },
  { names: /^qwen\./, converse: { tools: 'streamed' } },
  { names: /^google\.gemma/, converse: { media: ['image', 'file'] } },
  { names: /^writer\./, traits: noSchemas },
  { names: /^(?:nvidia|minimax|moonshot|moonshotai)\./ },
];

/** The traits of a model that is called through Converse, by its name without regions. */
export function traitsOfConverse(name: string): ModelTraits {
  const row = rows.find(({ names }) => names.test(name));
  // An unknown model gets only requests that every model takes.
  const traits = row === undefined ? noSchemas : row.traits;
  return { ...usualServerTraits, fetchesUrls: false, ...traits, converse: { ...usual, ...row?.converse } };
}
