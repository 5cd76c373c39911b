import { membersOf } from '../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { StreamCutter, TapOptions } from '../chat-dialect.ts';
import { encodeUsage } from './codec/encode-usage.ts';

/** Writes one more chunk, which reports that the limit of tokens is reached; in an array, its last element. */
export function createStreamCutter({ framing }: TapOptions): StreamCutter {
  let last = '';
  return {
    pass: ({ data }) => {
      if (data.startsWith('{')) last = data;
    },
    end: (usage) => {
      const { modelVersion, responseId } = membersOf(parseJsonObject(last));
      const chunk = {
        candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: encodeUsage({ usage }),
        ...(modelVersion === undefined ? {} : { modelVersion }),
        ...(responseId === undefined ? {} : { responseId }),
      };
      const json = JSON.stringify(chunk);
      if (framing === 'sse') return encodeSse({ data: json, newline: '\r\n' });
      return Buffer.from(`${last === '' ? '[' : ',\r\n'}${json}\r\n]`);
    },
  };
}
