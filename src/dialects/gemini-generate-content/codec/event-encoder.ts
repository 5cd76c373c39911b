import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EventEncoder, ReplyWriting } from '../../chat-codec.ts';
import { bareEnums } from './bare-enum.ts';
import { encodeGrounding } from './encode-grounding.ts';
import { LogprobsWriter } from './encode-logprobs.ts';
import { encodeUsage, type ReportedUsage } from './encode-usage.ts';
import { encodeEnding } from './stop-reasons.ts';
import { PartWriter, type WrittenPart } from './part-writer.ts';
import { showsThoughts } from './shows-thoughts.ts';

type Finished = Extract<InferenceEvent, { type: 'finished' }>;

/** Writes the parts as JSON. Nearly every chunk contains one piece of text. */
function stringifyParts(written: readonly WrittenPart[]): string {
  return written.map(({ part }) => JSON.stringify(part)).join(',');
}

/**
 * Writes a stream. Each chunk is a whole response with the new parts, and the last one contains the stop reason and the
 * sources. With events, a chunk is one line between CR LF pairs. In an array it is an element, and the closing bracket
 * comes with the last.
 */
export function createEventEncoder(writing: ReplyWriting, framing: StreamFraming): EventEncoder {
  const writer = new PartWriter(showsThoughts(writing.request));
  const likely = new LogprobsWriter(writing.request);
  let framesSent = 0;
  let reported: ReportedUsage | undefined;
  let names = '';

  const name = (servedModel: string | undefined, replyId: string | undefined): void => {
    const modelVersion = JSON.stringify(servedModel ?? writing.requestedModel);
    names = `,"modelVersion":${modelVersion},"responseId":${JSON.stringify(replyId ?? writing.requestId)}}`;
  };
  name(undefined, undefined);

  const frame = (candidate: string): string => {
    const usageMetadata = reported === undefined ? '' : `,"usageMetadata":${JSON.stringify(encodeUsage(reported))}`;
    const json = `{"candidates":[${candidate}]${usageMetadata}${names}`;
    framesSent += 1;
    if (framing === 'sse') return `data: ${json}\r\n\r\n`;
    return `${framesSent === 1 ? '[' : ',\r\n'}${json}`;
  };

  const writeParts = (written: readonly WrittenPart[]): string => {
    if (written.length === 0) return '';
    const members = likely.take();
    const rest = members === undefined ? '' : `,${JSON.stringify(members).slice(1, -1)}`;
    return frame(`{"content":{"parts":[${stringifyParts(written)}],"role":"model"},"index":0${rest}}`);
  };

  const finish = ({ stopReason, stopDetail }: Finished): string => {
    const left = writer.end();
    const rest: JsonObject = {
      ...encodeEnding(stopReason, stopDetail),
      index: 0,
      ...encodeGrounding(writer.sources(true)),
      ...likely.end(),
    };
    const parts = left.length === 0 ? '{"text":""}' : stringifyParts(left);
    const last = frame(`{"content":{"parts":[${parts}],"role":"model"},${JSON.stringify(rest).slice(1)}`);
    return framing === 'sse' ? last : `${last}\r\n]`;
  };

  const write = (event: InferenceEvent): string => {
    if (event.type === 'started') name(event.servedModel, event.replyId);
    else if (event.type === 'usage') reported = event.usageReport;
    else if (event.type === 'logprobs') likely.read(event.tokens);
    else if (event.type === 'finished') return finish(event);
    else return writeParts(writer.write(event));
    return '';
  };

  const bare = bareEnums(writing.request);
  return { write: (event) => bare(event).reduce((text, changed) => text + write(changed), ''), position: () => ({ framesSent }) };
}
