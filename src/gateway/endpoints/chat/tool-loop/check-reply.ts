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
import type { ChatServices } from '../chat-services.ts';

/** The check of a call's reply. */
export type SchemaCheck = {
  readonly schema: JsonObject;
  readonly repairs: boolean;
  /** The client's field that asks for it. */
  readonly field: string;
  readonly checker: Pick<SchemaChecker, 'prepare' | 'check'>;
  /** The tenant to whose share of the threads it counts. */
  readonly tenant: string;
};

/**
 * Whether and how the reply of a call may be checked. A call without a schema costs one comparison. With `auto`,
 * `createSchemaCheck` decides after the request was decoded.
 */
export function chooseReplyCheck(
  { strictSchema }: CallFacts,
  dialect: DialectId,
  [target]: readonly Target[],
  mode: ReplyCheck,
): Exclude<ReplyCheck, 'off'> | undefined {
  if (strictSchema !== true || mode === 'off' || target === undefined) return undefined;
  if (mode !== 'auto') return mode;
  // Bytes that pass through stay as they are, unless the operator asks for a check.
  return target.upstream.dialects.includes(dialect) ? undefined : 'auto';
}

/** Whether the first target's upstream enforces the complete format of the request. */
function isEnforcedByUpstream(request: InferenceRequest, [target]: readonly Target[]): boolean {
  if (target === undefined) return true;
  return dialectOf(target).codec.holdsFormat(request, target.upstream.traitsOf(target.upstreamModel));
}

/**
 * The schema of a format. For any JSON it is that of an object if the dialect requires one, otherwise that of any
 * value.
 */
function schemaOf({ outputFormat }: InferenceRequest): JsonObject | undefined {
  if (outputFormat === undefined) return undefined;
  if (outputFormat.kind === 'json-schema') return outputFormat.schema;
  return outputFormat.isObject === true ? { type: 'object' } : {};
}

/** The check of a call with a decoded request. Undefined if it is off or not needed. */
export function createSchemaCheck(
  request: InferenceRequest,
  mode: Exclude<ReplyCheck, 'off'> | undefined,
  { targets, ...parts }: Pick<SchemaCheck, 'field' | 'checker' | 'tenant'> & { readonly targets: readonly Target[] },
): SchemaCheck | undefined {
  const schema = schemaOf(request);
  if (mode === undefined || schema === undefined || (mode === 'auto' && isEnforcedByUpstream(request, targets))) return undefined;
  return { schema, repairs: mode !== 'report', ...parts };
}

/**
 * Checks a reply. Undefined if it is not a complete answer: cut, refused, or a call of a tool.
 * Rejects with the signal's reason if that aborts.
 */
async function checkReply(
  { schema, checker, tenant }: SchemaCheck,
  { stopReason, parts }: InferenceReply,
  signal: AbortSignal,
): Promise<SchemaVerdict | undefined> {
  if (stopReason !== 'end' || parts.some(({ kind }) => kind === 'refusal' || kind === 'tool-call')) return undefined;
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('');
  return await checker.check(text, schema, { tenant, signal });
}

/** The warning for a reply that could not be checked. */
function noteUnchecked({ field }: SchemaCheck, reason: string): TranslationNote {
  return { kind: 'unchecked', field, reason: `the reply was not checked: ${reason}` };
}

/** The turns that ask the model once more. */
export function requestRepair({ parts }: InferenceReply, problems: readonly string[]): readonly Turn[] {
  const listed = problems.map((problem) => `- ${problem}`).join('\n');
  const text = `This answer does not fit the required JSON schema:\n${listed}\nGive the whole answer again, as JSON that fits the schema, and nothing else.`;
  return [
    { role: 'assistant', parts },
    { role: 'user', parts: [{ kind: 'text', text }] },
  ];
}

/** The error for a reply that does not fit its schema. */
export function describeMisfit(problems: readonly string[]): GatewayError {
  const listed = problems.join('; ').slice(0, 1000);
  return new GatewayError('upstream_invalid_reply', `The model's answer does not fit the JSON schema of the request: ${listed}.`);
}

/** Whether text begins, or the log probabilities of its first tokens. */
const isOfText = (event: InferenceEvent): boolean =>
  event.type === 'logprobs' || (event.type === 'block-started' && event.block.kind === 'text');

/** Holds the events of a round for the client until its text has been checked. */
export class HeldText {
  readonly #isChecked: boolean;
  #held: InferenceEvent[] | undefined;

  constructor(isChecked: boolean) {
    this.#isChecked = isChecked;
  }

  /** The events that may pass now. Nothing overtakes held text. */
  pass(event: InferenceEvent): readonly InferenceEvent[] {
    if (this.#isChecked && isOfText(event)) this.#held ??= [];
    if (this.#held === undefined) return [event];
    this.#held.push(event);
    return [];
  }

  /** Ends the round and returns the held events, which the caller shows or drops. */
  release(): readonly InferenceEvent[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    return held;
  }
}

/** The parts of a loop that its checks need. */
type CheckedLoop = {
  readonly check?: SchemaCheck | undefined;
  readonly reply: { readonly note: (note: TranslationNote) => boolean };
  readonly prepared: { readonly call: { readonly callId: string } };
};

/**
 * The checks of one call's replies. A reply that cannot be checked is delivered with a note for the client, and logged.
 */
export class ReplyChecks {
  readonly #logger: ChatServices['logger'];
  readonly #loop: CheckedLoop;
  readonly #signal: AbortSignal;
  #isRepaired = false;

  constructor({ logger }: Pick<ChatServices, 'logger'>, loop: CheckedLoop, signal: AbortSignal) {
    this.#logger = logger;
    this.#loop = loop;
    this.#signal = signal;
  }

  /**
   * Compiles the schema while the model works: the check is then quick, and a failure is known before the reply begins.
   */
  prepare(): void {
    const { check } = this.#loop;
    if (check === undefined) return;
    const { checker, schema, tenant } = check;
    checker.prepare(schema, { tenant, signal: this.#signal }).then(
      (verdict) => this.#report(verdict),
      (error: unknown) => {
        if (!this.#signal.aborted) this.#logger.error({ err: error }, 'compiling the schema of a reply check failed');
      },
    );
  }

  /**
   * The problems of a reply. Undefined if it fits, could not be checked, or is not a complete answer. `call-ended` if
   * the call ended meanwhile.
   */
  async findProblems(reply: InferenceReply): Promise<readonly string[] | 'call-ended' | undefined> {
    const { check } = this.#loop;
    if (check === undefined) return undefined;
    try {
      const verdict = await checkReply(check, reply, this.#signal);
      if (verdict !== undefined) this.#report(verdict);
      return verdict?.kind === 'fails' ? verdict.problems : undefined;
    } catch (error) {
      if (this.#signal.aborted) return 'call-ended';
      throw error;
    }
  }

  /** Whether the model may be asked to repair its answer: once in a call. */
  takeRepair(): boolean {
    const mayAsk = this.#loop.check?.repairs === true && !this.#isRepaired;
    this.#isRepaired = true;
    return mayAsk;
  }

  #report(verdict: SchemaVerdict): void {
    const { check, reply, prepared } = this.#loop;
    if (check === undefined || verdict.kind !== 'unchecked' || this.#signal.aborted) return;
    const { reason } = verdict;
    if (!reply.note(noteUnchecked(check, reason))) return;
    const { callId } = prepared.call;
    this.#logger.warn({ callId, user: check.tenant, reason }, 'reply not checked against its schema');
  }
}
