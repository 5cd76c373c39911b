import { numberOf, wordOf, type Fault, type FaultName } from './faults.ts';
import { applyAudioQuirk } from './media/audio-quirk.ts';
import type { SimulatedRequest, SimulatedVendor } from './simulated-vendor.ts';
import { bytesOfPiece, toJsonReply, type Piece, type WireAction, type WireReply } from './wire-reply.ts';

export type FaultContext = {
  readonly vendor: Pick<SimulatedVendor, 'errorBody' | 'refuseLongPrompt'>;
  readonly requestId: string;
  readonly request: SimulatedRequest;
  /** The credential of the call, for `echo-credentials`. */
  readonly credential: string;
  /** How the vendor reports a failure inside a stream; absent for whole replies. */
  readonly errorFrame?: string;
  readonly unknownFrame?: string;
};

type Apply = (wire: WireReply, fault: Fault, context: FaultContext) => WireReply;

const stallMsMax = 600_000;
const bytesMax = 1_073_741_824;

const statusMessages: Readonly<Record<number, string>> = {
  429: 'This is a simulated rate limit. Please slow down.',
  529: 'Overloaded',
};

/** Damages a reply as a fault says. Throws SteeringError for invalid parameters. */
export function applyFault(wire: WireReply, fault: Fault, context: FaultContext): WireReply {
  return appliers[fault.name](wire, fault, context);
}

const appliers: Readonly<Record<FaultName, Apply>> = {
  status: applyStatus,
  'context-overflow': (_wire, _fault, context) => {
    const refusal = context.vendor.refuseLongPrompt(context.request);
    return toJsonReply(refusal.status, refusal.body);
  },
  'error-in-200': (_wire, fault, context) => {
    const body = context.vendor.errorBody(numberOf(fault, 'status', 500, 400, 599), messageOf(fault, 500), context.requestId);
    return toJsonReply(200, body);
  },
  html: (_wire, fault) => ({
    ...toJsonReply(numberOf(fault, 'status', 200, 200, 599), null, { 'content-type': 'text/html; charset=utf-8' }),
    pieces: ['<!doctype html><html><head><title>Simulated gateway page</title></head><body><h1>Bad gateway</h1></body></html>\n'],
  }),
  'empty-body': (_wire, fault) => ({ ...toJsonReply(numberOf(fault, 'status', 200, 200, 599), null), pieces: [''] }),
  redirect: (_wire, fault) => ({
    ...toJsonReply(numberOf(fault, 'status', 307, 300, 399), null, { location: fault.parameters['location'] ?? 'http://127.0.0.1:9/' }),
    pieces: [''],
  }),
  'echo-credentials': applyEcho,
  refuse: (wire) => ({ ...wire, beforeHeaders: { type: 'reset' } }),
  'reset-before-headers': (wire) => ({ ...wire, beforeHeaders: { type: 'reset' } }),
  'stall-before-headers': (wire, fault) => ({ ...wire, beforeHeaders: stallOf(fault) }),
  'stall-after-headers': (wire, fault) => stallAt(cuttable(wire), 0, fault),
  'stall-mid-stream': (wire, fault) => {
    const cut = cuttable(wire);
    return stallAt(cut, strikeIndex(cut, fault), fault);
  },
  'reset-mid-stream': applyReset,
  truncate: applyTruncate,
  'missing-sentinel': (wire) => ({ ...wire, pieces: wire.pieces.slice(0, -1), tokens: wire.tokens.slice(0, -1) }),
  'duplicate-sentinel': (wire) => append(wire, wire.pieces.at(-1) ?? ''),
  'data-after-sentinel': (wire) => append(wire, wire.pieces[wire.firstContent] ?? ''),
  'malformed-event': applyMalformed,
  'huge-event': applyHugeEvent,
  'slow-drip': (wire, fault) => ({ ...wire, bytesPerSecond: numberOf(fault, 'rate', 1, 0.1, 1e9) }),
  'error-event': applyErrorEvent,
  'unknown-event': applyUnknownEvent,
  // The plan carries this one into the vendor's format.
  'unknown-block': (wire) => wire,
  gzip: (wire) => ({ ...wire, framing: 'chunked', headers: { ...wire.headers, 'content-encoding': 'gzip' }, encoding: 'gzip' }),
  'many-headers': applyManyHeaders,
  'long-header': (wire, fault) => ({
    ...wire,
    headers: { ...wire.headers, 'x-simulator-long': 'x'.repeat(numberOf(fault, 'bytes', 20_480, 1, 10_485_760)) },
  }),
  'conflicting-lengths': applyConflictingLengths,
  'line-ends': applyLineEnds,
  'split-utf8': (wire) => ({ ...wire, framing: 'chunked', encoding: 'split-utf8' }),
  'audio-quirk': applyAudioQuirk,
};

