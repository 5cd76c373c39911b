import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import type { Part, ServerToolPart, Turn } from '../../../inference/inference-request.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { isForeignServerTool, nativeBlocks } from './server-tools.ts';

/**
 * Puts a conversation into the order that the vendor requires. It first removes content that the vendor cannot read:
 * blank text, reasoning without the vendor's proof, and records of other vendors' tools.
 */
export function prepareTurns(turns: readonly Turn[], fit: RequestFit, isOwn: boolean): readonly Turn[] {
  const readable = turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap((part) => keepReadable(part, turn, fit, isOwn)) }));
  return arrangeTurns(readable, { alternate: true, startsWithUser: true, systemTurns: 'as-user' }, fit.notes);
}

/** Keeps a part that the vendor can read. Code that ran elsewhere becomes text. */
function keepReadable(part: Part, turn: Turn, fit: RequestFit, isOwn: boolean): readonly Part[] {
  const codeText = part.kind === 'server-tool' && !isReplayable(part) ? codeAsText(part) : undefined;
  if (codeText === undefined) return isReadable(part, turn, fit, isOwn) ? [part] : [];
  fit.notes.adapted({ path: part.path, otherwise: 'turns' }, codeAsTextReason);
  return [codeText];
}

const isReplayable = (part: ServerToolPart): boolean => nativeBlocks(part)?.every((block) => !isForeignServerTool(block)) === true;

function isReadable(part: Part, { role }: Turn, { notes, proofOrigin }: RequestFit, isOwn: boolean): boolean {
  const place = { path: 'path' in part ? part.path : undefined, otherwise: 'turns' } as const;
  switch (part.kind) {
    case 'text':
    case 'refusal':
      // The vendor refuses text that is only white space.
      return part.text.trim() !== '';
    case 'reasoning':
      return role === 'assistant' && part.proof?.origin === proofOrigin;
    case 'media':
      if (role === 'assistant') notes.dropped(place, `the vendor of this model does not accept ${part.media} in an assistant turn`);
      return role !== 'assistant';
    case 'server-tool':
      if (isReplayable(part)) return true;
      notes.dropped(place, "the activity of another vendor's tool cannot be replayed here");
      return false;
    case 'vendor':
      if (isOwn) return true;
      if (part.elsewhere === 'refuse') notes.refuse(place, `the vendor of this model does not support ${part.name}; leave it out`);
      notes.dropped(place, `the vendor of this model does not support ${part.name}`);
      return false;
    case 'tool-call':
    case 'tool-result':
      return true;
  }
}
