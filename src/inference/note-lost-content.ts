import type { Citation } from './citation.ts';
import type { InferenceRequest, MediaPart, Part, ReasoningPart } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** What a request may say, and a dialect has no word for. */
export type MissingCapabilities = {
  readonly endUser?: boolean;
  readonly verbosity?: boolean;
  /** That the arguments of a function keep to its schema. */
  readonly strictTools?: boolean;
  /** How closely an image is looked at. */
  readonly imageDetail?: boolean;
  /** Which names of speakers can be said. Absent: none. */
  readonly acceptsName?: (name: string) => boolean;
  /** The sources of what was said earlier: all of them, or those that are no addresses. */
  readonly citations?: 'all' | 'documents';
  /** Names of images, sounds and films. */
  readonly mediaNames?: boolean;
  /** Whether earlier thoughts go back to the upstream. */
  readonly takesReasoning: (part: ReasoningPart) => boolean;
  /** Whose proofs the upstream takes on texts and calls. */
  readonly proofOrigin: string;
};

/** Names what a request says and its upstream is not told, because its interface has no word for it. Nothing is lost in silence. */
export function noteLostContent(request: InferenceRequest, missing: MissingCapabilities, notes: TranslationNotes): void {
  const noField = 'the interface of this model has no such field';
  if (missing.endUser === true && request.endUser !== undefined) notes.dropped('endUser', noField);
  if (missing.verbosity === true && (request.verbosity ?? 'medium') !== 'medium') notes.dropped('verbosity', noField);
  for (const tool of missing.strictTools === true ? request.tools : []) {
    if (tool.kind !== 'function' || tool.strict !== true) continue;
    notes.adapted({ path: tool.path, otherwise: 'tools' }, 'the arguments of this function are not held to its schema here');
  }
  noteTurns(request, missing, notes);
}

function noteTurns({ turns }: InferenceRequest, missing: MissingCapabilities, notes: TranslationNotes): void {
  const reason = 'the upstream of this model has no names of speakers, or none like this';
  for (const { name, namePath, parts } of turns) {
    if (name !== undefined && missing.acceptsName?.(name) !== true) notes.dropped({ path: namePath, otherwise: 'turns' }, reason);
    for (const part of parts) {
      notePart(part, missing, notes);
      if (part.kind === 'tool-result') for (const piece of part.content) notePart(piece, missing, notes);
    }
  }
}

const losesSources = (citations: readonly Citation[], { citations: lost }: MissingCapabilities): boolean =>
  lost !== undefined && citations.some(({ source }) => lost === 'all' || source.kind !== 'url');

function notePart(part: Part, missing: MissingCapabilities, notes: TranslationNotes): void {
  const place = { path: part.path, otherwise: 'turns' } as const;
  if (part.kind === 'media') noteMedia(part, missing, notes);
  if (part.kind === 'text' && losesSources(part.citations ?? [], missing)) {
    notes.adapted(place, 'what was said before goes on without the sources that it named');
  }
  const isForeign =
    (part.kind === 'text' || part.kind === 'tool-call') && part.proof !== undefined && part.proof.origin !== missing.proofOrigin;
  if (isForeign || (part.kind === 'reasoning' && !missing.takesReasoning(part))) {
    notes.adapted(place, 'thoughts and their signatures go back only to the vendor that made them; the conversation goes on without these');
  }
}

function noteMedia(part: MediaPart, { imageDetail, mediaNames }: MissingCapabilities, notes: TranslationNotes): void {
  if (imageDetail === true && (part.detail ?? 'auto') !== 'auto') {
    notes.dropped(
      { path: part.detailPath ?? part.path, otherwise: 'turns' },
      'how closely an image is looked at cannot be said to this model',
    );
  }
  if (mediaNames === true && part.media !== 'file' && part.filename !== undefined) {
    notes.dropped(
      { path: part.path, otherwise: 'turns' },
      `the name of ${part.media === 'image' ? 'an image' : 'a sound or film'} cannot be said here`,
    );
  }
}