function applyStatus(_wire: WireReply, fault: Fault, context: FaultContext): WireReply {
  const status = numberOf(fault, 'status', 500, 200, 599);
  const headers: Record<string, string> = {};
  for (const name of ['retry-after', 'retry-after-ms', 'x-should-retry']) {
    const value = fault.parameters[name];
    if (value !== undefined) headers[name] = value;
  }
  return toJsonReply(status, context.vendor.errorBody(status, messageOf(fault, status), context.requestId), headers);
}

function applyEcho(_wire: WireReply, fault: Fault, context: FaultContext): WireReply {
  const status = numberOf(fault, 'status', 401, 400, 599);
  const message = `Incorrect API key provided: ${context.credential}.`;
  return toJsonReply(status, context.vendor.errorBody(status, message, context.requestId), { 'x-echoed-credential': context.credential });
}

function messageOf(fault: Fault, status: number): string {
  const message = fault.parameters['message'];
  return message ?? statusMessages[status] ?? `This is a simulated failure with status ${status}.`;
}

function stallAt(wire: WireReply, index: number, fault: Fault): WireReply {
  const action = stallOf(fault);
  return withAction(action.afterwards === 'reset' ? cutAt(wire, index) : wire, index, action);
}

/** Without `ms` the silence lasts until the client disconnects, and ends in a reset after at most ten minutes. */
function stallOf(fault: Fault): WireAction & { type: 'wait' } {
  const isForever = fault.parameters['ms'] === undefined;
  return { type: 'wait', ms: numberOf(fault, 'ms', stallMsMax, 0, stallMsMax), afterwards: isForever ? 'reset' : 'go-on' };
}

function applyReset(wire: WireReply, fault: Fault): WireReply {
  const cut = cuttable(wire);
  const index = strikeIndex(cut, fault);
  if (wordOf(fault, 'cut', ['between', 'inside']) === 'between') return withAction(cutAt(cut, index), index, { type: 'reset' });
  const kept = cutAt(cut, index);
  const half = halfOf(cut.pieces[index]);
  const pieces = [...kept.pieces, half];
  return withAction({ ...kept, pieces, tokens: [...kept.tokens, 0] }, pieces.length, { type: 'reset' });
}

function applyTruncate(wire: WireReply, fault: Fault): WireReply {
  const how = wordOf(fault, 'how', ['end', 'fin', 'eof', 'long-length', 'short-length']);
  const whole = cuttable(wire);
  if (how === 'short-length') {
    const bytes = wire.pieces.reduce((sum, piece) => sum + bytesOfPiece(piece), 0);
    return withAction({ ...wire, framing: 'length', declaredBytes: Math.floor(bytes / 2) }, wire.pieces.length, { type: 'fin' });
  }
  const cut = cutAt(whole, strikeIndex(whole, fault));
  const end = cut.pieces.length;
  switch (how) {
    case 'end':
      return { ...cut, framing: 'chunked' };
    case 'fin':
      return withAction({ ...cut, framing: 'chunked' }, end, { type: 'fin' });
    case 'eof':
      return { ...cut, framing: 'eof' };
    case 'long-length': {
      const bytes = wire.pieces.reduce((sum, piece) => sum + bytesOfPiece(piece), 0);
      return withAction({ ...cut, framing: 'length', declaredBytes: bytes }, end, { type: 'fin' });
    }
  }
}

