import { setTimeout as wait } from 'node:timers/promises';
import { createPlanner } from '../../../plan-reply.ts';
import { asText, isRecord, parseRecord } from '../../../read-json.ts';
import type { Json, JsonRecord } from '../../../simulated-vendor.ts';
import { readSteering, SteeringError, type Steering } from '../../../steering.ts';
import type { AwsState } from '../aws-state.ts';
import { damage, writeEvent, writeException } from '../event-frame.ts';
import { findGuardrailProblem, judge, type AskedGuardrail } from '../guardrail.ts';
import type { Invocation } from '../invocation.ts';
import { findConverseProblem } from './check-converse.ts';
import { findConverseModel, type ConverseModel } from './converse-models.ts';
import { readConverse } from './read-converse.ts';
import { recordCall, type RecordedInvocation } from './record-call.ts';
import { planConverse, streamConverse, writeConverse, type ConverseReply } from './write-converse.ts';

/** Converse and ConverseStream. */
export async function answerConverse(state: AwsState, received: Invocation): Promise<void> {
  const invocation = recordCall(state, received);
  const { model: id, operation, body, fail } = invocation;
  const streams = operation === 'converse-stream';
  const found = findConverseModel(id);
  if (id.includes('not-enabled'))
    return fail(403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.");
  if (found === undefined) return fail(400, 'ValidationException', 'The provided model identifier is invalid.');
  const { model, base, isProfile } = found;
  if (model.needsProfile === true && !isProfile)
    return fail(
      400,
      'ValidationException',
      `Invocation of model ID ${id} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.`,
    );
  const parsed = parseRecord(body);
  if (parsed === undefined) return fail(400, 'SerializationException', 'Unexpected token in the JSON of the request.');
  const guardrail = readGuardrail(parsed.guardrailConfig);
  const problem = findConverseProblem(parsed, model, streams) ?? findGuardrailProblem(guardrail);
  if (problem !== undefined) return fail(400, 'ValidationException', problem);
  try {
    const reply = plan(state, invocation, { parsed, model, base, guardrail });
    await (streams ? stream(state, invocation, reply) : whole(state, invocation, reply));
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    fail(400, 'ValidationException', error.message);
  }
}

/** `guardrailConfig` of a request. */
function readGuardrail(config: Json | undefined): AskedGuardrail | undefined {
  if (!isRecord(config)) return undefined;
  const { guardrailIdentifier, guardrailVersion, trace } = config;
  return { id: asText(guardrailIdentifier), version: asText(guardrailVersion), traces: trace === 'enabled' || trace === 'enabled_full' };
}

type Accepted = {
  readonly parsed: JsonRecord;
  readonly model: ConverseModel;
  readonly base: string;
  readonly guardrail: AskedGuardrail | undefined;
};

function plan(state: AwsState, { headers, record }: RecordedInvocation, { parsed, model, base, guardrail }: Accepted): ConverseReply {
  let steered: Steering = {};
  const planReply = createPlanner({
    seed: 'bedrock',
    nowMs: state.nowMs(),
    cache: state.promptCache,
    steering: readSteering(headers),
    numberCall: () => state.numberCall(),
    onPlan: (_plan, steering, keepCache) => {
      steered = steering;
      keepCache();
    },
  });
  const asked = readConverse(parsed, model, base);
  const planned = planReply(asked);
  record.plannedUsage = planned.usage;
  record.stop = planned.stop;
  state.records.keepReply(record, planned);
  const reply = planConverse(planned, judge(guardrail, asked.promptText, planned.text ?? ''));
  return { ...reply, usage: override(reply.usage, steered.usage) };
}

function override(usage: JsonRecord, asked: Steering['usage']): JsonRecord | undefined {
  if (asked === 'absent' || asked === 'null') return undefined;
  return { ...usage, ...asked };
}

/** A complete reply delivered all tokens of its plan. */
function complete(state: AwsState, record: RecordedInvocation['record']): void {
  record.emittedTokens = record.plannedUsage?.outputTokens ?? 0;
  state.records.end(record, 'completed', state.nowMs());
}

function whole(state: AwsState, { response, record }: RecordedInvocation, reply: ConverseReply): void {
  record.status = 200;
  response.writeHead(200, { 'content-type': 'application/json', 'x-amzn-requestid': 'simulated' });
  complete(state, record);
  response.end(JSON.stringify(writeConverse(reply)));
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

async function stream(state: AwsState, { response, record }: RecordedInvocation, reply: ConverseReply): Promise<void> {
  const fault = state.takeFault('stream');
  record.status = 200;
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'simulated' });
  let written = 0;
  for (const [type, payload] of streamConverse(reply)) {
    // AWS pads events, so that their lengths say nothing about the text.
    const frame = writeEvent(type, JSON.stringify({ ...payload, p: alphabet.slice(0, 1 + ((written * 7) % alphabet.length)) }));
    if (fault !== undefined && written === fault.afterFrames) {
      // The frame comes after the others have been read.
      if (written > 0) await wait(100);
      state.records.end(record, 'faulted', state.nowMs());
      response.end(
        fault.kind === 'exception' ? writeException(fault.type, 'Too many tokens, please wait before trying again.') : damage(frame),
      );
      return;
    }
    response.write(frame);
    written += 1;
  }
  complete(state, record);
  response.end();
}
