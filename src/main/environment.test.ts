import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { environmentVariables, readEnvironment, StartError } from './environment.ts';

test('without any variable everything has its default', () => {
  const { variable, ...environment } = readEnvironment({});
  assert.deepEqual(environment, {
    host: '127.0.0.1',
    port: 8080,
    monitorPort: 8081,
    consolePort: 8082,
    dataDirectory: 'weir-data',
    configPath: undefined,
    apiKey: undefined,
    billingToken: undefined,
    logLevel: 'info',
    metrics: undefined,
    tracing: undefined,
    proxies: { direct: [] },
    watchdogMs: 5000,
  });
  assert.equal(variable('HOME'), undefined);
});

test('every variable is read', () => {
  const environment = readEnvironment({
    WEIR_HOST: '0.0.0.0',
    WEIR_PORT: '1',
    WEIR_MONITOR_PORT: '65535',
    WEIR_DATA_DIR: '/data',
    WEIR_CONFIG: '/etc/weir.yaml',
    WEIR_API_KEY: 'sk-first-key',
    WEIR_BILLING_TOKEN: 'first-token',
    WEIR_LOG_LEVEL: 'silent',
    WEIR_METRICS_PORT: '9',
    WEIR_METRICS_HOST: '::',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    HTTPS_PROXY: 'http://proxy:3128',
    NO_PROXY: 'a.test,b.test',
    OPENAI_API_KEY: 'sk-vendor',
  });
  assert.deepEqual(environment.proxies, { https: { origin: 'http://proxy:3128' }, direct: ['a.test', 'b.test'] });
  assert.deepEqual([environment.host, environment.port, environment.monitorPort], ['0.0.0.0', 1, 65_535]);
  assert.deepEqual([environment.dataDirectory, environment.configPath], ['/data', '/etc/weir.yaml']);
  assert.deepEqual([environment.apiKey, environment.billingToken, environment.logLevel], ['sk-first-key', 'first-token', 'silent']);
  assert.deepEqual(environment.metrics, { host: '::', port: 9 });
  assert.equal(environment.tracing?.url, 'http://collector:4318/v1/traces');
  assert.equal(environment.variable('OPENAI_API_KEY'), 'sk-vendor');
});

test('empty is unset: a deployment file that leaves a value blank gets the default', () => {
  const blank = Object.fromEntries(environmentVariables.map(({ name }) => [name, '']));
  const { variable: _, ...environment } = readEnvironment({ ...blank, OPENAI_API_KEY: '' });
  const { variable: __, ...defaults } = readEnvironment({});
  assert.deepEqual(environment, defaults);
  assert.equal(readEnvironment({ OPENAI_API_KEY: '' }).variable('OPENAI_API_KEY'), undefined);
});

test('port 0 asks for any free one', () => assert.equal(readEnvironment({ WEIR_PORT: '0' }).port, 0));

test('a port that is none is refused by the name of its variable', () => {
  for (const name of ['WEIR_PORT', 'WEIR_MONITOR_PORT']) {
    for (const value of ['65536', '99999', '-1', '80.5', '0x50', '1e3', 'http', ' 80', '8080/tcp']) {
      assert.throws(() => readEnvironment({ [name]: value }), {
        name: 'StartError',
        message: new RegExp(`^${name} must be a port number.*"${value}"`),
      });
    }
  }
});

test('a log level that is none is refused with those there are', () => {
  for (const level of ['trace', 'INFO', 'verbose'])
    assert.throws(() => readEnvironment({ WEIR_LOG_LEVEL: level }), {
      name: 'StartError',
      message: /one of debug, info, warn, error, silent, but it is/,
    });
});

test('no message repeats a secret', () => {
  assert.throws(
    () => readEnvironment({ WEIR_PORT: 'x', WEIR_API_KEY: 'sk-secret', WEIR_BILLING_TOKEN: 'secret' }),
    (error: Error) => !error.message.includes('secret'),
  );
});

test('WEIR_WATCHDOG_SECONDS is an integer, and 0 turns the watchdog off', () => {
  assert.equal(readEnvironment({ WEIR_WATCHDOG_SECONDS: '0' }).watchdogMs, 0);
  assert.equal(readEnvironment({ WEIR_WATCHDOG_SECONDS: '30' }).watchdogMs, 30_000);
  for (const text of ['-1', '1.5', 'soon', ' ', '3601'])
    assert.throws(
      () => readEnvironment({ WEIR_WATCHDOG_SECONDS: text }),
      /WEIR_WATCHDOG_SECONDS must be an integer from 0 \(off\) to 3600/,
    );
});

test('a variable that is unset is read from the file that NAME_FILE names, at each use, without its last line break', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'key');
  writeFileSync(path, 'sk-first key\n\n');
  const { variable, apiKey } = readEnvironment({
    WEIR_API_KEY_FILE: path,
    OPENAI_API_KEY_FILE: path,
    XAI_API_KEY: 'plain',
    XAI_API_KEY_FILE: path,
  });
  assert.equal(apiKey, 'sk-first key\n');
  assert.equal(variable('XAI_API_KEY'), 'plain');
  writeFileSync(path, 'sk-second\r\n');
  assert.equal(variable('OPENAI_API_KEY'), 'sk-second');
  writeFileSync(path, '\n');
  assert.equal(variable('OPENAI_API_KEY'), undefined);
  writeFileSync(path, 'x'.repeat(70_000));
  assert.throws(() => variable('OPENAI_API_KEY'), { name: 'StartError', message: /OPENAI_API_KEY_FILE.*70000/ });
  rmSync(path);
  assert.throws(
    () => readEnvironment({ WEIR_API_KEY_FILE: path }),
    (error) => error instanceof StartError && error.message.includes('WEIR_API_KEY_FILE') && error.message.includes('ENOENT'),
  );
});
