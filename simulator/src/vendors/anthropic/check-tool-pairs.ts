import type { MessagesRequest } from './messages-schema.ts';

type Message = MessagesRequest['messages'][number];
type Block = Exclude<Message['content'], string>[number];

/** One side's turn: consecutive messages of the same role are one. */
type Turn = {
  readonly role: 'user' | 'assistant';
  readonly blocks: { readonly block: Block; readonly message: number; readonly position: number }[];
};

/**
 * Every tool call must be answered by a result at the beginning of the next user turn, and every result must answer a
 * call of the turn before it. Returns the vendor's error message, or undefined.
 */
export function checkToolPairs(messages: readonly Message[]): string | undefined {
  const turns = joinTurns(messages);
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const problem = turn.role === 'assistant' ? findUnanswered(turn, turns[index + 1], seen) : findUnasked(turn, turns[index - 1]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function joinTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const [message, { role, content }] of messages.entries()) {
    // Instructions in the middle of a conversation belong to neither side's turn.
    if (role === 'system') continue;
    let turn = turns.at(-1);
    if (turn?.role !== role) turns.push((turn = { role, blocks: [] }));
    if (typeof content === 'string') continue;
    for (const [position, block] of content.entries()) turn.blocks.push({ block, message, position });
  }
  return turns;
}

function findUnanswered(turn: Turn, next: Turn | undefined, seen: Set<string>): string | undefined {
  const calls = turn.blocks.flatMap(({ block, message }) =>
    'input' in block && block.type === 'tool_use' ? [{ id: String(block.id), message }] : [],
  );
  for (const call of calls) {
    if (seen.has(call.id)) return 'messages: `tool_use` ids must be unique';
    seen.add(call.id);
  }
  const answered = new Set<string>();
  for (const { block } of next?.blocks ?? []) {
    // Results count only before everything else in the turn.
    if (!('tool_use_id' in block) || block.type !== 'tool_result') break;
    answered.add(String(block.tool_use_id));
  }
  const open = calls.filter((call) => !answered.has(call.id));
  const [first] = open;
  if (first === undefined) return undefined;
  const ids = open.map((call) => call.id).join(', ');
  return `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function findUnasked(turn: Turn, before: Turn | undefined): string | undefined {
  const asked = new Set(before?.blocks.flatMap(({ block }) => ('input' in block && block.type === 'tool_use' ? [String(block.id)] : [])));
  const answered = new Set<string>();
  for (const { block, message, position } of turn.blocks) {
    if (!('tool_use_id' in block) || block.type !== 'tool_result') continue;
    const id = String(block.tool_use_id);
    if (!asked.has(id)) {
      return `messages.${message}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (answered.has(id))
      return `messages.${message}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    answered.add(id);
  }
  return undefined;
}
