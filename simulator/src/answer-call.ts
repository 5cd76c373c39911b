import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyFault } from './apply-fault.ts';
import { redactHeaders, redactPath, type CallRecord } from './call-records.ts';
import { parseFault, preventsAnswer, takeFault, type Fault } from './faults.ts';
import { createPlanner } from './plan-reply.ts';
import { readReportedUsage, rewriteUsage } from './rewrite-usage.ts';
import { deriveId } from './seeded-random.ts';
import {
  VendorError,
  type JsonRecord,
  type MediaCall,
  type MediaReply,
  type PlanReply,
  type ReplyPlan,
  type SimulatedReply,
  type SimulatedRequest,
  type SimulatedVendor,
} from './simulated-vendor.ts';
import type { SimulatorState } from './simulator-state.ts';
import { readPromptSteering, readSteering, SteeringError, type Steering } from './steering.ts';
import { createPendingMemory } from './vendor-memory.ts';
import { toJsonReply, toWireReply, type WireReply } from './wire-reply.ts';
import { writeReply, type WriteObserver } from './write-reply.ts';

/** The state of one call. */
export type Call = {
  readonly request: SimulatedRequest;
  readonly record: CallRecord;
  readonly state: SimulatorState;
  readonly vendor: SimulatedVendor;
  readonly credential: string;
  readonly keepMemory: () => void;
  /** From the headers first; with the directive of the prompt once the reply is planned. */
  steering: Steering;
  plan?: ReplyPlan;
  keepCache?: () => void;
};

/**
 * The path of one call: receive, validate, plan, damage, write, record. Resolves when the reply has ended; never
 * rejects.
 */
export async function answerCall(
  state: SimulatorState,
  vendor: SimulatedVendor,
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const call = receiveCall(state, vendor, incoming, body);
  const { wire, isRefused } = await produce(call, body);
  const pace = { ...state.pace, ...call.steering.pace };
  const common = vendor.commonHeaders?.(call.request) ?? {};
  await writeReply(response, { ...wire, headers: { ...common, ...wire.headers } }, pace, observe(call, wire, isRefused));
}

