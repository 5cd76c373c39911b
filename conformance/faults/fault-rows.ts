import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Mode } from './fault-bench.ts';

/** How the first target of a model fails. */
export type FaultRow = {
  /** Unique; part of the model's name. */
  readonly id: string;
  readonly name: string;
  /** The behaviour of the simulated vendor. */
  readonly fault?: string;
  /** The address of the first target, if it is not the simulated vendor itself. */
  readonly place?: 'nobody' | 'vanished' | 'plain-behind-tls' | 'reset-on-connect' | 'silent';
  /** The failure is about the credential, so each call needs a separate one. */
  readonly aboutCredential?: boolean;
  readonly only?: 'stream' | 'whole';
  /** Array streams have no such fault. */
  readonly notArray?: boolean;
  /** Further settings of the vendor, and fields of the request; then only for these dialects. */
  readonly steer?: Readonly<Record<string, string>>;
  readonly body?: Partial<Record<DialectId, object>>;
  /** The part of the reply that the client has received when it breaks. */
  readonly shows?: RegExp;
};

const parameters = { type: 'object', properties: { subject: { type: 'string' } }, required: ['subject'] };
const toolCall = {
  shows: /look_up/,
  steer: {
    'tool-calls': '1',
    'tool-arguments': encodeURIComponent(JSON.stringify({ subject: 'the weather of tomorrow, and of the day after' })),
  },
  body: {
    'anthropic-messages': { tools: [{ name: 'look_up', input_schema: parameters }], tool_choice: { type: 'any' } },
    'openai-responses': { tools: [{ type: 'function', name: 'look_up', parameters, strict: false }], tool_choice: 'required' },
    'openai-chat': { tools: [{ type: 'function', function: { name: 'look_up', parameters } }], tool_choice: 'required' },
  },
} as const;
const thinking = {
  shows: /Let me/,
  steer: { reasoning: encodeURIComponent('Let me think about this for quite a while. '.repeat(8)) },
  body: {
    'anthropic-messages': { max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 1024 } },
    'gemini-generate-content': { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
  },
} as const;

/** Failures before the first content: another target can still answer, and the client never notices. */
export const beforeContent: readonly FaultRow[] = [
  { id: 'refuse', name: 'nobody listens', place: 'nobody' },
  { id: 'syn-black-hole', name: 'connection attempts are not answered', place: 'vanished' },
  { id: 'tls', name: 'TLS fails', place: 'plain-behind-tls' },
  { id: 'reset-on-connect', name: 'connections are reset', place: 'reset-on-connect' },
  { id: 'silent', name: 'the request is read, and there is no answer', place: 'silent' },
  { id: 'reset', name: 'reset before headers', fault: 'reset-before-headers' },
  { id: 'stall', name: 'silence before headers', fault: 'stall-before-headers' },
  { id: 'stall-after-headers', name: 'silence after headers', fault: 'stall-after-headers;ms=60000' },
  { id: '429', name: '429 without advice', fault: 'status;status=429', aboutCredential: true },
  { id: '429-soon', name: '429 with a retry-after of a second', fault: 'status;status=429;retry-after=1', aboutCredential: true },
  { id: '429-late', name: '429 with a retry-after of a minute', fault: 'status;status=429;retry-after=60', aboutCredential: true },
  { id: '500', name: '500', fault: 'status;status=500' },
  { id: '502', name: '502', fault: 'status;status=502' },
  { id: '503', name: '503', fault: 'status;status=503' },
  { id: '503-late', name: '503 with a retry-after of a minute', fault: 'status;status=503;retry-after=60' },
  { id: '504', name: '504', fault: 'status;status=504' },
  { id: '529', name: '529', fault: 'status;status=529' },
  { id: '401', name: '401: the operator’s credential is refused', fault: 'status;status=401', aboutCredential: true },
  { id: '403', name: '403: the operator’s credential is refused', fault: 'status;status=403', aboutCredential: true },
  { id: 'echo', name: '401 that repeats the credential', fault: 'echo-credentials;status=401', aboutCredential: true },
  { id: 'error-in-200', name: 'an error inside a 200', fault: 'error-in-200;status=500;message=Simulated inner failure' },
  { id: 'html-200', name: 'HTML with 200', fault: 'html;status=200' },
  { id: 'html-502', name: 'HTML with 502', fault: 'html;status=502' },
  { id: 'empty', name: 'an empty body with 200', fault: 'empty-body' },
  { id: 'gzip', name: 'gzip although identity was requested', fault: 'gzip' },
  { id: 'long-header', name: 'a header of 100 kB', fault: 'long-header;bytes=100000' },
  { id: 'many-headers', name: 'twenty thousand headers', fault: 'many-headers;count=20000' },
  { id: 'redirect', name: 'a redirect', fault: 'redirect;status=307' },
  { id: 'length-and-chunked', name: 'length and chunked at the same time', fault: 'conflicting-lengths;kind=length-and-chunked' },
  { id: 'two-lengths', name: 'two lengths', fault: 'conflicting-lengths;kind=two-lengths' },
  { id: 'whole-reset', name: 'reset in half a body', fault: 'reset-mid-stream', only: 'whole' },
  { id: 'whole-fin', name: 'end in half a body', fault: 'truncate;how=fin', only: 'whole' },
  { id: 'whole-eof', name: 'half a body ended by the connection', fault: 'truncate;how=eof', only: 'whole' },
  { id: 'whole-end', name: 'half a body ended properly', fault: 'truncate;how=end', only: 'whole' },
  { id: 'whole-long', name: 'a body shorter than its length', fault: 'truncate;how=long-length', only: 'whole' },
  { id: 'whole-short', name: 'a body longer than its length', fault: 'truncate;how=short-length', only: 'whole' },
  { id: 'whole-malformed', name: 'half a JSON', fault: 'malformed-event', only: 'whole' },
  { id: 'whole-stall', name: 'silence in half a body', fault: 'stall-mid-stream', only: 'whole' },
  { id: 'opening-reset', name: 'reset after the opening events', fault: 'reset-mid-stream;after=0', only: 'stream' },
  { id: 'opening-fin', name: 'end of the connection after the opening events', fault: 'truncate;how=fin;after=0', only: 'stream' },
  { id: 'opening-eof', name: 'end of a body without length after the opening events', fault: 'truncate;how=eof;after=0', only: 'stream' },
  { id: 'opening-end', name: 'proper end of the body after the opening events', fault: 'truncate;how=end;after=0', only: 'stream' },
  { id: 'opening-stall', name: 'silence after the opening events', fault: 'stall-mid-stream;after=0', only: 'stream' },
  {
    id: 'opening-error',
    name: 'an error event after the opening events',
    fault: 'error-event;after=0',
    only: 'stream',
    // The simulator's error event continues an array, so it cannot be its first element.
    notArray: true,
  },
];

