import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { DeltaWriter } from './delta-writer.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeLogprobsReply } from './logprobs.ts';
import { encodeHead, encodeServiceTier } from './reply-head.ts';

/** Adds deltas up to a message, as the official SDKs do. */
class MessageBuilder {
  #content = '';
  #refusal = '';
  #reasoning = '';
  readonly #calls: JsonObject[] = [];
  #functionCall: JsonObject | undefined;
  #rest: JsonObject = {};

  add(delta: JsonObject): void {
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls, function_call: call, ...rest } = delta;
    this.#content += textOf(content) ?? '';
    this.#refusal += textOf(refusal) ?? '';
    this.#reasoning += textOf(reasoning) ?? '';
    for (const piece of objectsOf(calls)) this.#addCall(piece);
    if (call !== undefined) this.#functionCall = joinFunction(this.#functionCall, membersOf(call));
    this.#rest = { ...this.#rest, ...rest };
  }

  message(): JsonObject {
    const hasCalls = this.#calls.length > 0 || this.#functionCall !== undefined;
    const isEmpty = this.#content === '' && (hasCalls || this.#refusal !== '');
    return {
      role: 'assistant',
      content: isEmpty ? null : this.#content,
      refusal: this.#refusal === '' ? null : this.#refusal,
      ...(this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning }),
      ...this.#rest,
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
      ...(this.#functionCall === undefined ? {} : { function_call: this.#functionCall }),
    };
  }

  #addCall({ index, function: called, ...rest }: JsonObject): void {
    const at = typeof index === 'number' ? index : 0;
    const current = this.#calls[at];
    this.#calls[at] = {
      ...current,
      ...rest,
      function: joinFunction(current === undefined ? undefined : membersOf(current.function), membersOf(called)),
    };
  }
}

function joinFunction(current: JsonObject | undefined, piece: JsonObject): JsonObject {
  return {
    name: filledText(current?.name) ?? textOf(piece.name) ?? '',
    arguments: (textOf(current?.arguments) ?? '') + (textOf(piece.arguments) ?? ''),
  };
}

/** Writes a whole reply: the sum of the deltas of its stream. */
export function encodeReply(reply: InferenceReply, writing: ReplyWriting): JsonObject {
  const deltas = new DeltaWriter(writing);
  const builder = new MessageBuilder();
  for (const event of replayReply(reply)) {
    const delta = deltas.write(event);
    if (delta !== undefined) builder.add(delta);
  }
  const tail = deltas.writeTail();
  if (tail !== undefined) builder.add(tail);
  const { usageReport } = reply;
  const logprobs = encodeLogprobsReply(reply.logprobs ?? [], writing.request);
  return {
    ...encodeHead('chat.completion', writing, reply),
    choices: [{ index: 0, message: builder.message(), logprobs, finish_reason: deltas.finishReason(reply.stopReason) }],
    ...(usageReport === undefined ? {} : { usage: encodeUsage(usageReport.usage) }),
    ...encodeServiceTier(usageReport),
  };
}
