import { addressOf, type Input, type OperationId } from './client.ts';

/** The curl line that does the same as a request of this page. The token is a variable, never a secret. */
export function curlOf<Id extends OperationId>(origin: string, id: Id, input: Input<Id>): string {
  const { method, path } = addressOf(id, input);
  const { body, version } = input as { readonly body?: unknown; readonly version?: string };
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(`${origin}${path}`)}`,
    `-H "authorization: Bearer $WEIR_ADMIN_TOKEN"`,
    ...(method === 'POST' ? ['-H "idempotency-key: $(uuidgen)"'] : []),
    ...(version === undefined ? [] : [`-H ${quote(`if-match: ${version}`)}`]),
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** A word for a POSIX shell. */
export function quote(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
