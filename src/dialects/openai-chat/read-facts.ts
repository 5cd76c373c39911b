import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../wire-request.ts';
import { surveyRequest } from './survey-request.ts';

/** Reads the facts of a validated chat completions request. */
export function readFacts(request: WireRequest): CallFacts {
  const { body } = request;
  const { model, response_format: responseFormat, stream, n, max_completion_tokens: current, max_tokens: former } = body;
  // If both limits are present, servers differ in which one they use. The larger is the safe bound.
  const bound = typeof current === 'number' && typeof former === 'number' ? Math.max(current, former) : (current ?? former);
  // The limit applies to each choice, and every choice is billed.
  const choices = typeof n === 'number' ? n : 1;
  return {
    requestedModel: typeof model === 'string' ? model : '',
    stream: stream === true,
    ...(typeof bound === 'number' && { outputTokensMax: bound * choices }),
    ...(choices > 1 && { replies: choices }),
    inputCharacters:
      surveyRequest(body)?.textCharacters ?? countTextCharacters([body.messages, body.tools, body.functions, responseFormat]),
    needs: [],
    ...(choices === 1 && isStrict(responseFormat) && { strictSchema: true }),
    // The only built-in tool of this dialect.
    ...(isJsonObject(body.web_search_options) && { builtInTools: ['web-search'] as const }),
  };
}

/** JSON mode promises a form, like a schema. */
function isStrict(format: JsonValue | undefined): boolean {
  if (isJsonObject(format) && format.type === 'json_object') return true;
  const schema = isJsonObject(format) && format.type === 'json_schema' ? format.json_schema : undefined;
  return isJsonObject(schema) && schema.strict === true;
}
