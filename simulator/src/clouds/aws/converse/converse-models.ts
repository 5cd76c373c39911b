/** What a simulated model takes. */
export type ConverseModel = {
  readonly names: RegExp;
  /** Whether it exists only as an inference profile. */
  readonly needsProfile?: true;
  readonly system?: false;
  readonly tools: 'none' | 'whole' | 'streamed';
  readonly choices: readonly string[];
  readonly media: readonly string[];
  readonly caches?: true;
  readonly stopSequencesMax: number;
  readonly schemas?: true;
  readonly status?: true;
  readonly thinks?: 'always' | 'asked';
  /** The members of `additionalModelRequestFields`. */
  readonly fields: readonly string[];
};

const nova = {
  tools: 'streamed',
  choices: ['auto', 'any', 'tool'],
  media: ['image', 'document', 'video'],
  caches: true,
  stopSequencesMax: 4,
  status: true,
} as const;

/** Models as the table of the user guide describes them; the first that matches. */
const models: readonly ConverseModel[] = [
  { names: /^amazon\.nova-2-lite-v1:0$/, needsProfile: true, ...nova, thinks: 'asked', fields: ['inferenceConfig', 'reasoningConfig'] },
  { names: /^amazon\.nova-micro-v1:0$/, ...nova, media: [], fields: ['inferenceConfig'] },
  { names: /^amazon\.nova-(?:lite|pro)-v1:0$/, ...nova, fields: ['inferenceConfig'] },
  {
    names: /^meta\.llama(?:3-3-70b|3-1-\d+b)-instruct-v1:0$/,
    tools: 'whole',
    choices: ['auto'],
    media: ['document'],
    stopSequencesMax: 0,
    fields: [],
  },
  {
    names: /^meta\.llama4-(?:scout|maverick)-.*-v1:0$/,
    needsProfile: true,
    tools: 'whole',
    choices: ['auto'],
    media: ['document', 'image'],
    stopSequencesMax: 0,
    fields: [],
  },
  { names: /^meta\.llama3-\d+b-instruct-v1:0$/, tools: 'none', choices: [], media: ['document'], stopSequencesMax: 0, fields: [] },
  {
    names: /^mistral\.mistral-large-24\d\d-v1:0$/,
    tools: 'whole',
    choices: ['auto', 'any'],
    media: ['document'],
    stopSequencesMax: 10,
    fields: ['top_k'],
  },
  {
    names: /^mistral\.mistral-7b-instruct-v0:2$/,
    system: false,
    tools: 'none',
    choices: [],
    media: ['document'],
    stopSequencesMax: 10,
    fields: ['top_k'],
  },
  {
    names: /^deepseek\.r1-v1:0$/,
    needsProfile: true,
    tools: 'none',
    choices: [],
    media: ['document'],
    stopSequencesMax: 10,
    thinks: 'always',
    fields: [],
  },
  {
    names: /^deepseek\.v3\.2$/,
    tools: 'streamed',
    choices: ['any', 'tool'],
    media: ['document'],
    stopSequencesMax: 10,
    schemas: true,
    fields: [],
  },
  {
    names: /^qwen\.qwen3-[a-z0-9-]+-v1:0$/,
    tools: 'streamed',
    choices: ['auto'],
    media: ['document'],
    stopSequencesMax: 10,
    schemas: true,
    fields: [],
  },
];

/** The model behind an id, and whether the id names it with the regions of a profile. */
export function findConverseModel(
  id: string,
): { readonly model: ConverseModel; readonly base: string; readonly isProfile: boolean } | undefined {
  const inArn = /^arn:aws:bedrock:[a-z0-9-]+:\d*:(?:inference-profile|foundation-model)\/(.+)$/.exec(id)?.[1] ?? id;
  const base = inArn.replace(/^(?:us|eu|apac|global)\./, '');
  const model = models.find(({ names }) => names.test(base));
  return model === undefined ? undefined : { model, base, isProfile: base !== inArn };
}
