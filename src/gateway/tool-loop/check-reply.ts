import type { CallFacts } from '../../inference/call-facts.ts';
import type { DialectId } from '../../dialects/chat-dialect.ts';
import { checkReplySchema } from '../../inference/check-reply-schema.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../inference/inference-event.ts';
import type { InferenceReply } from '../../inference/inference-reply.ts';
import type { OutputFormat, Turn } from '../../inference/inference-request.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { Target } from '../routing/routing-table.ts';

/**
 * What becomes of a reply that does not fit the schema its client asked for strictly. `off`: it is not looked at; `report`: it is an error; `repair`: the model
 * is asked once more, then it is an error. `auto`: `repair` for translated calls in which a forced tool stands in for the schema, else `off`.
 */
export type ReplyCheck = 'auto' | 'off' | 'report' | 'repair';

/** A check that is to be made. */
export type SchemaCheck = { readonly schema: JsonObject; readonly repairs: boolean };

/** Whether, and how, the reply of a call is checked. Calls that ask for no schema cost one look. */
export function chooseReplyCheck(
  { strictSchema }: CallFacts,
  dialect: DialectId,
  [target]: readonly Target[],
  wanted: ReplyCheck,
): 'report' | 'repair' | undefined {
  if (strictSchema !== true || wanted === 'off' || target === undefined) return undefined;
  if (wanted !== 'auto') return wanted;
  const { upstream, upstreamModel } = target;
  // Bytes that pass through stay as they are, unless the operator wants otherwise.
  if (upstream.dialects.includes(dialect)) return undefined;
  return upstream.traitsOf(upstreamModel).structuredOutput ? undefined : 'repair';
}

/** The check of a call whose request is decoded. */
export function createSchemaCheck(format: OutputFormat | undefined, mode: 'report' | 'repair' | undefined): SchemaCheck | undefined {
  return mode === undefined || format?.kind !== 'json-schema' ? undefined : { schema: format.schema, repairs: mode === 'repair' };
}

/** What is wrong with a reply; undefined for one that fits, that cannot be judged, or that is no whole answer: cut, refused, or a call of a tool. */
export function findProblems({ schema }: SchemaCheck, { stopReason, parts }: InferenceReply): readonly string[] | undefined {
  if (stopReason !== 'end' || parts.some(({ kind }) => kind === 'refusal' || kind === 'tool-call')) return undefined;
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('');
  const verdict = checkReplySchema(text, schema);
  return verdict.kind === 'fails' ? verdict.problems : undefined;
}

/** What the conversation goes on with when the model is asked once more. */
export function askForRepair({ parts }: InferenceReply, problems: readonly string[]): readonly Turn[] {
  const listed = problems.map((problem) => `- ${problem}`).join('\n');
  const text = `This answer does not fit the JSON schema that was asked for:\n${listed}\nGive the whole answer again, as JSON that fits the schema, and nothing else.`;
  return [
    { role: 'assistant', parts },
    { role: 'user', parts: [{ kind: 'text', text }] },
  ];
}

export function describeMisfit(problems: readonly string[]): GatewayError {
  const told = problems.join('; ').slice(0, 1000);
  return new GatewayError('upstream_invalid_reply', `The model's answer does not fit the JSON schema that was asked for: ${told}.`);
}

/** Holds what a client may see of a round until its text is known to be right. */
export class HeldText {
  readonly #isChecked: boolean;
  #held: InferenceEvent[] | undefined;

  constructor(isChecked: boolean) {
    this.#isChecked = isChecked;
  }

  /** What of an event may go on. Nothing overtakes text that is held. */
  pass(event: InferenceEvent): readonly InferenceEvent[] {
    if (this.#isChecked && event.type === 'block-started' && event.block.kind === 'text') this.#held ??= [];
    if (this.#held === undefined) return [event];
    this.#held.push(event);
    return [];
  }

  /** Ends the round: what was held is given out, or forgotten. */
  release(): readonly InferenceEvent[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    return held;
  }
}
