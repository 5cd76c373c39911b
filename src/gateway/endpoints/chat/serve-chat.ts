import { beginReport } from '../shared/begin-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { ChatServices } from './chat-services.ts';
import { type ChatPath, readCall } from './read-call.ts';
import { runCall } from './run-call.ts';

/** Serves a request to a path of chats. */
export function serveChat(services: ChatServices, http: EndpointRequest, path: ChatPath): Promise<void> {
  return runCall(services, readCall(path, http), beginReport(services, http, path.dialect, path.operation));
}
