import { countOf, membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { StreamCutter, TapOptions } from '../chat-dialect.ts';
import { encodeUsage } from './codec/encode-usage.ts';

const encodeChunk = (chunk: JsonObject): Buffer => encodeSse({ data: JSON.stringify(chunk) });

/** Finishes every open choice with `length`, and adds the usage if the client requested it. */
export function createStreamCutter({ request }: TapOptions): StreamCutter {
  let last = '';
  const finished: string[] = [];
  return {
    pass: ({ data }) => {
      if (!data.startsWith('{')) return;
      last = data;
      if (/"finish_reason"\s*:\s*"/.test(data)) finished.push(data);
    },
    end: (usage) => {
      const { id, object, created, model, service_tier: tier, system_fingerprint: fingerprint } = membersOf(parseJsonObject(last));
      const head: JsonObject = {
        ...(id === undefined ? {} : { id }),
        object: object ?? 'chat.completion.chunk',
        ...(created === undefined ? {} : { created }),
        ...(model === undefined ? {} : { model }),
        ...(tier === undefined ? {} : { service_tier: tier }),
        ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
      };
      const done = new Set(finished.flatMap((data) => objectsOf(parseJsonObject(data)?.choices).map(({ index }) => countOf(index) ?? 0)));
      const choices = Array.from({ length: countOf(request.n) ?? 1 }, (_none, index) => index).filter((index) => !done.has(index));
      const ends = choices.map((index) =>
        encodeChunk({ ...head, choices: [{ index, delta: {}, logprobs: null, finish_reason: 'length' }] }),
      );
      const wantsUsage = membersOf(request.stream_options)['include_usage'] === true;
      const usageChunks = wantsUsage ? [encodeChunk({ ...head, choices: [], usage: encodeUsage(usage) })] : [];
      return Buffer.concat([...ends, ...usageChunks, Buffer.from('data: [DONE]\n\n')]);
    },
  };
}
