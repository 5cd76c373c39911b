import { fetchReceipt } from './chat.ts';
import type { Json } from './conversation.ts';
import { createStore } from './create-store.ts';
import { keyFor, type Payer } from './payer.ts';
import { fillIn } from './pictures.ts';
import { relay } from './relay.ts';
import { failureOf, type Run, type Sent, startRun } from './runs.ts';

/** What an answer has: JSON, or a text, or a file with an address in this tab. */
export type Output = {
  readonly type: string;
  readonly json: Json | undefined;
  readonly text: string | undefined;
  readonly address: string | undefined;
};

/** One kind of calls that are not chats: its last call, and its request if a person has rewritten it. */
export type Job = { readonly run: Run | undefined; readonly output: Output | undefined; readonly edited: string | undefined };

const emptyJob: Job = { run: undefined, output: undefined, edited: undefined };

const jobs = createStore<Readonly<Record<string, Job>>>({});
const running = new Map<string, AbortController>();

export const useJob = (kind: string): Job => jobs.use()[kind] ?? emptyJob;
const jobOf = (kind: string): Job => jobs.get()[kind] ?? emptyJob;

export function changeJob(kind: string, change: Partial<Job>): void {
  jobs.change((before) => ({ ...before, [kind]: { ...(before[kind] ?? emptyJob), ...change } }));
}

export const stopJob = (kind: string): void => running.get(kind)?.abort();

type Work = {
  readonly payer: Payer;
  readonly sent: Sent;
  /** The form that the text of `sent` describes. */
  readonly form?: FormData | undefined;
  /** What follows the answer before the call is over: a video has only begun. */
  readonly follow?: ((output: Output, keyId: string, signal: AbortSignal) => Promise<void>) | undefined;
};

/** Makes a call, and follows it to its receipt. Everything that goes wrong is in its run. */
export async function runJob(kind: string, { payer, sent, form, follow }: Work): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  running.get(kind)?.abort();
  running.set(kind, controller);
  let run = startRun(sent, sent.path);
  const update = (change: Partial<Run>): void => {
    run = { ...run, ...change };
    if (running.get(kind) === controller) changeJob(kind, { run });
  };
  const { address } = jobOf(kind).output ?? {};
  if (address !== undefined) URL.revokeObjectURL(address);
  changeJob(kind, { run, output: undefined });
  try {
    const { keyId } = await keyFor(payer);
    update({ keyId });
    const startedMs = performance.now();
    const response = await relay({ keyId, path: sent.path, body: form ?? fillIn(sent.body), signal });
    update({
      status: response.status,
      requestId: response.headers.get('x-weir-request-id') ?? undefined,
      firstMs: performance.now() - startedMs,
    });
    const output = await readOutput(response);
    if (response.ok) changeJob(kind, { output });
    else update({ refusal: output.text ?? JSON.stringify(output.json) });
    update({ totalMs: performance.now() - startedMs });
    if (response.ok) await follow?.(output, keyId, signal);
  } catch (error) {
    update(failureOf(error, signal));
  }
  update({ state: 'ended' });
  await fetchReceipt(run, update);
}

async function readOutput(response: Response): Promise<Output> {
  const type = response.headers.get('content-type') ?? '';
  const none = { type, json: undefined, text: undefined, address: undefined };
  if (/^(?:audio|video|image)\//.test(type) || type === 'application/octet-stream')
    return { ...none, address: URL.createObjectURL(await response.blob()) };
  const text = await response.text();
  if (!type.includes('json')) return { ...none, text };
  return { ...none, json: JSON.parse(text) as Json };
}
