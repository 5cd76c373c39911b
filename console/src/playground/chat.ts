import { followBackground, isBackground, stopBackground } from './background.ts';
import type { Json, JsonObject, Picture, Reply, Tool, Turn, Wish } from './conversation.ts';
import { createStore } from './create-store.ts';
import { chatInterfaces } from './interfaces/registry.ts';
import { type Lane, type Parameters, wayOf } from './lanes.ts';
import { keyFor, type Payer } from './payer.ts';
import { fillIn } from './pictures.ts';
import { createEventReader } from './read-events.ts';
import { receiptOf, relay, relayMessage } from './relay.ts';
import { failureOf, type Run, type Sent, startRun, type TimedEvent } from './runs.ts';

/** What a lane has seen: turns of the person, and calls with their replies. */
export type Entry = { readonly kind: 'turn'; readonly turn: Turn } | { readonly kind: 'run'; readonly by: Lane['by']; readonly run: Run };

export type LaneState = {
  readonly entries: readonly Entry[];
  /** The request as a person has rewritten it; it is sent as it is until it is put back. */
  readonly edited: string | undefined;
};

export type ChatState = {
  readonly text: string;
  readonly pictures: readonly Picture[];
  readonly system: string;
  readonly tools: readonly (Tool & { readonly answer: string })[];
  readonly schema: string;
  readonly lanes: readonly LaneState[];
};

const emptyLane: LaneState = { entries: [], edited: undefined };

export const chat = createStore<ChatState>({ text: '', pictures: [], system: '', tools: [], schema: '', lanes: [] });

export const laneAt = ({ lanes }: ChatState, index: number): LaneState => lanes[index] ?? emptyLane;

export function changeLane(index: number, change: (lane: LaneState) => LaneState): void {
  chat.change((state) => {
    const lanes = Array.from({ length: Math.max(state.lanes.length, index + 1) }, (_, at) => state.lanes[at] ?? emptyLane);
    lanes[index] = change(laneAt(state, index));
    return { ...state, lanes };
  });
}

/** What a next request can repeat of a call; undefined if it has given nothing. */
function spokenTurn(by: Lane['by'], { reply, refusal, problem, isStopped }: Run): Turn | undefined {
  if (reply === undefined || refusal !== undefined || problem !== undefined) return undefined;
  // A part of a reply may have unfinished thoughts and calls, so its text alone is repeated.
  if (isStopped || reply.error !== undefined) return reply.text === '' ? undefined : { role: 'assistant', text: reply.text, calls: [] };
  const { text, calls, content, id } = reply;
  return text === '' && calls.length === 0
    ? undefined
    : { role: 'assistant', text, calls, spoken: { by, content, ...(id !== undefined && { id }) } };
}

/** The conversation of a lane for its next request. What failed is left out with what was asked. */
export function turnsOf(entries: readonly Entry[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const entry of entries) {
    const turn = entry.kind === 'turn' ? entry.turn : spokenTurn(entry.by, entry.run);
    if (turn !== undefined) turns.push(turn);
    else if (turns.at(-1)?.role !== 'assistant') turns.pop();
  }
  return turns;
}

/** The calls of tools that wait for answers, if the last entry has some. */
export function openCalls(entries: readonly Entry[]): Reply['calls'] {
  const last = entries.at(-1);
  if (last?.kind !== 'run' || last.run.state !== 'ended') return [];
  const turn = spokenTurn(last.by, last.run);
  return turn?.role === 'assistant' ? turn.calls : [];
}

/** The schema that was written; undefined for none, and for a text that is not an object of JSON. */
export function readSchema(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    // Empty, or not finished.
    return undefined;
  }
}

/** The request of a lane as it would be sent now. */
export function requestOf(state: ChatState, lane: Lane, index: number, shared: Parameters, more: readonly Turn[]): Sent {
  const { entries, edited } = laneAt(state, index);
  const of = chatInterfaces[lane.by];
  const wish: Wish = {
    model: lane.model,
    system: state.system.trim(),
    turns: [...turnsOf(entries), ...more],
    tools: state.tools,
    schema: readSchema(state.schema),
    temperature: lane.own.temperature ?? shared.temperature,
    maxTokens: lane.own.maxTokens ?? shared.maxTokens,
    thinking: lane.own.thinking ?? shared.thinking,
    stream: lane.stream,
    background: wayOf(lane) === 'background',
    byId: lane.byId,
  };
  const path = of.pathOf(lane);
  const written = of.encode(wish);
  if (wayOf(lane) !== 'socket') return { method: 'POST', path, body: edited ?? JSON.stringify(written, null, 2) };
  // Each message of the WebSocket has one event, so none says whether to stream.
  const { stream: _implied, ...message } = written;
  return { method: 'WS', path, body: edited ?? JSON.stringify({ type: 'response.create', ...message }, null, 2) };
}

/** The turn that the composer holds; nothing for an empty one. */
export function writtenTurn({ text, pictures }: ChatState): readonly Turn[] {
  return text.trim() === '' && pictures.length === 0 ? [] : [{ role: 'user', text, pictures }];
}

const running = new Map<number, AbortController>();

export const stopLane = (index: number): void => running.get(index)?.abort();

/** Removes a lane with what it has seen. */
export function removeLane(index: number): void {
  stopLane(index);
  chat.change((state) => ({ ...state, lanes: state.lanes.filter((_lane, at) => at !== index) }));
}

