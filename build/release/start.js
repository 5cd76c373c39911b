import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';

// The packaged program. Compiled code is kept where the user may write.
enableCompileCache(process.env['NODE_COMPILE_CACHE'] ?? `${tmpdir()}/weir-compiled-${process.getuid?.() ?? 0}`);
const { runCommandLine } = await import('./program/run-command-line.js');
await runCommandLine(process.argv.slice(2), process.env);
