import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

export type TurnRules = {
  /** Whether user and assistant turns must alternate. */
  readonly alternate: boolean;
  readonly startsWithUser: boolean;
  /** Whether system text in mid-conversation is allowed, or must become user text. */
  readonly systemTurns: 'keep' | 'as-user';
};

/**
 * Puts a conversation into the order that vendors require. The results of calls follow the calls at once, in one user
 * turn and in the order of the calls. A result without a call is refused. Empty texts, and turns that contain nothing
 * else, are left out. Texts of different speakers are never mixed.
 */
export function arrangeTurns(turns: readonly Turn[], rules: TurnRules, notes: TranslationNotes): readonly Turn[] {
  const spoken = turns.map(withoutEmptyText).filter((turn) => turn.parts.length > 0);
  const placed = rules.systemTurns === 'as-user' ? spoken.map((turn) => sayAsUser(turn, notes)) : spoken;
  const paired = pairResults(placed, notes);
  const merged = rules.alternate ? mergeNeighbours(paired) : paired;
  if (!rules.startsWithUser || merged[0]?.role === 'user') return merged;
  notes.adapted('turns', 'the conversation does not begin with a user turn; a neutral one was put first');
  return [{ role: 'user', parts: [{ kind: 'text', text: '.' }] }, ...merged];
}

function isEmptyText(part: Part): boolean {
  // A text with a proof is not empty: the vendor expects the proof back.
  return (part.kind === 'text' && part.text === '' && part.proof === undefined) || (part.kind === 'refusal' && part.text === '');
}

function withoutEmptyText(turn: Turn): Turn {
  return turn.parts.some(isEmptyText) ? { ...turn, parts: turn.parts.filter((part) => !isEmptyText(part)) } : turn;
}

function sayAsUser(turn: Turn, notes: TranslationNotes): Turn {
  if (turn.role !== 'system') return turn;
  const [first] = turn.parts;
  notes.adapted({ path: first?.path, otherwise: 'turns' }, 'system text in mid-conversation is sent in a user turn, marked <system>');
  const text = turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
  return { role: 'user', parts: [{ kind: 'text', text: `<system>${text}</system>` }] };
}

/** The results for one id, and how many of them are paired already. */
type ResultQueue = { readonly parts: ToolResultPart[]; pairedCount: number };

type Results = Map<string, ResultQueue>;

/** All results by the id of their call. Two calls of a long conversation may share an id, so each id has a queue. */
function collectResults(turns: readonly Turn[]): Results {
  const results: Results = new Map();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.kind !== 'tool-result') continue;
      const queue = results.get(part.callId);
      if (queue === undefined) results.set(part.callId, { parts: [part], pairedCount: 0 });
      else queue.parts.push(part);
    }
  }
  return results;
}

function pairResults(turns: readonly Turn[], notes: TranslationNotes): readonly Turn[] {
  const results = collectResults(turns);
  const paired: Turn[] = [];
  for (const turn of turns) {
    const rest = turn.parts.filter((part) => part.kind !== 'tool-result');
    if (rest.length > 0) paired.push(rest.length === turn.parts.length ? turn : { ...turn, parts: rest });
    if (turn.role !== 'assistant') continue;
    const calls = turn.parts.filter((part): part is ToolCallPart => part.kind === 'tool-call');
    if (calls.length > 0) paired.push({ role: 'user', parts: calls.map((call) => resultOf(call, results, notes)) });
    if (new Set(calls.map(({ id }) => id)).size < calls.length) paired.push(...paired.splice(-2).map(makeIdsUnique));
  }
  refuseOrphans(results, notes);
  return joinResults(paired);
}

/**
 * Makes the ids of the calls in a turn unique. Some servers give all calls of a turn the same id, which others refuse.
 * Results are in the order of the calls, so the n-th call and the n-th result get the same id.
 */
function makeIdsUnique(turn: Turn): Turn {
  const originalIds = new Set(
    turn.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : part.kind === 'tool-result' ? [part.callId] : [])),
  );
  const usedIds = new Set<string>();
  const makeUnique = (id: string): string => {
    let own = id;
    for (let count = 2; usedIds.has(own); count++)
      if (!originalIds.has(`${id}_${count}`) && !usedIds.has(`${id}_${count}`)) own = `${id}_${count}`;
    usedIds.add(own);
    return own;
  };
  const parts = turn.parts.map((part): Part => {
    if (part.kind === 'tool-call') return { ...part, id: makeUnique(part.id) };
    return part.kind === 'tool-result' ? { ...part, callId: makeUnique(part.callId) } : part;
  });
  return { ...turn, parts };
}

function resultOf(call: ToolCallPart, results: Results, notes: TranslationNotes): ToolResultPart {
  const queue = results.get(call.id);
  const found = queue?.parts[queue.pairedCount];
  if (queue !== undefined) queue.pairedCount += 1;
  if (found !== undefined) return { ...found, name: call.name };
  notes.adapted({ path: call.path, otherwise: 'turns' }, `the call ${call.id} has no result; a result was added that says so`);
  const text: TextPart = { kind: 'text', text: 'The tool call was not executed.' };
  return { kind: 'tool-result', callId: call.id, name: call.name, content: [text], isError: true };
}

function refuseOrphans(results: Results, notes: TranslationNotes): void {
  for (const [callId, { parts, pairedCount }] of results) {
    const orphan = parts[pairedCount];
    if (orphan !== undefined)
      notes.refuse({ path: orphan.path, otherwise: 'turns' }, `no call with the id ${callId} comes before this result`);
  }
}

/**
 * A turn that is still being extended. Its parts are pushed, so that a thousand turns in a row are not copied a
 * thousand times.
 */
type OpenTurn = Turn & { readonly parts: Part[] };

function joinTurns(turns: readonly Turn[], belongs: (last: Turn, turn: Turn) => boolean): readonly Turn[] {
  const joined: OpenTurn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last === undefined || !belongs(last, turn)) joined.push({ ...turn, parts: [...turn.parts] });
    else for (const part of turn.parts) last.parts.push(part);
  }
  return joined;
}

/** Joins the results of consecutive turns, and the user's text after them, into one user turn. */
function joinResults(turns: readonly Turn[]): readonly Turn[] {
  const answersCalls = (turn: Turn): boolean => turn.role === 'user' && turn.parts[0]?.kind === 'tool-result';
  return joinTurns(turns, (last, turn) => answersCalls(last) && turn.role === 'user' && !answersCalls(turn));
}

function mergeNeighbours(turns: readonly Turn[]): readonly Turn[] {
  return joinTurns(turns, (last, turn) => last.role === turn.role);
}
