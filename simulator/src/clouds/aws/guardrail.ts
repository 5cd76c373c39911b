import type { IncomingHttpHeaders } from 'node:http';
import { asText } from '../../read-json.ts';
import type { JsonRecord } from '../../simulated-vendor.ts';

/** The one guardrail of the simulated account, and its versions. */
const guardrailId = 'gr1simulated';
const versions = new Set(['1', 'DRAFT']);

/** Words that it refuses in prompts and in replies, and a name that it masks in replies. */
const refusedPrompt = 'forbidden question';
const refusedReply = 'forbidden answer';
const masked = 'Erika Mustermann';

const blockedPrompt = 'Sorry, the policy of this company does not permit this question.';
const blockedReply = 'Sorry, the policy of this company does not permit this answer.';

/** A guardrail as a request names it. */
export type AskedGuardrail = { readonly id: string; readonly version: string; readonly traces: boolean };

/** The guardrail in the headers of InvokeModel. */
export function readGuardrailHeaders(headers: IncomingHttpHeaders): AskedGuardrail | undefined {
  const id = headers['x-amzn-bedrock-guardrailidentifier'];
  if (id === undefined) return undefined;
  const version = asText(headers['x-amzn-bedrock-guardrailversion']);
  return { id: asText(id), version, traces: asText(headers['x-amzn-bedrock-trace']).startsWith('ENABLED') };
}

/** Why a guardrail cannot be used. */
export function findGuardrailProblem(asked: AskedGuardrail | undefined): string | undefined {
  if (asked === undefined || (asked.id === guardrailId && versions.has(asked.version))) return undefined;
  return 'The guardrail identifier or version provided in the request does not exist.';
}

const assessment = (name: string, action: 'BLOCKED' | 'ANONYMIZED'): JsonRecord => ({
  [guardrailId]: { topicPolicy: { topics: [{ name, type: 'DENY', action }] } },
});

/** What a guardrail does: refuses the prompt, or changes the reply. Undefined if it lets the call pass. */
export type Intervention = { readonly text: string; readonly refusesPrompt: boolean; readonly trace: JsonRecord };

export function judge(asked: AskedGuardrail | undefined, prompt: string, reply: string): Intervention | undefined {
  if (asked === undefined) return undefined;
  const found = (text: string, refusesPrompt: boolean, trace: JsonRecord): Intervention => ({
    text,
    refusesPrompt,
    trace: asked.traces ? { guardrail: { ...trace, actionReason: 'Guardrail blocked.' } } : {},
  });
  if (prompt.includes(refusedPrompt)) return found(blockedPrompt, true, { inputAssessment: assessment('Company secrets', 'BLOCKED') });
  if (reply.includes(refusedReply))
    return found(blockedReply, false, {
      outputAssessments: { [guardrailId]: [assessment('Company secrets', 'BLOCKED')[guardrailId] ?? {}] },
    });
  if (!reply.includes(masked)) return undefined;
  const trace = { sensitiveInformationPolicy: { piiEntities: [{ type: 'NAME', match: masked, action: 'ANONYMIZED' }] } };
  return found(reply.replaceAll(masked, '{NAME}'), false, { outputAssessments: { [guardrailId]: [trace] } });
}
