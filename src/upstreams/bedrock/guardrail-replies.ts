import { describeGuardrail } from '../../dialects/guardrail-findings.ts';
import { countOf, filledText, membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

/**
 * The members with which InvokeModel says what a guardrail did. Source: "use a guardrail with inference operations" of
 * the Bedrock user guide.
 */
const action = 'amazon-bedrock-guardrailAction';
const trace = 'amazon-bedrock-trace';
const metrics = 'amazon-bedrock-invocationMetrics';

/** Whether a text may have these members. It is cheap, because it is asked for every event of a stream. */
export const mentionsGuardrail = (data: string): boolean => data.includes('"amazon-bedrock-guardrail') || data.includes(`"${trace}"`);

const withoutGuardrail = ({ [action]: _action, [trace]: _trace, ...rest }: JsonObject): JsonObject => rest;

/** The refusal of a prompt as an error of Messages, from which the gateway reads the findings. */
function writeRefusal(message: string, found: string): JsonObject {
  const categories = found === '' ? {} : { content_filter_result: { [found]: { filtered: true } } };
  return { type: 'error', error: { type: 'invalid_request_error', code: 'content_filter', message, innererror: categories } };
}

/** How a guardrail ends a reply that it changed or stopped. */
const refusal: JsonObject = {
  stop_reason: 'refusal',
  stop_details: { type: 'refusal', category: null, explanation: 'A guardrail of the model service intervened.' },
};

/**
 * A whole reply of Messages after a guardrail: an error if it refused the prompt, so that no model has written
 * anything, otherwise a reply that ends with a refusal. Clients do not get its trace. Undefined if no guardrail was at
 * work.
 */
export function readGuardrailReply(reply: unknown): JsonObject | undefined {
  const members = membersOf(reply);
  if (members[action] === undefined && members[trace] === undefined) return undefined;
  const rest = withoutGuardrail(members);
  if (members[action] !== 'INTERVENED') return rest;
  if (countOf(membersOf(members.usage).output_tokens) !== 0) return { ...rest, ...refusal };
  const said = objectsOf(members.content).flatMap(({ text }) => filledText(text) ?? []);
  return writeRefusal(said.join('\n'), describeGuardrail(members[trace]));
}

/**
 * The events of a stream of Messages in place of one that reports a guardrail. The words of the reply have passed, so
 * that a refused prompt ends as a refusal too.
 */
export function readGuardrailEvent(event: JsonObject): readonly JsonObject[] {
  const rest = withoutGuardrail(event);
  if (event[action] !== 'INTERVENED') return [rest];
  if (event.type === 'message_delta') return [{ ...rest, delta: { ...membersOf(event.delta), ...refusal } }];
  if (event.type !== 'message_stop') return [rest];
  const written = countOf(membersOf(event[metrics]).outputTokenCount) ?? 0;
  return [{ type: 'message_delta', delta: { ...refusal, stop_sequence: null }, usage: { output_tokens: written } }, rest];
}
