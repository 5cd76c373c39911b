import type { ChatDialect } from '../../dialects/chat-dialect.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { RoutingTable, Target } from './routing-table.ts';

/** Interfaces in the words that users know them by, with the path to call. */
const interfaces: Readonly<Record<ChatDialect['id'], string>> = {
  'anthropic-messages': 'Messages (POST /v1/messages)',
  'openai-responses': 'Responses (POST /v1/responses)',
  'openai-chat': 'chat completions (POST /v1/chat/completions)',
  'gemini-generate-content': 'generate-content (POST /v1beta/models/{model}:generateContent)',
};

/**
 * Chooses where a call goes: the model's first target that speaks the client's dialect. Throws `model_not_found` for a model that nobody
 * serves, `dialect_not_supported` naming the interfaces that would work, and `thread_unsupported` where a stateful thread would be lost.
 */
export function chooseTarget(table: RoutingTable, dialect: ChatDialect, facts: CallFacts): Target {
  const targets = table.targetsOf(facts.requestedModel);
  if (targets.length === 0) {
    throw new GatewayError(
      'model_not_found',
      `model: ${facts.requestedModel.slice(0, 256)} is not served here; GET /v1/models lists what is`,
      {
        param: 'model',
      },
    );
  }
  const speaking = targets.filter((target) => target.upstream.dialects.includes(dialect.id));
  const [first] = speaking;
  if (first === undefined) throw dialectNotSupported(facts.requestedModel, dialect, targets);
  if (!facts.needs.includes('threads')) return first;
  const stateful = speaking.find((target) => target.upstream.vendor.offers.includes('threads'));
  if (stateful !== undefined) return stateful;
  throw new GatewayError(
    'thread_unsupported',
    `thread: the upstream of ${facts.requestedModel} keeps no message threads; send the whole history in messages`,
    {
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  );
}

function dialectNotSupported(model: string, dialect: ChatDialect, targets: readonly Target[]): GatewayError {
  const working = [...new Set(targets.flatMap((target) => target.upstream.dialects))].map((id) => interfaces[id]);
  return new GatewayError(
    'dialect_not_supported',
    `model: ${model} is not available on the ${dialect.title} interface; call it on ${working.join(' or ')}`,
    { param: 'model' },
  );
}
