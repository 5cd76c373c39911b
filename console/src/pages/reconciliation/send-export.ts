import { apiPath, type Body, type Reply } from '../../api/client.ts';
import { ApiProblem, type ProblemBody } from '../../api/problem.ts';

export type ExportFields = Omit<Body<'reconciliations.create'>, 'file'>;
export type Begun = Reply<'reconciliations.create'>;

/**
 * Sends an export as a file. The browser reads it from the disk while it is sent, so that it is never in memory whole.
 * @param onSent told the bytes that were sent, and all of them
 * @throws ApiProblem
 */
export function sendExport(
  fields: ExportFields,
  file: File,
  onSent: (sent: number, all: number) => void,
  signal: AbortSignal,
): Promise<Begun> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== '') form.append(name, value);
  form.append('file', file);
  // Only this kind of request says how much was sent.
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open('POST', `${apiPath}/reconciliations`);
    request.setRequestHeader('x-weir-console', '1');
    request.setRequestHeader('idempotency-key', crypto.randomUUID());
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onSent(loaded, total);
    request.onload = () => {
      const answer = request.response as unknown;
      if (request.status === 202) resolve(answer as Begun);
      else reject(new ApiProblem(readProblem(answer, request.status)));
    };
    request.onerror = () => reject(ApiProblem.unreachable(new Error('the connection broke')));
    request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}

function readProblem(answer: unknown, status: number): ProblemBody {
  if (typeof answer === 'object' && answer !== null && 'code' in answer) return answer as ProblemBody;
  const title = 'The answer cannot be read.';
  const detail = `Something between this page and the console answered with status ${status}.`;
  return { status, code: 'unknown_answer', title, detail, request_id: '', retryable: status >= 500 };
}
