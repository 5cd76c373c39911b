import { countOf, textOf, wordOf } from '../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';

/** A message of a sandbox. `run` is the number of its run. */
export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'output'; readonly run: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | {
      readonly kind: 'ended';
      readonly run: number;
      readonly outcome: 'finished' | 'raised';
      /** The value of the last expression, or the traceback. */
      readonly text: string;
      /** Bytes of output over the limit, which were not sent. */
      readonly dropped: number;
      /** Whether the interpreter cannot run again, and ends. */
      readonly broken: boolean;
    };

/** Reads a line of a sandbox, which hostile code may have written. Undefined if it is not exactly a message. */
export function readChildMessage(line: string): ChildMessage | undefined {
  const message = parseJsonObject(line);
  if (message === undefined) return undefined;
  if (message['kind'] === 'ready') return { kind: 'ready' };
  const run = countOf(message['run']);
  const text = textOf(message['text'])?.toWellFormed();
  if (run === undefined || text === undefined) return undefined;
  if (message['kind'] === 'output') {
    const stream = wordOf(message['stream'], ['stdout', 'stderr']);
    return stream === undefined ? undefined : { kind: 'output', run, stream, text };
  }
  const outcome = wordOf(message['outcome'], ['finished', 'raised']);
  const dropped = countOf(message['dropped']);
  const { broken } = message;
  if (message['kind'] !== 'ended' || outcome === undefined || dropped === undefined || typeof broken !== 'boolean') return undefined;
  return { kind: 'ended', run, outcome, text, dropped, broken };
}
