import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { isError } from '../read-error.ts';
import { ReplyReader } from './reply-reader.ts';

/**
 * Reads the chunks of a stream. Blocks end when something else begins or the stream ends, because a finish reason may
 * be in any chunk and content may follow it. The stream has finished with `[DONE]`, or without it when the finish
 * reason and the usage have arrived. An error means that it has not finished.
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
      // The tap counts malformed frames.
      const chunk = frame.object();
      const isFailure = event === 'error' || isError(chunk?.error);
      if (isFailure) state = 'failed';
      return isFailure || chunk === undefined ? [] : reader.read(chunk);
    },
    end: () => (state === 'done' || (state === 'open' && reader.isComplete()) ? reader.finish() : []),
  };
}
