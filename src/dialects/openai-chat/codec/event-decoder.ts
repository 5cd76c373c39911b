import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { isError } from '../read-error.ts';
import { ReplyReader } from './reply-reader.ts';

/**
 * Reads the chunks of a stream. Blocks end when something else begins or the stream does: a finish reason may stand in any chunk, and
 * content after it. The stream has finished with `[DONE]`, or where a server leaves that out, when reason and usage have come; an error
 * unfinishes it.
 */
export function createEventDecoder(reading: ReplyReading): EventDecoder {
  const reader = new ReplyReader(reading);
  let state: 'open' | 'done' | 'failed' = 'open';
  return {
    read: (frame) => {
      const { data, event } = frame;
      if (data === '' || state !== 'open') return [];
      if (data.startsWith('[DONE]')) {
        state = 'done';
        return [];
      }
      // The tap counts what is malformed.
      const chunk = frame.object();
      const isFailure = event === 'error' || isError(chunk?.error);
      if (isFailure) state = 'failed';
      return isFailure || chunk === undefined ? [] : reader.read(chunk);
    },
    end: () => (state === 'done' || (state === 'open' && reader.isComplete()) ? reader.finish() : []),
  };
}