/** Begins anew in all lanes; what was written stays. */
export function clearLanes(): void {
  for (const controller of running.values()) controller.abort();
  chat.change((state) => ({ ...state, lanes: state.lanes.map(({ edited }) => ({ ...emptyLane, edited })) }));
}

/** Takes the last call away that has failed or was stopped, with what was asked. @returns the turns to ask again */
export function takeBack(index: number): readonly Turn[] {
  const { entries } = laneAt(chat.get(), index);
  const before = entries.slice(0, -1);
  const asked = before.at(-1);
  if (asked?.kind !== 'turn') return [];
  changeLane(index, (lane) => ({ ...lane, entries: before.slice(0, -1) }));
  return [asked.turn];
}

/** Sends the next request of a lane, and follows it to its receipt. Everything that goes wrong is shown in the lane. */
export async function runLane(index: number, lane: Lane, shared: Parameters, payer: Payer, turns: readonly Turn[]): Promise<void> {
  const sent = requestOf(chat.get(), lane, index, shared, turns);
  const isEdited = laneAt(chat.get(), index).edited !== undefined;
  const asked: readonly Entry[] = isEdited ? [] : turns.map((turn) => ({ kind: 'turn', turn }));
  let run = startRun(sent, `${chatInterfaces[lane.by].title} · ${lane.model}`);
  const place = laneAt(chat.get(), index).entries.length + asked.length;
  const controller = new AbortController();
  running.get(index)?.abort();
  running.set(index, controller);
  const update = (change: Partial<Run>): void => {
    const before = run;
    run = { ...run, ...change };
    changeLane(index, (state) => {
      const entries = [...state.entries];
      const at = entries[place];
      // A cleared lane shows nothing of a call that still ends.
      if (at?.kind === 'run' && at.run === before) entries[place] = { ...at, run };
      return { ...state, entries };
    });
  };
  changeLane(index, (state) => ({ ...state, entries: [...state.entries, ...asked, { kind: 'run', by: lane.by, run }] }));
  try {
    const { keyId } = await keyFor(payer);
    update({ keyId });
    await converse(lane, { keyId, sent, connection: connectionOf(index), signal: controller.signal }, update);
  } catch (error) {
    update(failureOf(error, controller.signal));
    if (run.isStopped && run.keyId !== undefined && isBackground(run.reply, sent)) await stopBackground(run.keyId, run.reply);
  }
  update({ state: 'ended' });
  if (running.get(index) === controller) running.delete(index);
  await fetchReceipt(run, update);
}

/** Asks for the receipt of a call that has ended, if it can have one. */
export async function fetchReceipt({ keyId, requestId, reply, problem }: Run, update: (change: Partial<Run>) => void): Promise<void> {
  // A message of a WebSocket has no header with the id of its call: its response names it.
  const id = requestId ?? reply?.id;
  if (keyId === undefined || id === undefined || problem !== undefined) return;
  update({ receipt: 'asked' });
  try {
    const receipt = await receiptOf(keyId, id);
    update({ receipt: receipt ?? 'none', ...(receipt !== undefined && { requestId: receipt.request_id }) });
  } catch {
    // The page shows that there is none; the call is in the books all the same.
    update({ receipt: 'none' });
  }
}

type Call = {
  readonly keyId: string;
  readonly sent: Sent;
  /** The name of the WebSocket of the lane. */
  readonly connection: string;
  readonly signal: AbortSignal;
};

/** Another tab has WebSockets of its own. */
const tab = crypto.randomUUID();
const connectionOf = (index: number): string => `${tab}-${index}`;

const eventsMax = 5000;
/** So often a growing reply is drawn. */
const drawMs = 40;

async function converse(lane: Lane, { keyId, sent, connection, signal }: Call, update: (change: Partial<Run>) => void): Promise<void> {
  const of = chatInterfaces[lane.by];
  const startedMs = performance.now();
  const sinceStart = (): number => performance.now() - startedMs;
  const request = { keyId, path: sent.path, headers: of.headers, body: fillIn(sent.body), signal };
  const response = sent.method === 'WS' ? await relayMessage(request, connection) : await relay(request);
  update({ status: response.status, requestId: response.headers.get('x-weir-request-id') ?? undefined });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
    const text = await response.text();
    if (!response.ok) return update({ refusal: text, totalMs: sinceStart() });
    const show = (body: Json): void => update({ reply: of.readWhole(body), firstMs: sinceStart(), totalMs: sinceStart() });
    const body = JSON.parse(text) as Json;
    show(body);
    return await followBackground({ keyId, body, signal }, show);
  }
  const reader = of.createReader();
  const read = createEventReader();
  const decoder = new TextDecoder();
  const events: TimedEvent[] = [];
  let firstMs: number | undefined;
  let drawnMs = 0;
  const take = (piece: string, last = false): void => {
    for (const event of read(piece, last)) {
      reader.push(event);
      if (events.length < eventsMax) events.push({ ...event, atMs: sinceStart() });
    }
    const reply = reader.read();
    if (reply.text !== '' || reply.thought !== '' || reply.calls.length > 0) firstMs ??= sinceStart();
    if (!last && sinceStart() - drawnMs < drawMs) return;
    drawnMs = sinceStart();
    update({ reply, firstMs, events: [...events], ...(last && { totalMs: sinceStart() }) });
  };
  const pieces = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) break;
      take(decoder.decode(value, { stream: true }));
    }
  } finally {
    take(decoder.decode(), true);
  }
}
