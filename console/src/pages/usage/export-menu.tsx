import { useState } from 'react';

import { apiPath, type Body } from '../../api/client.ts';
import { toProblem } from '../../api/problem.ts';
import { say } from '../../ui/toasts.tsx';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { Menu } from '../../ui/menu.tsx';

type Format = Body<'usage.export'>['format'];
const texts: Readonly<Record<Format, string>> = { csv: 'CSV', xlsx: 'Workbook (XLSX)', jsonl: 'JSON Lines' };

/** The rows of the question on the screen, as a file. */
export function ExportMenu({ question }: { readonly question: Body<'usage.query'> }) {
  const [busy, setBusy] = useState(false);
  const save = async (format: Format): Promise<void> => {
    setBusy(true);
    try {
      await download(question, format);
    } catch (error) {
      say('The export failed', toProblem(error).message);
    } finally {
      setBusy(false);
    }
  };
  useKeys({ e: () => void save('csv') });
  return (
    <Menu
      trigger={<Button busy={busy}>Export</Button>}
      entries={[
        ...(Object.keys(texts) as Format[]).map((format) => ({
          text: texts[format],
          icon: 'download' as const,
          onSelect: () => void save(format),
        })),
        { text: 'Print', icon: 'print', onSelect: () => window.print() },
      ]}
    />
  );
}

/** Saves the rows of a question as a file of the browser. @throws Error if the server refuses */
export async function download(question: Body<'usage.query'>, format: Format): Promise<void> {
  const response = await fetch(`${apiPath}/usage/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ question, format }),
  });
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `usage-${question.from.slice(0, 10)}-${question.to.slice(0, 10)}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
