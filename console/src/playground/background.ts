import { asObject, asText, type Json, type Reply } from './conversation.ts';
import { isUnderWay } from './interfaces/responses.ts';
import { relay } from './relay.ts';
import type { Sent } from './runs.ts';

const askedEveryMs = 1000;

/** Whether the call of a request goes on when nobody reads its reply. */
export function isBackground(reply: Reply | undefined, { body }: Pick<Sent, 'body'>): reply is Reply & { readonly id: string } {
  return reply?.id !== undefined && /"background"\s*:\s*true/.test(body);
}

/** Asks for a response that is made in the background until it has ended. Any other one has ended already. */
export async function followBackground(
  { keyId, body, signal }: { readonly keyId: string; readonly body: Json; readonly signal: AbortSignal },
  show: (body: Json) => void,
): Promise<void> {
  const { id, status } = asObject(body);
  for (let present = asText(status); isUnderWay(present);) {
    await new Promise((resolve) => setTimeout(resolve, askedEveryMs));
    const answer = await relay({ keyId, method: 'GET', path: `/v1/responses/${encodeURIComponent(asText(id))}`, signal });
    if (!answer.ok) return;
    const next = (await answer.json()) as Json;
    show(next);
    present = asText(asObject(next)['status']);
  }
}

/** Ends a response that would go on without this page. */
export async function stopBackground(keyId: string, { id }: { readonly id: string }): Promise<void> {
  await relay({ keyId, path: `/v1/responses/${encodeURIComponent(id)}/cancel` }).then(
    (answer) => answer.text(),
    // It ends by itself then.
    () => undefined,
  );
}
