import type { DialectId } from '../../../dialects/dialect-id.ts';
import { findCaller } from '../../admission/enter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { Endpoint, EndpointRequest, EndpointRoute } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import { type RequestHeaders, dialectOfHeaders, namesModelMethod, speaksGenerateContent, wordingOf } from '../shared/wording.ts';
import { writeJson } from '../shared/write-json.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { mayReach, unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { RoutingTable } from '../../attempts/routing/routing-table.ts';

type ModelServices = Pick<AdmissionServices, 'callers' | 'clock'> & { readonly settings: () => GatewaySettings };

/** The dialect of the caller's SDK, by the path, the header of the key, and the version header. */
function dialectOf(path: string, headers: RequestHeaders): DialectId {
  const isGemini = speaksGenerateContent(path) || headers['x-goog-api-key'] !== undefined;
  return isGemini ? 'gemini-generate-content' : dialectOfHeaders(headers);
}

function listRoute(path: string): EndpointRoute<ModelServices> {
  return {
    method: 'GET',
    path,
    openApi: {
      operation: () => ({
        summary: "List models, in the shape of the caller's SDK (by anthropic-version or x-goog-api-key)",
        security: carriers,
        responses: { 200: { description: 'The list.' } },
      }),
    },
    serve: (services, http) => serveModels(services, http),
  };
}

function modelRoute(path: string): EndpointRoute<ModelServices> {
  return {
    method: 'GET',
    path,
    takes: (candidate) => !namesModelMethod(candidate),
    openApi: {
      operation: () => ({
        summary: 'One model',
        security: carriers,
        responses: { 200: { description: 'The model.' }, 404: { description: 'Unknown model.' } },
      }),
      rest: 'model',
    },
    serve: (services, http, { rest }) => serveModels(services, http, rest),
  };
}

/** Answers with the models that the caller may call, or with the one that the rest of the path names. */
async function serveModels(services: ModelServices, http: EndpointRequest, rest?: string): Promise<void> {
  const { request, target } = http;
  const dialect = dialectOf(target.path, request.headers);
  const caller = await findCaller(services, request, target.queryKeys);
  const { routing } = services.settings();
  const allowed = (model: string): boolean => mayReach(caller, routing, model);
  const answer =
    rest === undefined
      ? listModels(routing, dialect, target.query, allowed)
      : showModel(routing, dialect, modelName(rest), http.server.startedAtMs, allowed);
  writeJson(http, 200, answer);
}

function modelName(rest: string): string {
  try {
    const name = decodeURIComponent(rest);
    return name.startsWith('models/') ? name.slice('models/'.length) : name;
  } catch {
    // A broken percent-encoding is answered like an unknown model.
    return rest;
  }
}

/** The models that the caller may call. */
export const modelsEndpoint: Endpoint<ModelServices> = {
  name: 'models',
  routes: [
    listRoute('/v1/models'),
    modelRoute('/v1/models/*'),
    listRoute('/v1beta/models'),
    modelRoute('/v1beta/models/*'),
    listRoute('/v1alpha/models'),
    modelRoute('/v1alpha/models/*'),
  ],
  voice: { owns: (path) => path.startsWith('/v1/models'), wording: (path, headers) => wordingOf(dialectOf(path, headers)) },
};

/** Whether the caller may call a model. */
export type ModelTest = (model: string) => boolean;

/** The models that the caller may call, in the format of its SDK. */
export function listModels(table: RoutingTable, dialect: DialectId, query: URLSearchParams, mayCall: ModelTest): unknown {
  const { modelList } = chatDialects[dialect];
  const { onlyOf } = modelList;
  const served =
    onlyOf === undefined
      ? table.models
      : table.models.filter(
          (model) => model.ownedBy === onlyOf || table.targetsOf(model.id).some((target) => target.upstream.dialects.includes(dialect)),
        );
  const models = served.filter(({ id }) => mayCall(id));
  return modelList.encodeList(models, query);
}

/**
 * One model. Aliases and dated names that a call would accept are found too.
 * @throws GatewayError `model_not_found`, also if the caller may not call the model
 */
export function showModel(table: RoutingTable, dialect: DialectId, name: string, configuredAtMs: number, mayCall: ModelTest): unknown {
  const listed = table.models.find((model) => model.id === name);
  const [target] = table.targetsOf(name);
  if ((listed === undefined && target === undefined) || !mayCall(name)) throw unknownModel(name, table, mayCall);
  return chatDialects[dialect].modelList.encodeModel(
    listed ?? { id: name, displayName: name, createdAtMs: configuredAtMs, ownedBy: target?.upstream.vendor.id ?? 'weir' },
  );
}
