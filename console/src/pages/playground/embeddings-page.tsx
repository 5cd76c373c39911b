import { useState } from 'react';

import type { Output } from '../../playground/jobs.ts';
import type { Payer } from '../../playground/payer.ts';
import { similarity, vectorsOf } from '../../playground/similarity.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { JobPage, ModelField } from './job-page.tsx';
import { useModel } from './use-model.ts';

const textDefault = 'The river is high.\nThe water has risen.\nThe train is late.';

/** Texts as vectors, and how alike they are. */
export function EmbeddingsPage({ payer }: { readonly payer: Payer }) {
  const [model, setModel] = useModel();
  const [text, setText] = useState(textDefault);
  const input = text.split('\n').filter((line) => line.trim() !== '');
  return (
    <JobPage
      kind="embeddings"
      payer={payer}
      path="/v1/embeddings"
      body={{ model, input }}
      unreadyBecause={model === '' || input.length === 0 ? 'Choose a model, and write a text.' : undefined}
      result={(output) => <Similarities output={output} texts={input} />}
    >
      <ModelField kind="embeddings" value={model} onChange={setModel} />
      <TextField label="Texts, one on each line" lines={6} value={text} onChange={setText} />
    </JobPage>
  );
}

function Similarities({ output, texts }: { readonly output: Output; readonly texts: readonly string[] }) {
  const vectors = vectorsOf(output.json);
  const [first] = vectors;
  return (
    <>
      <p>
        {vectors.length} vectors with {first?.length ?? 0} numbers each. The table compares each text with the others: 1 is the same
        direction.
      </p>
      <DataTable
        caption="How alike the texts are"
        rows={vectors.map((vector, at) => ({ vector, at }))}
        keyOf={({ at }) => String(at)}
        columns={[
          { id: 'text', title: 'Text', render: ({ at }) => texts[at] ?? `text ${at + 1}` },
          ...vectors.map((other, at) => ({
            id: String(at),
            title: String(at + 1),
            figures: true,
            render: ({ vector }: { readonly vector: readonly number[] }) => similarity(vector, other)?.toFixed(3) ?? '—',
          })),
        ]}
      />
    </>
  );
}
