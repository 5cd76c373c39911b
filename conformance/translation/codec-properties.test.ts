import { chatDialects } from '../../src/dialects/registry.ts';
import { testCodec } from '../../src/dialects/testing/codec-suite.ts';
import { acceptBody, assertDescribed } from './accept-body.ts';

for (const dialect of Object.values(chatDialects)) {
  // Generate-content has no name for the end user.
  const silentlyLost = dialect.id === 'gemini-generate-content' ? (['endUser'] as const) : [];
  testCodec({
    dialect,
    acceptBody: acceptBody(dialect.id),
    acceptReply: (reply) => assertDescribed(dialect.id, 'reply', reply),
    silentlyLost,
  });
}
