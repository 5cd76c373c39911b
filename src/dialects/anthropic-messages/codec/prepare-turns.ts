import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import type { Part, ServerToolPart, Turn } from '../../../inference/inference-request.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { isForeignServerTool, nativeBlocks } from './server-tools.ts';

/**
 * Puts a conversation into the order that the vendor demands, after taking out what it could not read: blank text, reasoning that other
 * vendors proved or nobody did, the records of other vendors' tools.
 */
export function prepareTurns(turns: readonly Turn[], fit: RequestFit, isOwn: boolean): readonly Turn[] {
  const readable = turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap((part) => keepReadable(part, turn, fit, isOwn)) }));
  return arrangeTurns(readable, { alternate: true, startsWithUser: true, systemTurns: 'as-user' }, fit.notes);
}

/** A part that the vendor can read; what ran elsewhere as text. */
function keepReadable(part: Part, turn: Turn, fit: RequestFit, isOwn: boolean): readonly Part[] {
  const told = part.kind === 'server-tool' && !isReplayable(part) ? codeAsText(part) : undefined;
  if (told === undefined) return isReadable(part, turn, fit, isOwn) ? [part] : [];
  fit.notes.adapted({ path: part.path, otherwise: 'turns' }, codeAsTextReason);
  return [told];
}

const isReplayable = (part: ServerToolPart): boolean => nativeBlocks(part)?.every((block) => !isForeignServerTool(block)) === true;

function isReadable(part: Part, { role }: Turn, { notes, proofOrigin }: RequestFit, isOwn: boolean): boolean {
  const place = { path: 'path' in part ? part.path : undefined, otherwise: 'turns' } as const;
  switch (part.kind) {
    case 'text':
    case 'refusal':
      // The vendor refuses text of nothing but white space.
      return part.text.trim() !== '';
    case 'reasoning':
      return role === 'assistant' && part.proof?.origin === proofOrigin;
    case 'media':
      if (role === 'assistant') notes.dropped(place, `the vendor of this model takes no ${part.media} in an assistant turn`);
      return role !== 'assistant';
    case 'server-tool':
      if (isReplayable(part)) return true;
      notes.dropped(place, 'what tools of another vendor did cannot be replayed here');
      return false;
    case 'vendor':
      if (isOwn) return true;
      if (part.elsewhere === 'refuse') notes.refuse(place, `${part.name} means nothing to the vendor of this model; leave it out`);
      notes.dropped(place, `${part.name} means nothing to the vendor of this model`);
      return false;
    case 'tool-call':
    case 'tool-result':
      return true;
  }
}
