import { createFieldNotes } from '../../../inference/translation-notes.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import type { PictureOrder } from '../shared/picture-maker.ts';
import { type QuoteTarget, type QuotedCall, fitTargets, rankRouted } from '../shared/quoted-call.ts';
import { boundImages } from './bound-images.ts';
import { imageFacts } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { imagesClient } from './images-client.ts';
import { type ImageRoute, readImages } from './read-images.ts';
import { writeForTarget } from './write-for-target.ts';

/** Reads a request for pictures as a call of it would be read; of an edit, the form in JSON. @throws GatewayError */
export function quoteImages(asked: QuoteTarget<ImageServices>, route: ImageRoute): QuotedCall {
  const request = readImages(asked.body, route, asked.settings.validation);
  return quoteOrder(asked, { asked: request, notes: [], client: imagesClient(request) }, asked.gateway.pictures !== undefined);
}

/**
 * What a request for pictures would cost, whoever's interface it came in.
 * @param keepsFiles whether addresses can be given.
 * @throws GatewayError
 */
export function quoteOrder(asked: QuoteTarget<Pick<AttemptServices, 'clock'>>, order: PictureOrder, keepsFiles: boolean): QuotedCall {
  const { asked: request, notes: clientNotes, client } = order;
  const ranked = rankRouted(asked, imageFacts(request), { kind: 'image' });
  const targets = fitTargets(ranked, (target) => {
    const notes = createFieldNotes(asksForStrict(asked.caller, asked.headers));
    const call = writeForTarget(request, target, notes, keepsFiles);
    const sent = 'json' in call ? { sent: Buffer.from(JSON.stringify(call.json)) } : {};
    return { target, usage: boundImages(request, target), notes: [...clientNotes, ...notes.list()], ...sent };
  });
  return { dialect: client.label, requestedModel: request.requestedModel, targets, roundsMax: 1 };
}