/** Opens the record of a call and reads the parts that every route needs. */
export function receiveCall(state: SimulatorState, vendor: SimulatedVendor, incoming: IncomingMessage, body: Buffer): Call {
  const nowMs = state.clock.nowMs();
  const target = incoming.url ?? '/';
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  const query = new URLSearchParams(question < 0 ? '' : target.slice(question + 1));
  const headers: Record<string, string> = {};
  for (const name in incoming.headers) {
    const value = incoming.headers[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  const bodySha256 = hash('sha256', body);
  const same = `${vendor.name} ${target} ${bodySha256}`;
  const requestId = `req_${deriveId(`${state.seed}/${same}/${state.numberCall(same)}`)}`;
  const memory = createPendingMemory(state.memoryOf(vendor.name));
  const tag = headers['x-simulator-tag'];
  const parsed = parseBody(body);
  const record = state.records.open({
    vendor: vendor.name,
    method: incoming.method ?? 'GET',
    path: redactPath(target),
    ...(tag !== undefined && { tag }),
    requestHeaders: redactHeaders(headers),
    requestBodySha256: bodySha256,
    requestBodyBytes: body.length,
    ...(parsed !== undefined && { requestBody: parsed, ...(typeof parsed['model'] === 'string' && { model: parsed['model'] }) }),
    requestId,
    receivedAtMs: nowMs,
  });
  return {
    request: { method: record.method, path, query, headers, body: parsed, requestId, nowMs, memory },
    record,
    state,
    vendor,
    credential: readCredential(headers, query),
    keepMemory: memory.keep,
    steering: {},
  };
}

/** The reply as it is sent, or the refusal in the vendor's format. */
async function produce(call: Call, body: Buffer): Promise<{ wire: WireReply; isRefused: boolean }> {
  const { record, request, vendor } = call;
  try {
    call.steering = readSteering(request.headers);
    const handled = handle(call, body);
    // A reply that is ready at once is not delayed, so that the effects of such calls keep the order of their arrival.
    const reply = handled instanceof Promise ? await handled : handled;
    const fault = chooseFault(call);
    if (!preventsAnswer(fault)) keepTraces(call, reply);
    const wire = damage(call, reply, fault);
    record.isStream = wire.isStream;
    return { wire, isRefused: reply.type !== 'stream' && reply.status >= 400 };
  } catch (error) {
    return { wire: refuse(error, vendor, request), isRefused: true };
  }
}

/** The refusal for an error, in the vendor's format. */
export function refuse(error: unknown, vendor: SimulatedVendor, request: SimulatedRequest): WireReply {
  if (error instanceof VendorError) return toJsonReply(error.status, error.body);
  if (error instanceof SteeringError) {
    return toJsonReply(400, vendor.errorBody(400, `The simulator does not support this: ${error.message}`, request.requestId));
  }
  // A bug of the simulator itself: the message is complete, because its readers are testing.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return toJsonReply(500, vendor.errorBody(500, `The simulator itself failed: ${text}`, request.requestId));
}

function handle(call: Call, body: Buffer): SimulatedReply | Promise<MediaReply | SimulatedReply> {
  const { request, vendor } = call;
  if (vendor.isOpen?.(request) !== true) checkCredential(call);
  const planReply = planFor(call);
  const media = vendor.handleMedia?.(request, toMediaCall(call, body, planReply));
  if (media !== undefined) return media;
  checkTransport(vendor, request, body);
  return (
    vendor.handle(request, planReply) ?? {
      type: 'whole',
      status: 404,
      headers: jsonHeaders,
      body: JSON.stringify(vendor.notFoundBody(request)),
    }
  );
}

/** The planner of a call, which records the answering model. */
function planFor(call: Call): PlanReply {
  const { state, request } = call;
  const planReply = createPlanner({
    seed: state.seed,
    nowMs: request.nowMs ?? 0,
    steering: call.steering,
    cache: state.cache,
    tokensPerFrame: state.pace.tokensPerFrame,
    numberCall: state.numberCall,
    onPlan(plan, steering, keepCache) {
      call.plan = plan;
      call.steering = steering;
      call.keepCache = keepCache;
    },
  });
  return (planRequest) => {
    // Some formats have the model in the path instead of the body.
    call.record.model = planRequest.model;
    return planReply(planRequest);
  };
}

/** @throws VendorError for a missing or unknown credential */
export function checkCredential({ request, vendor, state, credential }: Call): void {
  vendor.authenticate(request);
  if (state.apiKeys === undefined || state.apiKeys.has(credential)) return;
  throw (
    vendor.refuseCredential?.(credential, request) ??
    new VendorError(401, vendor.errorBody(401, 'The credential is not known.', request.requestId), 'The credential is not known.')
  );
}

function toMediaCall(call: Call, body: Buffer, planReply: PlanReply): MediaCall {
  return {
    bytes: body,
    planReply,
    seed: call.state.seed,
    steer(text) {
      call.steering = { ...readPromptSteering(text), ...call.steering };
      return call.steering;
    },
    keepForm(fields) {
      call.record.requestForm = fields;
      if (typeof fields['model'] === 'string') call.record.model = fields['model'];
    },
  };
}

const jsonHeaders = { 'content-type': 'application/json' };

function checkTransport(vendor: SimulatedVendor, request: SimulatedRequest, body: Buffer): void {
  const encoding = request.headers['content-encoding'];
  const fail = (status: number, message: string): never => {
    throw new VendorError(status, vendor.errorBody(status, message, request.requestId), message);
  };
  if (encoding !== undefined && encoding !== 'identity') fail(415, `Unsupported content-encoding: ${encoding}.`);
  if (body.length === 0) return;
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    fail(415, `Unsupported content type: '${type}'. This API method only accepts 'application/json' requests.`);
  if (request.body === undefined) fail(400, 'We could not parse the JSON body of your request: it must be one JSON object.');
}

/** The fault of a call: its own, or the next in the queue. */
export function chooseFault(call: Call): Fault | undefined {
  const { steering, state, vendor, record } = call;
  const fault = steering.fault === undefined ? takeFault(state.faults, vendor.name) : parseFault(steering.fault);
  if (fault !== undefined) record.fault = fault.name;
  return fault;
}

function keepTraces(call: Call, reply: SimulatedReply | MediaReply): void {
  call.keepMemory();
  if (reply.type === 'media') {
    if (reply.media !== undefined) call.record.plannedMedia = reply.media;
    return;
  }
  if (call.plan === undefined) return;
  call.keepCache?.();
  // Token counting plans nothing; a reply without a plan used nothing.
  if (reply.type === 'whole' && reply.plan === undefined) return;
  // A blocked reply used less than was planned.
  call.record.plannedUsage = (reply.plan ?? call.plan).usage;
  call.record.stop = call.plan.stop;
  call.state.records.keepReply(call.record, call.plan);
}

function damage(call: Call, reply: SimulatedReply | MediaReply, fault: Fault | undefined): WireReply {
  let wire = toWireReply(reply);
  if (call.steering.usage !== undefined) wire = { ...wire, pieces: rewriteUsage(wire.pieces, call.steering.usage) };
  if (fault === undefined) return wire;
  return applyFault(wire, fault, {
    vendor: call.vendor,
    requestId: call.record.requestId,
    request: call.request,
    credential: call.credential,
    ...(reply.type !== 'whole' && reply.errorFrame !== undefined && { errorFrame: reply.errorFrame }),
    ...(reply.type === 'stream' && reply.unknownFrame !== undefined && { unknownFrame: reply.unknownFrame }),
  });
}

/** Records the result of a reply in the call's record. */
export function observe(call: Call, wire: WireReply, isRefused: boolean): WriteObserver {
  const { record, state } = call;
  return {
    onHeaders() {
      record.status = wire.status;
      record.headersAtMs = state.clock.nowMs();
    },
    onProgress(piecesWritten, tokensWritten) {
      record.emittedFrames = piecesWritten;
      record.emittedTokens = tokensWritten;
      noteEmission(record, state.clock.nowMs());
      if (piecesWritten > wire.firstContent) record.firstContentAtMs ??= state.clock.nowMs();
    },
    onEnd(how) {
      const usage = isRefused ? undefined : readReportedUsage(wire.pieces, record.emittedFrames);
      if (usage !== undefined) record.reportedUsage = usage;
      // Frames carry the tokens of their text; a complete reply delivered all tokens that it counts.
      if (how === 'finished' && record.fault === undefined && record.plannedUsage !== undefined)
        record.emittedTokens = record.plannedUsage.outputTokens;
      state.records.end(record, endingOf(how, isRefused, record.fault), state.clock.nowMs());
    },
  };
}

const emissionEveryMs = 20;

function noteEmission({ emissions, emittedTokens }: CallRecord, atMs: number): void {
  if (atMs - (emissions.at(-1)?.atMs ?? 0) >= emissionEveryMs) emissions.push({ tokens: emittedTokens, atMs });
}

function endingOf(
  how: Parameters<WriteObserver['onEnd']>[0],
  isRefused: boolean,
  fault: string | undefined,
): Exclude<CallRecord['ending'], 'open'> {
  if (how === 'client-closed') return 'client-closed';
  if (isRefused) return 'refused';
  return fault === undefined && how === 'finished' ? 'completed' : 'faulted';
}

function parseBody(body: Buffer): JsonRecord | undefined {
  if (body.length === 0) return undefined;
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    // Answered with an explanatory refusal.
    return undefined;
  }
}

function readCredential(headers: Readonly<Record<string, string>>, query: URLSearchParams): string {
  const bearer = /^bearer +(.+)$/i.exec(headers['authorization'] ?? '')?.[1];
  return headers['x-api-key'] ?? bearer ?? headers['x-goog-api-key'] ?? query.get('key') ?? '';
}
