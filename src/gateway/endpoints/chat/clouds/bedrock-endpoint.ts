import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Endpoint, EndpointRequest, EndpointRoute, PathMatch } from '../../shared/endpoint.ts';
import { beginReport } from '../../shared/begin-report.ts';
import type { ChatServices } from '../chat-services.ts';
import { type ChatPath, readCall } from '../incoming-call.ts';
import { bedrockPaths } from '../open-api/cloud-operations.ts';
import { runCall } from '../run-call.ts';
import type { BedrockForm } from './bedrock-form.ts';
import { BedrockReply } from './bedrock-reply.ts';
import { bedrockVoiceAt } from './bedrock-errors.ts';
import { ConverseForm } from './converse/converse-form.ts';
import { countForm, createInvokeForm } from './invoke-form.ts';
import { quoteCloud } from './quote-cloud.ts';

/** The methods of a model, after its name in the path. */
const methods = {
  invoke: { operation: 'generate', members: { stream: false } },
  'invoke-with-response-stream': { operation: 'generate', members: { stream: true } },
  converse: { operation: 'generate', members: { stream: false }, isConverse: true },
  'converse-stream': { operation: 'generate', members: { stream: true }, isConverse: true },
  'count-tokens': { operation: 'count-tokens', isWrappedCount: true },
} as const;

const methodPath = /^(.+)\/(invoke|invoke-with-response-stream|converse|converse-stream|count-tokens)\/?$/;

/** @throws GatewayError `route_not_found` for another method */
function readPath({ rest }: PathMatch): ChatPath {
  const [, name = '', method = ''] = methodPath.exec(rest) ?? [];
  if (!isMethod(method)) {
    const known = Object.keys(methods).join(', ');
    throw new GatewayError('route_not_found', `models have no such method here; use one of ${known} after /model/{id}`);
  }
  const { operation, ...form } = methods[method];
  return { dialect: 'anthropic-messages', operation, cloud: { model: decode(name), ...form } };
}

function isMethod(method: string): method is keyof typeof methods {
  return Object.hasOwn(methods, method);
}

/** Ids and resource names, whose slashes and colons are encoded. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new GatewayError('route_not_found', 'the path does not name a model: its percent-encoding is invalid');
  }
}

function serve(services: ChatServices, http: EndpointRequest, match: PathMatch): Promise<void> {
  const read = readPath(match);
  const { form, path } = formOf(read);
  const answered = { ...http, response: new BedrockReply(http.response, { clock: services.clock, form }) };
  const report = beginReport(services, answered, path.dialect, path.operation);
  http.report = report;
  return runCall(services, readCall(path, answered), report);
}

/** The form of the reply to a path, which learns from the request what it needs. */
function formOf(path: ChatPath): { readonly form: BedrockForm; readonly path: ChatPath } {
  const { operation, cloud = {} } = path;
  if (operation === 'count-tokens') return { form: countForm, path };
  if (cloud.isConverse !== true) return { form: createInvokeForm(cloud.model ?? ''), path };
  const form = new ConverseForm();
  return { form, path: { ...path, cloud: { ...cloud, onConverse: form.opened } } };
}

const route: EndpointRoute<ChatServices> = {
  method: 'POST',
  path: '/model/*',
  identifiedBy: 'body',
  quote: (match) => quoteCloud(readPath(match)),
  openApi: { paths: bedrockPaths },
  serve,
};

/** Messages as Amazon Bedrock's InvokeModel and Converse, for clients in their own Bedrock mode. */
export const bedrockEndpoint: Endpoint<ChatServices> = {
  name: 'bedrock',
  routes: [route],
  voice: {
    owns: (path) => path.startsWith('/model/'),
    wording: (path) => ({ voice: bedrockVoiceAt(path), label: 'anthropic-messages' }),
  },
};
