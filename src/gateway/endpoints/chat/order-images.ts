import type { ApiKey } from '../../../accounts/api-key.ts';
import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { ImageReply } from '../../../inference/image.ts';
import { imageOfChat } from '../../../inference/image-of-chat.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import { mayReach } from '../../attempts/routing/rank-targets.ts';
import { makesOnlyImages, type RoutingTable } from '../../attempts/routing/routing-table.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import type { ImageOrder } from '../shared/image-maker.ts';

type ChatOfCaller = {
  readonly callId: string;
  readonly dialect: ChatDialect;
  readonly routing: RoutingTable;
  readonly caller: ApiKey;
  /** A validated request. */
  readonly request: WireRequest;
};

/**
 * Translates a chat request for images into an image request, if all targets of the model make images only. Undefined
 * for every other request: models that also write text answer it themselves, and a text request to an image model is
 * refused by the router.
 * @throws GatewayError for settings that image models do not support
 */
export function orderImages({ callId, dialect, routing, caller, request }: ChatOfCaller): ImageOrder | undefined {
  const { images, codec, voice, id } = dialect;
  if (images === undefined || request.operation !== 'generate') return undefined;
  const requestedModel = images.modelOf(request);
  const route = routing.routeOf(requestedModel);
  if (route === undefined || !makesOnlyImages(route) || !mayReach(caller, routing, requestedModel)) return undefined;
  const order = images.decode(request);
  if (order === undefined) return undefined;
  const { chat, ...settings } = order;
  const notes = createTranslationNotes(codec.fieldNames, asksForStrict(caller, request.headers));
  const image = imageOfChat(chat, settings, notes);
  const framing = request.pathFraming ?? (chat.stream ? ('sse' as const) : undefined);
  const writing = { requestId: callId, requestedModel, framing };
  const write = (reply: ImageReply): Buffer => images.encode(reply, writing);
  const client = { label: id, dialect: id, voice, framing, write, replay: (reply: ImageReply) => [write(reply)] };
  return { request: image, notes: notes.list(), client };
}
