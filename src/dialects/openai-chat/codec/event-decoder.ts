import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { isError } from '../read-error.ts';
import { ReplyReader } from './reply-reader.ts';

function parseChunk(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    // The tap counts frames that are no JSON.
    return undefined;
  }
}

/**
 * Reads the chunks of a stream. Blocks end when something else begins or the stream does: a finish reason may stand in any chunk, and content after it.
 * The stream has finished with `[DONE]`, or where a server leaves that out, when reason and usage have come; an error unfinishes it.
 */
export function createEventDecoder(reading: ReplyReading): EventDecoder {
  const reader = new ReplyReader(reading);
  let state: 'open' | 'done' | 'failed' = 'open';
  return {
    read: ({ data, event }) => {
      if (data === '' || state !== 'open') return [];
      if (data.startsWith('[DONE]')) {
        state = 'done';
        return [];
      }
      const chunk = parseChunk(data);
      const isFailure = event === 'error' || (isJsonObject(chunk) && isError(chunk.error));
      if (isFailure) state = 'failed';
      return isFailure || !isJsonObject(chunk) ? [] : reader.read(chunk);
    },
    end: () => (state === 'done' || (state === 'open' && reader.isComplete()) ? reader.finish() : []),
  };
}
