import type { ReplyCheck } from '../../../settings/call-settings.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../../inference/inference-reply.ts';
import type { InferenceRequest, Turn } from '../../../../inference/inference-request.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { dialectOf } from '../plan/plan-attempt.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { SchemaChecker, SchemaVerdict } from '../schema-check/schema-checker.ts';

/** A check that is to be made. */
export type SchemaCheck = {
  readonly schema: JsonObject;
  readonly repairs: boolean;
  /** Where the client asked for it, as it spells it. */
  readonly field: string;
  readonly checker: Pick<SchemaChecker, 'prepare' | 'check'>;
  /** Whose share of the threads it takes. */
  readonly tenant: string;
};

/**
 * Whether, and how, the reply of a call may be checked. Calls that ask for no schema cost one look. With `auto`,
 * `createSchemaCheck` decides when the request is decoded.
 */
export function chooseReplyCheck(
  { strictSchema }: CallFacts,
  dialect: DialectId,
  [target]: readonly Target[],
  wanted: ReplyCheck,
): Exclude<ReplyCheck, 'off'> | undefined {
  if (strictSchema !== true || wanted === 'off' || target === undefined) return undefined;
  if (wanted !== 'auto') return wanted;
  // Bytes that pass through stay as they are, unless the operator wants otherwise.
  return target.upstream.dialects.includes(dialect) ? undefined : 'auto';
}

/** Whether the upstream that is asked first holds its reply to all of the format, as the request is written for it. */
function isHeldByUpstream(request: InferenceRequest, [target]: readonly Target[]): boolean {
  if (target === undefined) return true;
  return dialectOf(target).codec.holdsFormat(request, target.upstream.traitsOf(target.upstreamModel));
}

/** The schema of a format; any JSON is one of an object where the dialect says so, and else of any value. */
function schemaOf({ outputFormat }: InferenceRequest): JsonObject | undefined {
  if (outputFormat === undefined) return undefined;
  if (outputFormat.kind === 'json-schema') return outputFormat.schema;
  return outputFormat.isObject === true ? { type: 'object' } : {};
}

/** The check of a call whose request is decoded. Undefined where none is wanted, or needed. */
export function createSchemaCheck(
  request: InferenceRequest,
  mode: Exclude<ReplyCheck, 'off'> | undefined,
  { targets, ...parts }: Pick<SchemaCheck, 'field' | 'checker' | 'tenant'> & { readonly targets: readonly Target[] },
): SchemaCheck | undefined {
  const schema = schemaOf(request);
  if (mode === undefined || schema === undefined || (mode === 'auto' && isHeldByUpstream(request, targets))) return undefined;
  return { schema, repairs: mode !== 'report', ...parts };
}

/**
 * Checks a reply. Undefined for one that is no whole answer: cut, refused, or a call of a tool.
 * Rejects with the signal's reason where the check is given up.
 */
export async function checkReply(
  { schema, checker, tenant }: SchemaCheck,
  { stopReason, parts }: InferenceReply,
  signal: AbortSignal,
): Promise<SchemaVerdict | undefined> {
  if (stopReason !== 'end' || parts.some(({ kind }) => kind === 'refusal' || kind === 'tool-call')) return undefined;
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('');
  return await checker.check(text, schema, { tenant, signal });
}

/** The warning for a reply that could not be checked. */
export function noteUnchecked({ field }: SchemaCheck, reason: string): TranslationNote {
  return { kind: 'unchecked', field, reason: `the reply was not checked: ${reason}` };
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

/** Whether text begins, or how likely its first tokens were. */
const isOfText = (event: InferenceEvent): boolean =>
  event.type === 'logprobs' || (event.type === 'block-started' && event.block.kind === 'text');

/** Holds what a client may see of a round until its text is known to be right. */
export class HeldText {
  readonly #isChecked: boolean;
  #held: InferenceEvent[] | undefined;

  constructor(isChecked: boolean) {
    this.#isChecked = isChecked;
  }

  /** What of an event may go on. Nothing overtakes text that is held. */
  pass(event: InferenceEvent): readonly InferenceEvent[] {
    if (this.#isChecked && isOfText(event)) this.#held ??= [];
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
