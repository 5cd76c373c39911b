import type { Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, numberOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import type { BlockWriter } from './block-writer.ts';
import { ObjectScan } from './object-scan.ts';
import { readThoughtSignature } from './reasoning-details.ts';

type Call = {
  /** Its number in the order in which calls came. */
  readonly order: number;
  readonly wireIndex: number | undefined;
  wireId: string;
  name: string;
  /** Arguments that have not gone on. */
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

/** An empty object that opens a call may stand for arguments to come. It is never sent before the end. */
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
 * Puts calls together from deltas of servers that agree on little: index missing or always 0, ids missing, empty, late or in every chunk,
 * names late, in pieces or in every chunk, arguments as text, as an object, at once or not at all, several calls interleaved.
 *
 * A call's block begins when its name and its first arguments are known, or when something else begins; by then its id is settled, made if
 * need be.
 */
export class CallAssembler {
  readonly #reading: ReplyReading;
  readonly #writer: BlockWriter;
  readonly #calls: Call[] = [];
  /** The latest call of an index and of an id: a reply may have thousands, and every delta looks for its own. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  /** Calls of which something has come since the last time they were settled. */
  readonly #unsettled = new Set<Call>();
  readonly #ids = new Set<string>();

  constructor(reading: ReplyReading, writer: BlockWriter) {
    this.#reading = reading;
    this.#writer = writer;
  }

  /** Whether any call has come that counts. */
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

  /** Something else begins: calls that wait for nothing but arguments begin before it, and those that are whole end. */
  settle(): void {
    if (this.#unsettled.size === 0) return;
    for (const call of [...this.#unsettled].toSorted((first, second) => first.order - second.order)) {
      if (call.block === undefined && call.name !== '') this.#start(call);
      if (call.block !== undefined && call.scan.isWhole()) this.#end(call);
    }
    this.#unsettled.clear();
  }

  /** Nothing more comes. */
  finish(): void {
    for (const call of this.#calls) {
      if (call.hasEnded) continue;
      if (call.block === undefined && call.name === '' && !call.hasArguments) continue;
      this.#start(call);
      this.#end(call);
    }
  }

  #readPiece(piece: Piece): void {
    const found = this.#find(piece);
    if (found === undefined) this.settle();
    const call = found ?? this.#add(piece);
    if (call.hasEnded) return;
    this.#unsettled.add(call);
    if (found !== undefined) this.#readHead(call, piece);
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

  /** The call that a piece continues; undefined when it begins another. */
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
      // An id that comes after its call.
      return last?.wireId === '' && piece.name === '' ? last : undefined;
    }
    if (last === undefined || piece.name === '') return last;
    const isOther = last.name !== '' && (last.name !== piece.name || !piece.isAlone);
    return !isOther && this.#continues(last, piece) ? last : undefined;
  }

  /** Whether a piece belongs to the call that its index or id names: servers use both again for the next call. */
  #continues(call: Call, { id, name, text }: Piece): boolean {
    if (id !== '' && call.wireId !== '' && id !== call.wireId) return name === '';
    if (id !== '' && id === call.wireId) return true;
    if (name === '' || call.name === '' || !call.hasArguments) return true;
    return name === call.name && !(call.scan.isWhole() && text.trimStart().startsWith('{'));
  }

  /** Id and name, as far as they are not settled: late ones, and pieces of them. */
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
    const known = this.#byId.get(wireId);
    if (known === undefined || known.order < call.order) this.#byId.set(wireId, call);
  }

  #readArguments(call: Call, text: string): void {
    if (text === '') return;
    if (call.scan.isWhole()) {
      // Nothing can follow a whole object; some servers repeat the call at the end.
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
    // A call that nobody named is still a call; the client answers that it has no such function.
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
