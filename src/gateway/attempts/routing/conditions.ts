import type { RequestFeatures } from '../../../dialects/chat-dialect.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';

/** What a call must be like for a target to take it. Every condition that is given has to hold. */
export type TargetConditions = {
  readonly dialects?: readonly DialectId[];
  /** True: only calls with images; false: only calls without. The same for the next ones. */
  readonly images?: boolean;
  readonly documents?: boolean;
  readonly audio?: boolean;
  readonly tools?: boolean;
  readonly stream?: boolean;
  /** Bounds of the input as it is estimated from its text, both inclusive. Media and the output that was asked for are not in it. */
  readonly inputTokensMin?: number;
  readonly inputTokensMax?: number;
};

/** What conditions are held against. The features are read only where a condition asks for one. */
export type ConditionedCall = {
  /** Absent in what is no chat. */
  readonly dialect: DialectId | undefined;
  readonly facts: Pick<CallFacts, 'stream' | 'inputCharacters'>;
  readonly features: () => RequestFeatures;
};

const featureNames = ['images', 'documents', 'audio', 'tools'] as const;

/** The first condition that the call does not meet, in words that follow "takes": `calls without images`. Undefined when it meets all. */
export function findUnmetCondition(when: TargetConditions, call: ConditionedCall): string | undefined {
  if (when.dialects?.every((dialect) => dialect !== call.dialect) === true) return `calls of ${when.dialects.join(' and ')}`;
  if (when.stream !== undefined && when.stream !== call.facts.stream) return wordStream(when.stream);
  const unmet = findUnmetBound(when, call.facts.inputCharacters);
  if (unmet !== undefined) return unmet;
  for (const name of featureNames) {
    const wanted = when[name];
    if (wanted !== undefined && wanted !== call.features()[name]) return wordFeature(name, wanted);
  }
  return undefined;
}

function findUnmetBound({ inputTokensMin, inputTokensMax }: TargetConditions, inputCharacters: number): string | undefined {
  if (inputTokensMin === undefined && inputTokensMax === undefined) return undefined;
  const tokens = estimateTokens(inputCharacters);
  if (inputTokensMax !== undefined && tokens > inputTokensMax)
    return `calls of at most ${inputTokensMax} input tokens (this one has about ${tokens})`;
  if (inputTokensMin !== undefined && tokens < inputTokensMin)
    return `calls of at least ${inputTokensMin} input tokens (this one has about ${tokens})`;
  return undefined;
}

/** All conditions in words, for people: `with images, at most 200000 input tokens`. */
export function describeConditions(when: TargetConditions): string {
  const words: string[] = [];
  if (when.dialects !== undefined) words.push(`from ${when.dialects.join(', ')}`);
  if (when.stream !== undefined) words.push(when.stream ? 'streams' : 'whole replies');
  for (const name of featureNames) {
    const wanted = when[name];
    if (wanted !== undefined) words.push(`${wanted ? 'with' : 'without'} ${name}`);
  }
  if (when.inputTokensMin !== undefined) words.push(`at least ${when.inputTokensMin} input tokens`);
  if (when.inputTokensMax !== undefined) words.push(`at most ${when.inputTokensMax} input tokens`);
  return words.join(', ');
}

function wordFeature(name: (typeof featureNames)[number], wanted: boolean): string {
  return `calls ${wanted ? 'with' : 'without'} ${name}`;
}

function wordStream(wanted: boolean): string {
  return wanted ? 'calls for a stream' : 'calls for a whole reply';
}
