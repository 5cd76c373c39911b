import { useEffect, useRef, useState } from 'react';

import { readProblem } from '../api/client.ts';
import { ApiProblem, toProblem } from '../api/problem.ts';

export type Download = {
  /** Bytes that have arrived; undefined if nothing is being saved. */
  readonly bytes: number | undefined;
  /** Why the last file was not saved. */
  readonly problem: ApiProblem | undefined;
  /** Saves what an address of the admin API answers, under the name that it gives. One at a time. */
  readonly start: (path: string) => void;
  readonly cancel: () => void;
};

/**
 * Saves a file that the server makes while it is read: with the bytes until now, a refusal in words, and nothing saved
 * if it breaks off.
 */
export function useDownload(): Download {
  const [bytes, setBytes] = useState<number>();
  const [problem, setProblem] = useState<ApiProblem>();
  const running = useRef<AbortController>(undefined);
  const cancel = (): void => running.current?.abort();
  useEffect(() => cancel, []);
  const run = async (path: string): Promise<void> => {
    const stop = new AbortController();
    running.current = stop;
    setProblem(undefined);
    setBytes(0);
    try {
      const { name, parts } = await receive(path, stop.signal, setBytes);
      save(new Blob([...parts]), name);
    } catch (error) {
      if (!stop.signal.aborted) setProblem(toProblem(error));
    } finally {
      running.current = undefined;
      setBytes(undefined);
    }
  };
  return { bytes, problem, cancel, start: (path) => void (running.current === undefined && run(path)) };
}

async function receive(
  path: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<{ readonly name: string; readonly parts: readonly Uint8Array<ArrayBuffer>[] }> {
  let response: Response;
  try {
    response = await fetch(path, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw ApiProblem.unreachable(error);
  }
  if (!response.ok) throw new ApiProblem(await readProblem(response), response.headers);
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'file';
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  try {
    // Not every browser iterates over a stream.
    const reader = response.body?.getReader();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      parts.push(next.value);
      bytes += next.value.byteLength;
      onBytes(bytes);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error('The file broke off before its end, so that nothing was saved. Try again.', { cause: error });
  }
  return { name, parts };
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