function applyMalformed(wire: WireReply, fault: Fault): WireReply {
  if (!wire.isStream) return { ...wire, pieces: [halfOf(wire.pieces[0])] };
  const index = strikeIndex(wire, fault);
  const piece = wire.pieces[index];
  if (typeof piece !== 'string') return wire;
  const end = lineEndOf(wire);
  const broken = `${piece.slice(0, Math.max(piece.indexOf('{') + 1, Math.floor(piece.trimEnd().length * 0.7)))}${end}${end}`;
  return { ...wire, pieces: wire.pieces.with(index, broken), tokens: wire.tokens.with(index, 0) };
}

function applyHugeEvent(wire: WireReply, fault: Fault): WireReply {
  const fillBytes = numberOf(fault, 'bytes', 104_857_600, 1, bytesMax);
  if (!wire.isStream) {
    const body = textOf(wire.pieces[0]);
    // A JSON object stays valid with a long member in front.
    return {
      ...wire,
      framing: 'chunked',
      pieces: ['{"simulated_filler":"', { fillBytes }, `",${body.slice(1)}`],
      tokens: [0, 0, wire.tokens[0] ?? 0],
    };
  }
  const index = strikeIndex(wire, fault);
  const end = lineEndOf(wire);
  const named = textOf(wire.pieces[0]).startsWith('event:') ? `event: simulated_filler${end}` : '';
  const event: Piece[] = [`${named}data: {"type":"simulated_filler","filler":"`, { fillBytes }, `"}${end}${end}`];
  return insert(wire, index, event);
}

function applyErrorEvent(wire: WireReply, fault: Fault, context: FaultContext): WireReply {
  // A whole reply has no events: its failure is a status.
  if (!wire.isStream) return applyStatus(wire, { name: 'status', parameters: { status: '500' } }, context);
  const cut = cutAt(wire, strikeIndex(wire, fault));
  return append(cut, context.errorFrame ?? '');
}

function applyUnknownEvent(wire: WireReply, fault: Fault, context: FaultContext): WireReply {
  if (!wire.isStream) {
    const body = textOf(wire.pieces[0]);
    return { ...wire, pieces: [`{"simulated_unknown_member":{"note":"nobody knows this"},${body.slice(1)}`] };
  }
  const end = lineEndOf(wire);
  const named = textOf(wire.pieces[0]).startsWith('event:') ? `event: simulated_unknown${end}` : '';
  const made = `${named}data: {"type":"simulated_unknown","note":"nobody knows this"}${end}${end}`;
  return insert(wire, strikeIndex(wire, fault), [context.unknownFrame ?? made]);
}

function applyManyHeaders(wire: WireReply, fault: Fault): WireReply {
  const headers: Record<string, string | readonly string[]> = { ...wire.headers };
  const count = numberOf(fault, 'count', 1_000, 1, 100_000);
  for (let index = 0; index < count; index++) headers[`x-simulator-header-${index}`] = 'one of many';
  return { ...wire, headers };
}

function applyConflictingLengths(wire: WireReply, fault: Fault): WireReply {
  const body = Buffer.concat(wire.pieces.map((piece) => Buffer.from(piece instanceof Uint8Array ? piece : textOf(piece))));
  const bytes = body.length;
  const kind = wordOf(fault, 'kind', ['length-and-chunked', 'two-lengths']);
  const type = String(wire.headers['content-type'] ?? 'application/json');
  const head = `HTTP/1.1 ${wire.status} OK\r\ncontent-type: ${type}\r\n`;
  const [start, end] =
    kind === 'two-lengths'
      ? [`${head}content-length: ${bytes}\r\ncontent-length: ${Math.floor(bytes / 2)}\r\n\r\n`, '']
      : [`${head}content-length: ${bytes}\r\ntransfer-encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`, '\r\n0\r\n\r\n'];
  const rawBytes = Buffer.concat([Buffer.from(start), body, Buffer.from(end)]);
  return { ...wire, rawBytes };
}

