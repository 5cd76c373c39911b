import type { Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, numberOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import type { BlockWriter } from './block-writer.ts';
import { ObjectScan } from './object-scan.ts';
import { readThoughtSignature } from './reasoning-details.ts';

type Call = {
  /** Its number in the order of arrival. */
  readonly order: number;
  readonly wireIndex: number | undefined;
  wireId: string;
  name: string;
  /** Arguments that have not been passed on. */
  held: string;
  hasArguments: boolean;
  scan: ObjectScan;
  proof: Proof | undefined;
  block: number | undefined;
  hasEnded: boolean;
};

/** One entry of `tool_calls` in a delta. */
type Piece = {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly signature: string | undefined;
  /** Whether the delta has no other entries. */
  readonly isAlone: boolean;
};

/** An empty object that opens a call may be a placeholder for arguments. It is never sent before the end. */
const isEmptyOpening = ({ held, scan }: Call): boolean => held === '{}' && scan.isWhole();

function argumentsText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return textOf(value) ?? JSON.stringify(value);
}

function readPiece(call: JsonObject, isAlone: boolean): Piece {
  const { name, arguments: input } = membersOf(call.function);
  return {
    index: numberOf(call.index),
    id: filledText(call.id) ?? '',
    name: filledText(name) ?? '',
    text: argumentsText(input),
    signature: readThoughtSignature(call),
    isAlone,
  };
}

/**
 * Assembles calls from the deltas of servers that differ in almost everything:
 *
 * - the index is missing or always 0;
 * - ids are missing, empty, late or in every chunk;
 * - names are late, in deltas or in every chunk;
 * - arguments are text or an object, at once or missing;
 * - several calls interleave.
 *
 * The block of a call begins when its name and first arguments are known, or when something else begins. By then its id
 * is final, generated if necessary.
 */
export class CallAssembler {
  readonly #reading: ReplyReading;
  readonly #writer: BlockWriter;
  readonly #calls: Call[] = [];
  /** The latest call of each index and id. A reply may have thousands of calls, and every delta looks up its own. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  /** Calls that have changed since `settle` was last called. */
  readonly #unsettled = new Set<Call>();
  readonly #ids = new Set<string>();

  constructor(reading: ReplyReading, writer: BlockWriter) {
    this.#reading = reading;
    this.#writer = writer;
  }

  /** Whether any real call has arrived. */
  hasCalls(): boolean {
    return this.#calls.some((call) => call.block !== undefined);
  }

  read(entries: readonly JsonObject[]): void {
    const isAlone = entries.length === 1;
    for (const entry of entries) this.#readPiece(readPiece(entry, isAlone));
  }

  /** The older `function_call`: one call without index and id. */
  readFunctionCall(call: JsonObject): void {
    this.#readPiece(readPiece({ index: -1, function: call }, true));
  }