/**
 * Slow enough that each event reaches the client separately: a reply that breaks in the same write as it begins has
 * delivered nothing.
 */
const paced = 'tokensPerSecond=60;tokensPerFrame=4';

const breaksOff: readonly FaultRow[] = [
  { id: 'mid-reset', name: 'reset between events', fault: 'reset-mid-stream;after=5', only: 'stream' },
  { id: 'mid-reset-inside', name: 'reset inside an event', fault: 'reset-mid-stream;after=5;cut=inside', only: 'stream' },
  { id: 'mid-fin', name: 'end of the connection', fault: 'truncate;how=fin;after=5', only: 'stream' },
  { id: 'mid-eof', name: 'end of a body without length', fault: 'truncate;how=eof;after=5', only: 'stream' },
  { id: 'mid-end', name: 'proper end of the body', fault: 'truncate;how=end;after=5', only: 'stream' },
  { id: 'mid-long', name: 'a body shorter than its length', fault: 'truncate;how=long-length;after=5', only: 'stream' },
  { id: 'mid-stall', name: 'silence', fault: 'stall-mid-stream;after=5', only: 'stream' },
  { id: 'mid-error', name: 'an error event', fault: 'error-event;after=5', only: 'stream' },
  { id: 'mid-tool', name: 'reset after the beginning of a tool call', fault: 'reset-mid-stream;after=2', only: 'stream', ...toolCall },
  { id: 'mid-thought', name: 'reset in the middle of thoughts', fault: 'reset-mid-stream;after=3', only: 'stream', ...thinking },
  { id: 'mid-huge', name: 'an event of 3 MB', fault: 'huge-event;after=5;bytes=3000000', only: 'stream', notArray: true },
];

/** Failures after content has reached the client: the content cannot be undone, and the client must get an error. */
export const afterContent = breaksOff.map((row): FaultRow => ({ ...row, steer: { pace: paced, ...row.steer } }));

/** An error of the caller is not a failure of the target: the client gets the error, and no other target is called. */
export const refusals: readonly FaultRow[] = [
  { id: '400', name: '400', fault: 'status;status=400' },
  { id: '413', name: '413', fault: 'status;status=413' },
  { id: '422', name: '422', fault: 'status;status=422' },
  { id: 'overflow', name: 'a prompt too long for the model', fault: 'context-overflow' },
];

/** An answer above the size limit would be too large again, and charged again: no other target is called. */
export const tooLarge: readonly FaultRow[] = [
  {
    id: 'opening-huge',
    name: 'an event of 3 MB after the opening events',
    fault: 'huge-event;after=0;bytes=3000000',
    only: 'stream',
    notArray: true,
  },
  { id: 'whole-huge', name: 'a whole reply of 3 MB', fault: 'huge-event;bytes=3000000', only: 'whole' },
];

/** Whether a row is possible for a form of request. */
export function concerns(row: FaultRow, mode: Mode, isArray: boolean): boolean {
  if (row.only === 'stream' && !mode.stream) return false;
  if (row.only === 'whole' && mode.stream) return false;
  if (row.body !== undefined && row.body[mode.api.dialect] === undefined) return false;
  return !(isArray && row.notArray === true);
}
