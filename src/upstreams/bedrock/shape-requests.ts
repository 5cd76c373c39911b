import { editMembers } from '../../platform/json/edit-members.ts';
import type { AccountFacts } from '../account-facts.ts';
import type { RequestChanges, Reshape, ShapedRequest } from '../reshape.ts';
import { isInvoked } from './choose-path.ts';
import { shapeMessages } from './shape-messages.ts';

const eventStream = 'application/vnd.amazon.eventstream';

/** Fits a request to Bedrock: Messages to its rules, and all requests that can have one with the guardrail. */
export const reshape: Reshape = (request, facts) => {
  const { route } = request;
  if (route.dialect === 'bedrock-converse') return shapeConverse(request, facts);
  if (route.dialect === 'openai-chat' && facts.guardrail !== undefined) return { edits: [], headers: guardrailHeaders(facts) };
  const changes = shapeMessages(request, facts);
  if (changes === undefined || route.operation !== 'generate' || !isInvoked(route, facts)) return changes;
  return { ...changes, headers: { ...changes.headers, ...guardrailHeaders(facts) } };
};

function shapeConverse({ route, body, bytes }: ShapedRequest, { guardrail }: AccountFacts): RequestChanges {
  const streams = route.framing !== undefined;
  const headers = { accept: streams ? eventStream : 'application/json' };
  if (guardrail === undefined) return { edits: [], headers };
  const guardrailConfig = {
    guardrailIdentifier: guardrail.id,
    guardrailVersion: guardrail.version,
    trace: guardrail.trace === false ? 'disabled' : 'enabled',
    ...(streams && guardrail.stream !== undefined ? { streamProcessingMode: guardrail.stream } : {}),
  };
  return { edits: editMembers({ body, bytes }, { set: { guardrailConfig: JSON.stringify(guardrailConfig) } }), headers };
}

/** Source: InvokeModel of the Bedrock API reference, and "OpenAI models" of the user guide. */
function guardrailHeaders({ guardrail }: AccountFacts): NonNullable<RequestChanges['headers']> {
  if (guardrail === undefined) return {};
  return {
    'x-amzn-bedrock-guardrailidentifier': guardrail.id,
    'x-amzn-bedrock-guardrailversion': guardrail.version,
    'x-amzn-bedrock-trace': guardrail.trace === false ? 'DISABLED' : 'ENABLED',
  };
}
