import type { Citation } from './citation.ts';
import type { InferenceRequest, MediaPart, Part, ReasoningPart } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** Content of a request that a dialect cannot express. */
export type MissingCapabilities = {
  readonly endUser?: boolean;
  readonly verbosity?: boolean;
  /** The guarantee that the arguments of a function match its schema. */
  readonly strictTools?: boolean;
  /** How closely the model should examine an image. */
  readonly imageDetail?: boolean;
  /** Whether the dialect can express the name of this speaker. Absent: it has no names. */
  readonly acceptsName?: (name: string) => boolean;
  /** The citations of earlier replies: all of them, or only those without an address. */
  readonly citations?: 'all' | 'documents';
  /** Names of images, audio and videos. */
  readonly mediaNames?: boolean;
  /** Whether earlier thoughts are sent to the upstream. */
  readonly takesReasoning: (part: ReasoningPart) => boolean;
  /** The origin of the proofs that the upstream accepts on texts and calls. */
  readonly proofOrigin: string;
};

/** Adds a note for all content that the upstream's interface cannot express, so that nothing is lost silently. */
export function noteLostContent(request: InferenceRequest, missing: MissingCapabilities, notes: TranslationNotes): void {
  const noField = 'the interface of this model has no such field';
  if (missing.endUser === true && request.endUser !== undefined) notes.dropped('endUser', noField);
  if (missing.verbosity === true && (request.verbosity ?? 'medium') !== 'medium') notes.dropped('verbosity', noField);
  for (const tool of missing.strictTools === true ? request.tools : []) {
    if (tool.kind !== 'function' || tool.strict !== true) continue;
    notes.adapted(
      { path: tool.path, otherwise: 'tools' },
      'the upstream does not guarantee that the arguments of this function match its schema',
    );
  }
  noteTurns(request, missing, notes);
}

function noteTurns({ turns }: InferenceRequest, missing: MissingCapabilities, notes: TranslationNotes): void {
  const reason = 'the interface of this model does not support this name of a speaker';
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
    notes.adapted(place, 'this earlier text is sent without the sources that it cited');
  }
  const isForeign =
    (part.kind === 'text' || part.kind === 'tool-call') && part.proof !== undefined && part.proof.origin !== missing.proofOrigin;
  if (isForeign || (part.kind === 'reasoning' && !missing.takesReasoning(part))) {
    notes.adapted(place, 'thoughts and their signatures are sent only to the vendor that made them; this part is sent without them');
  }
}

function noteMedia(part: MediaPart, { imageDetail, mediaNames }: MissingCapabilities, notes: TranslationNotes): void {
  if (imageDetail === true && (part.detail ?? 'auto') !== 'auto') {
    notes.dropped(
      { path: part.detailPath ?? part.path, otherwise: 'turns' },
      'the interface of this model does not support the detail of images',
    );
  }
  if (mediaNames === true && part.media !== 'file' && part.filename !== undefined) {
    notes.dropped(
      { path: part.path, otherwise: 'turns' },
      `the interface of this model does not support names of ${part.media === 'image' ? 'images' : 'audio and videos'}`,
    );
  }
}
