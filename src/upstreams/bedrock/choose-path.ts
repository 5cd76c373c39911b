import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import type { AccountFacts } from '../account-facts.ts';
import type { UpstreamRoute } from '../upstream-route.ts';
import { hasMessages, isConversed, readModelName } from './model-names.ts';

/** Whether a Claude model is called through InvokeModel, and not through the Messages interface. */
export function isInvoked({ dialect, upstreamModel, is }: UpstreamRoute, { endpoint, guardrail }: AccountFacts): boolean {
  if (dialect !== 'anthropic-messages' || endpoint === 'mantle') return false;
  // Profiles of applications are for the native interface, and so are guardrails.
  if (guardrail !== undefined || upstreamModel.startsWith('arn:')) return true;
  const { ownName } = readModelName(is ?? upstreamModel);
  return ownName === undefined || !hasMessages(ownName);
}

/** The dialects of a model. Empty if its name says nothing. */
export function dialectsOf(model: string, { endpoint, guardrail }: AccountFacts): readonly UpstreamDialectId[] {
  const { maker } = readModelName(model);
  if (maker === 'anthropic') return ['anthropic-messages'];
  // Responses take no guardrail.
  if (maker === 'openai') return guardrail === undefined ? ['openai-responses', 'openai-chat'] : ['openai-chat'];
  if (!isConversed(maker)) return [];
  return endpoint === 'mantle' ? ['openai-chat'] : ['bedrock-converse'];
}

/**
 * The path of a route. Source: "endpoints" of the Bedrock user guide. Counting is native, and takes the name of the
 * model itself; the address of a profile is refused there.
 */
export function locate(route: UpstreamRoute, facts: AccountFacts): string | undefined {
  const { dialect, operation, upstreamModel, framing } = route;
  if (dialect === 'openai-chat' || dialect === 'openai-responses') {
    if (operation !== 'generate') return undefined;
    return dialect === 'openai-chat' ? '/openai/v1/chat/completions' : '/openai/v1/responses';
  }
  if (dialect === 'bedrock-converse') {
    if (operation !== 'generate' || facts.endpoint === 'mantle') return undefined;
    return `/model/${encodeURIComponent(upstreamModel)}/${framing === undefined ? 'converse' : 'converse-stream'}`;
  }
  if (dialect !== 'anthropic-messages') return undefined;
  if (operation === 'count-tokens') {
    const { base, maker } = readModelName(upstreamModel);
    if (facts.endpoint === 'mantle' || base === undefined || maker !== 'anthropic') return undefined;
    return `/model/${encodeURIComponent(base)}/count-tokens`;
  }
  if (operation !== 'generate') return undefined;
  if (!isInvoked(route, facts)) return '/anthropic/v1/messages';
  return `/model/${encodeURIComponent(upstreamModel)}/${framing === undefined ? 'invoke' : 'invoke-with-response-stream'}`;
}
