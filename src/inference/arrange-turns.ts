import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

export type TurnRules = {
  /** Whether user and assistant turns must take turns. */
  readonly alternate: boolean;
  readonly startsWithUser: boolean;
  /** Whether system text may stand in mid-conversation, or must be said by the user. */
  readonly systemTurns: 'keep' | 'as-user';
};

/**
 * Puts a conversation into the order that vendors demand: every call is followed at once by its result, in one user turn and in the order
 * of the calls; results without a call are refused; empty text is left out, and turns that are empty without it. What was said by different
 * speakers is never mixed.
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
  // A proof on empty text is not empty: the vendor wants it back.
  return (part.kind === 'text' && part.text === '' && part.proof === undefined) || (part.kind === 'refusal' && part.text === '');
}

function withoutEmptyText(turn: Turn): Turn {
  return turn.parts.some(isEmptyText) ? { ...turn, parts: turn.parts.filter((part) => !isEmptyText(part)) } : turn;
}

function sayAsUser(turn: Turn, notes: TranslationNotes): Turn {
  if (turn.role !== 'system') return turn;
  const [first] = turn.parts;
  notes.adapted({ path: first?.path, otherwise: 'turns' }, 'system text in mid-conversation is said in a user turn, marked <system>');
  const text = turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
  return { role: 'user', parts: [{ kind: 'text', text: `<system>${text}</system>` }] };
}

/** Results that answer one id, and how many of them have been paired. */
type ResultQueue = { readonly parts: ToolResultPart[]; taken: number };

type Results = Map<string, ResultQueue>;

/** All results by the id they answer. Two calls may share an id over a long conversation, so each id has a queue. */
function collectResults(turns: readonly Turn[]): Results {
  const results: Results = new Map();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.kind !== 'tool-result') continue;
      const queue = results.get(part.callId);
      if (queue === undefined) results.set(part.callId, { parts: [part], taken: 0 });
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
    if (new Set(calls.map(({ id }) => id)).size < calls.length) paired.push(...paired.splice(-2).map(tellCallsApart));
  }
  refuseOrphans(results, notes);
  return joinResults(paired);
}

/**
 * Some servers give the calls of one turn one id, which others refuse. Results stand in the order of the calls, so the n-th of both get the
 * same.
 */
function tellCallsApart(turn: Turn): Turn {
  const given = new Set(
    turn.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : part.kind === 'tool-result' ? [part.callId] : [])),
  );
  const taken = new Set<string>();
  const tellApart = (id: string): string => {
    let own = id;
    for (let count = 2; taken.has(own); count++) if (!given.has(`${id}_${count}`) && !taken.has(`${id}_${count}`)) own = `${id}_${count}`;
    taken.add(own);
    return own;
  };
  const parts = turn.parts.map((part): Part => {
    if (part.kind === 'tool-call') return { ...part, id: tellApart(part.id) };
    return part.kind === 'tool-result' ? { ...part, callId: tellApart(part.callId) } : part;
  });
  return { ...turn, parts };
}

function resultOf(call: ToolCallPart, results: Results, notes: TranslationNotes): ToolResultPart {
  const queue = results.get(call.id);
  const found = queue?.parts[queue.taken];
  if (queue !== undefined) queue.taken += 1;
  if (found !== undefined) return { ...found, name: call.name };
  notes.adapted({ path: call.path, otherwise: 'turns' }, `the call ${call.id} has no result; one was added that says so`);
  const text: TextPart = { kind: 'text', text: 'The tool call was not executed.' };
  return { kind: 'tool-result', callId: call.id, name: call.name, content: [text], isError: true };
}

function refuseOrphans(results: Results, notes: TranslationNotes): void {
  for (const [callId, { parts, taken }] of results) {
    const orphan = parts[taken];
    if (orphan !== undefined)
      notes.refuse({ path: orphan.path, otherwise: 'turns' }, `no call with the id ${callId} comes before this result`);
  }
}

/** A turn that others may be added to: their parts are pushed, so that a thousand turns in a row are not copied a thousand times. */
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

/**
 * The results of one assistant turn that was written as several belong to one user turn, and what the user says next follows in the same.
 */
function joinResults(turns: readonly Turn[]): readonly Turn[] {
  const answersCalls = (turn: Turn): boolean => turn.role === 'user' && turn.parts[0]?.kind === 'tool-result';
  return joinTurns(turns, (last, turn) => answersCalls(last) && turn.role === 'user' && !answersCalls(turn));
}

function mergeNeighbours(turns: readonly Turn[]): readonly Turn[] {
  return joinTurns(turns, (last, turn) => last.role === turn.role);
}