  /** Something else begins. Calls that wait only for arguments begin before it, and complete calls end. */
  settle(): void {
    if (this.#unsettled.size === 0) return;
    for (const call of [...this.#unsettled].toSorted((first, second) => first.order - second.order)) {
      if (call.block === undefined && call.name !== '') this.#start(call);
      if (call.block !== undefined && call.scan.isWhole()) this.#end(call);
    }
    this.#unsettled.clear();
  }

  /** Ends all calls. */
  finish(): void {
    for (const call of this.#calls) {
      if (call.hasEnded) continue;
      if (call.block === undefined && call.name === '' && !call.hasArguments) continue;
      this.#start(call);
      this.#end(call);
    }
  }

  #readPiece(piece: Piece): void {
    const existing = this.#find(piece);
    if (existing === undefined) this.settle();
    const call = existing ?? this.#add(piece);
    if (call.hasEnded) return;
    this.#unsettled.add(call);
    if (existing !== undefined) this.#readHead(call, piece);
    if (piece.signature !== undefined) call.proof = { origin: this.#reading.proofOrigin, blob: piece.signature };
    this.#readArguments(call, piece.text);
    if (call.block === undefined && call.name !== '' && call.held !== '' && !isEmptyOpening(call)) this.#start(call);
    else this.#send(call);
  }

  #add({ index, id, name }: Piece): Call {
    const call: Call = {
      order: this.#calls.length,
      wireIndex: index,
      wireId: id,
      name,
      held: '',
      hasArguments: false,
      scan: new ObjectScan(),
      proof: undefined,
      block: undefined,
      hasEnded: false,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    if (id !== '') this.#byId.set(id, call);
    return call;
  }

  /** The call that a piece continues. Undefined if it begins another. */
  #find(piece: Piece): Call | undefined {
    const { index, id } = piece;
    if (index !== undefined) {
      const call = this.#byIndex.get(index);
      if (call !== undefined) return this.#continues(call, piece) ? call : undefined;
      return piece.name === '' && id !== '' ? this.#byId.get(id) : undefined;
    }
    const last = this.#calls.at(-1);
    if (id !== '') {
      const call = this.#byId.get(id);
      if (call !== undefined) return this.#continues(call, piece) ? call : undefined;
      // An id that arrives after its call.
      return last?.wireId === '' && piece.name === '' ? last : undefined;
    }
    if (last === undefined || piece.name === '') return last;
    const isOther = last.name !== '' && (last.name !== piece.name || !piece.isAlone);
    return !isOther && this.#continues(last, piece) ? last : undefined;
  }

  /** Whether a piece belongs to the call that its index or id names. Servers reuse both for the next call. */
  #continues(call: Call, { id, name, text }: Piece): boolean {
    if (id !== '' && call.wireId !== '' && id !== call.wireId) return name === '';
    if (id !== '' && id === call.wireId) return true;
    if (name === '' || call.name === '' || !call.hasArguments) return true;
    return name === call.name && !(call.scan.isWhole() && text.trimStart().startsWith('{'));
  }

  /** Adds id and name while they are not final: late ones, and pieces of them. */
  #readHead(call: Call, { id, name }: Piece): void {
    if (call.block !== undefined) return;
    if (id !== '' && id !== call.wireId) this.#rename(call, call.wireId === '' || id.startsWith(call.wireId) ? id : call.wireId + id);
    if (name === '' || name === call.name || call.hasArguments) {
      if (call.name === '') call.name = name;
    } else call.name = name.startsWith(call.name) ? name : call.name + name;
  }

  #rename(call: Call, wireId: string): void {
    if (this.#byId.get(call.wireId) === call) this.#byId.delete(call.wireId);
    call.wireId = wireId;
    const current = this.#byId.get(wireId);
    if (current === undefined || current.order < call.order) this.#byId.set(wireId, call);
  }

  #readArguments(call: Call, text: string): void {
    if (text === '') return;
    if (call.scan.isWhole()) {
      // Nothing can follow a complete object; some servers repeat the call at the end.
      if (!isEmptyOpening(call) || !text.startsWith('{')) return;
      call.held = '';
      call.scan = new ObjectScan();
    }
    call.held += text;
    call.hasArguments = true;
    call.scan.read(text);
  }

  #start(call: Call): void {
    if (call.block !== undefined) return;
    const isUsable = call.wireId !== '' && !this.#ids.has(call.wireId);
    const id = isUsable ? call.wireId : this.#reading.newId('call');
    this.#ids.add(id);
    // A call without a name is still a call. The client answers that it has no such function.
    call.block = this.#writer.startCall(id, call.name === '' ? 'unknown' : call.name);
    this.#send(call);
  }

  #send(call: Call): void {
    if (!isEmptyOpening(call)) this.#sendHeld(call);
  }

  #sendHeld(call: Call): void {
    if (call.block === undefined || call.held === '') return;
    this.#writer.push({ type: 'delta', index: call.block, text: call.held });
    call.held = '';
  }

  #end(call: Call): void {
    if (call.block === undefined) return;
    this.#sendHeld(call);
    if (call.proof !== undefined) this.#writer.push({ type: 'proof', index: call.block, proof: call.proof });
    this.#writer.push({ type: 'block-ended', index: call.block });
    call.hasEnded = true;
  }
}
