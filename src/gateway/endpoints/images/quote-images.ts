import { createFieldNotes } from '../../../inference/translation-notes.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { fitTargets } from '../shared/quoting/fit-targets.ts';
import type { Asked, QuotedCall } from '../shared/quoting/quoted-call.ts';
import { rankRouted } from '../shared/quoting/rank-routed.ts';
import { boundImages } from './bound-images.ts';
import { imageFacts, isImageTarget, makesPictures } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { type ImageRoute, readImages } from './read-images.ts';
import { writeForTarget } from './write-for-target.ts';

/** Reads a request for pictures as a call of it would be read; of an edit, the form in JSON. @throws GatewayError */
export function quoteImages(asked: Asked<ImageServices>, route: ImageRoute): QuotedCall {
  const request = readImages(asked.body, route, asked.settings.validation);
  const ranked = rankRouted(asked, imageFacts(request), 'image', isImageTarget, makesPictures);
  const targets = fitTargets(ranked, (target) => {
    const notes = createFieldNotes(asksForStrict(asked.caller, asked.headers));
    const call = writeForTarget(request, target, notes);
    const sent = 'json' in call ? { sent: Buffer.from(JSON.stringify(call.json)) } : {};
    return { target, usage: boundImages(request, target), notes: notes.list(), ...sent };
  });
  return { dialect: 'openai-images', requestedModel: request.requestedModel, targets, roundsMax: 1 };
}
