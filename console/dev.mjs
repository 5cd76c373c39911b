import { createServer } from 'vite';

import { settings } from './vite-settings.mjs';

// Pages that change as they are edited, in front of a running console: WEIR_CONSOLE=http://127.0.0.1:8082 by default.
const target = process.env['WEIR_CONSOLE'] ?? 'http://127.0.0.1:8082';
const passed = { target, changeOrigin: true, headers: { origin: target } };
const server = await createServer({ ...settings, server: { proxy: { '/api': passed, '/oidc': passed } } });
await server.listen();
server.printUrls();
