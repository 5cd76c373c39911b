import type { RequestFeatures } from '../../../dialects/chat-dialect.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';

/** The conditions that a call must meet for a target. All conditions that are present must hold. */
export type TargetConditions = {
  readonly dialects?: readonly DialectId[];
  /** True: only calls with images; false: only calls without. The next ones work in the same way. */
  readonly images?: boolean;
  readonly documents?: boolean;
  readonly audio?: boolean;
  readonly tools?: boolean;
  readonly stream?: boolean;
  /**
   * Bounds of the input that is estimated from its text, both inclusive. Media and the requested output are not
   * included.
   */
  readonly inputTokensMin?: number;
  readonly inputTokensMax?: number;
};

/** A call that is compared with conditions. The features are read only if a condition needs one. */
export type ConditionedCall = {
  /** Absent if the call is not a chat. */
  readonly dialect: DialectId | undefined;
  readonly facts: Pick<CallFacts, 'stream' | 'inputCharacters'>;
  readonly features: () => RequestFeatures;
};

const featureNames = ['images', 'documents', 'audio', 'tools'] as const;

/**
 * The first condition that the call does not meet, worded to follow "takes": `calls without images`. Undefined if it
 * meets all.
 */
export function findUnmetCondition(when: TargetConditions, call: ConditionedCall): string | undefined {
  if (when.dialects?.every((dialect) => dialect !== call.dialect) === true) return `calls of ${when.dialects.join(' and ')}`;
  if (when.stream !== undefined && when.stream !== call.facts.stream) return wordStream(when.stream);
  const unmet = findUnmetBound(when, call.facts.inputCharacters);
  if (unmet !== undefined) return unmet;
  for (const name of featureNames) {
    const required = when[name];
    if (required !== undefined && required !== call.features()[name]) return wordFeature(name, required);
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

/** All conditions as text: `with images, at most 200000 input tokens`. */
export function describeConditions(when: TargetConditions): string {
  const words: string[] = [];
  if (when.dialects !== undefined) words.push(`from ${when.dialects.join(', ')}`);
  if (when.stream !== undefined) words.push(when.stream ? 'streams' : 'whole replies');
  for (const name of featureNames) {
    const required = when[name];
    if (required !== undefined) words.push(`${required ? 'with' : 'without'} ${name}`);
  }
  if (when.inputTokensMin !== undefined) words.push(`at least ${when.inputTokensMin} input tokens`);
  if (when.inputTokensMax !== undefined) words.push(`at most ${when.inputTokensMax} input tokens`);
  return words.join(', ');
}

function wordFeature(name: (typeof featureNames)[number], required: boolean): string {
  return `calls ${required ? 'with' : 'without'} ${name}`;
}

function wordStream(required: boolean): string {
  return required ? 'calls for a stream' : 'calls for a whole reply';
}