function applyLineEnds(wire: WireReply, fault: Fault): WireReply {
  const kind = wordOf(fault, 'kind', ['crlf', 'cr', 'lf', 'mixed', 'bom', 'comments', 'no-space']);
  if (!wire.isStream) return kind === 'bom' ? { ...wire, pieces: [`\uFEFF${textOf(wire.pieces[0])}`] } : wire;
  const ends = { crlf: ['\r\n'], cr: ['\r'], lf: ['\n'], mixed: ['\r\n', '\n', '\r'] } as const;
  const pieces = wire.pieces.map((piece, index) => {
    // Audio and images have no lines.
    if (typeof piece !== 'string') return piece;
    const text = piece;
    switch (kind) {
      case 'bom':
        return index === 0 ? `\uFEFF${text}` : text;
      case 'comments':
        return `: simulated comment${lineEndOf(wire)}${text}`;
      case 'no-space':
        return text.replaceAll(/^(data|event): /gm, '$1:');
      case 'crlf':
      case 'cr':
      case 'lf':
      case 'mixed':
        return text.replaceAll(/\r\n|\r|\n/g, ends[kind][index % ends[kind].length] ?? '\n');
    }
  });
  return { ...wire, pieces };
}

/**
 * Index of the piece before which the fault applies: after this number of pieces with content (parameter `after`, 1 if
 * absent; 0 is before any).
 */
function strikeIndex(wire: WireReply, fault: Fault): number {
  const after = numberOf(fault, 'after', 1, 0, 1e9);
  let index = wire.firstContent;
  for (let seen = 0; seen < after && index < wire.pieces.length; index++) {
    if (!wire.isStream || (wire.tokens[index] ?? 0) > 0) seen += 1;
  }
  return index;
}

/** A whole reply in two halves, so that a fault can apply in its middle. Streams stay unchanged. */
function cuttable(wire: WireReply): WireReply {
  if (wire.isStream) return wire;
  const body = wire.pieces[0] ?? '';
  const first = halfOf(body);
  const rest = body instanceof Uint8Array ? body.subarray(bytesOfPiece(first)) : textOf(body).slice(textOf(first).length);
  // The head promises the full length, however little of it is sent.
  return { ...wire, declaredBytes: bytesOfPiece(body), pieces: [first, rest], tokens: [0, wire.tokens[0] ?? 0] };
}

function cutAt(wire: WireReply, index: number): WireReply {
  return { ...wire, pieces: wire.pieces.slice(0, index), tokens: wire.tokens.slice(0, index) };
}

function withAction(wire: WireReply, index: number, action: WireAction): WireReply {
  return { ...wire, actions: new Map([...(wire.actions ?? []), [index, action]]) };
}

function append(wire: WireReply, piece: Piece): WireReply {
  return { ...wire, pieces: [...wire.pieces, piece], tokens: [...wire.tokens, 0] };
}

function insert(wire: WireReply, index: number, pieces: readonly Piece[]): WireReply {
  return {
    ...wire,
    pieces: wire.pieces.toSpliced(index, 0, ...pieces),
    tokens: wire.tokens.toSpliced(index, 0, ...pieces.map(() => 0)),
  };
}

function lineEndOf(wire: WireReply): string {
  return textOf(wire.pieces[0]).endsWith('\r\n\r\n') ? '\r\n' : '\n';
}

function halfOf(piece: Piece | undefined): Piece {
  if (piece instanceof Uint8Array) return piece.subarray(0, Math.ceil(piece.length / 2));
  const text = textOf(piece);
  return text.slice(0, Math.ceil(text.length / 2)).replace(/[\uD800-\uDBFF]$/, '');
}

function textOf(piece: Piece | undefined): string {
  return typeof piece === 'string' ? piece : '';
}
