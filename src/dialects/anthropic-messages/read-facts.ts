import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { textsIn } from '../../platform/json/indexed-object.ts';
import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../wire-request.ts';
import { listBuiltInTools } from './built-in-tools.ts';
import { surveyRequest } from './survey-request.ts';

/** Reads the facts of a validated Messages or count-tokens request. */
export function readFacts(request: WireRequest): CallFacts {
  const { body } = request;
  const { model, max_tokens: outputTokensMax, stream, thread, output_config: outputConfig } = body;
  // The vendor's SDK switches threads off with `thread: false`.
  const usesThread = thread !== undefined && thread !== null && thread !== false;
  const builtInTools = listBuiltInTools(textsIn(body, 'tools', 'type'));
  return {
    requestedModel: typeof model === 'string' ? model : '',
    stream: request.operation === 'generate' && stream === true,
    ...(typeof outputTokensMax === 'number' && { outputTokensMax }),
    inputCharacters: surveyRequest(body)?.textCharacters ?? countTextCharacters([body.system, body.messages, body.tools, outputConfig]),
    needs: usesThread ? ['threads'] : [],
    keepsReply: usesThread,
    // Its schemas are always strict.
    ...(isJsonObject(outputConfig) && isJsonObject(outputConfig.format) && { strictSchema: true }),
    ...(builtInTools.length > 0 && { builtInTools }),
    ...(asksForCompaction(body.context_management) && { vendorCompacts: true }),
    ...(isJsonObject(thread) &&
      typeof thread.previous_message_id === 'string' && {
        continues: { replyId: thread.previous_message_id, param: 'thread.previous_message_id' },
      }),
  };
}

/** Whether the edits of the context include a compaction (platform.claude.com/docs, "Compaction"). */
function asksForCompaction(management: JsonValue | undefined): boolean {
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? (management.edits as readonly JsonValue[]) : [];
  return edits.some((edit) => isJsonObject(edit) && typeof edit.type === 'string' && edit.type.startsWith('compact'));
}
