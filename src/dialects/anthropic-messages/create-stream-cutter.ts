import { countOf } from '../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { StreamCutter } from '../chat-dialect.ts';
import { encodeUsage } from './codec/encode-usage.ts';

const encodeEvent = (type: string, members: object): Buffer => encodeSse({ event: type, data: JSON.stringify({ type, ...members }) });

/** Closes the open block and reports that the limit of tokens is reached. */
export function createStreamCutter(): StreamCutter {
  let opened: string | undefined;
  return {
    pass: (frame) => {
      // Servers that send no event names write the type first.
      const type = frame.event ?? frame.data.slice(0, 64);
      if (type.includes('content_block_start')) opened = frame.data;
      else if (type.includes('content_block_stop')) opened = undefined;
    },
    end: (usage) => {
      const index = opened === undefined ? undefined : (countOf(parseJsonObject(opened)?.index) ?? 0);
      const { input_tokens: input, ...others } = encodeUsage(usage);
      const finalUsage = usage.inputTokens === undefined ? others : { input_tokens: input, ...others };
      const delta = { stop_reason: 'max_tokens', stop_sequence: null };
      return Buffer.concat([
        ...(index === undefined ? [] : [encodeEvent('content_block_stop', { index })]),
        encodeEvent('message_delta', { delta, usage: finalUsage }),
        encodeEvent('message_stop', {}),
      ]);
    },
  };
}
