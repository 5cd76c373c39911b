import { GatewayError } from '../../inference/gateway-error.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { textsIn } from '../../platform/json/indexed-object.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../wire-request.ts';
import { listBuiltInTools } from './built-in-tools.ts';
import { compactionOf, compactionPrompt } from './compaction.ts';
import { surveyRequest } from './survey-request.ts';

/**
 * Reads the facts for routing and pricing. The history behind `previous_response_id` is not in the body and is not
 * counted.
 */
export function readFacts({ operation, body }: WireRequest): CallFacts {
  const { model, max_output_tokens: outputTokensMax } = body;
  if (typeof model !== 'string') throw new GatewayError('internal_error', 'The request was read before it was validated.');
  const compacts = compactionOf({ operation, body }) !== undefined;
  // A compaction runs no tools, and its summary is free text.
  const builtInTools = compacts ? [] : listBuiltInTools(textsIn(body, 'tools', 'type'));
  return {
    requestedModel: model,
    stream: operation === 'generate' && body.stream === true,
    ...(typeof outputTokensMax === 'number' && { outputTokensMax }),
    inputCharacters:
      (surveyRequest(body)?.textCharacters ?? countTextCharacters([body.instructions, body.input, body.tools, body.text, body.prompt])) +
      (compacts ? compactionPrompt.length : 0),
    needs: [],
    keepsReply: operation === 'generate' && body.store !== false,
    ...(compacts && { compacts }),
    ...(!compacts && isStrict(body.text) && { strictSchema: true }),
    ...(builtInTools.length > 0 && { builtInTools }),
    ...(typeof body.previous_response_id === 'string' && {
      continues: { replyId: body.previous_response_id, param: 'previous_response_id' },
    }),
  };
}

/** JSON mode promises a form, like a schema. */
function isStrict(text: JsonValue | undefined): boolean {
  const format = isJsonObject(text) ? text.format : undefined;
  return isJsonObject(format) && (format.type === 'json_object' || (format.type === 'json_schema' && format.strict === true));
}
