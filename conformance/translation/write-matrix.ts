import { readFileSync, writeFileSync } from 'node:fs';

import { startTranslationBench } from './bench.ts';
import { translationCases } from './cases/cases.ts';
import { translationClients } from './clients/clients.ts';
import { createObservations, isSayable, matrixPage, replaceMatrix, runsOf } from './matrix.ts';
import { runCase } from './run-case.ts';

/**
 * Runs every case and writes the observed outcomes into docs/reference/translation.md. A case that fails is named and
 * is not in the page.
 */
await using bench = await startTranslationBench();
const observations = createObservations();
for (const client of translationClients) {
  for (const one of translationCases.filter((each) => isSayable(client, each))) {
    for (const { to, stream } of runsOf(client, one)) {
      try {
        observations.note(client, to, one, (await runCase(bench, one, client, to, stream)).outcome);
      } catch (error) {
        process.exitCode = 1;
        process.stderr.write(`${client.dialect} to ${to}: ${one.name}: ${String(error)}\n`);
      }
    }
  }
}
writeFileSync(matrixPage, replaceMatrix(readFileSync(matrixPage, 'utf8'), observations));
