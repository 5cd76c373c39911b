import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { findChromium } from './find-chromium.ts';
import { findViolations, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();
const views = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];
const lanes = [
  'messages:claude-sonnet-4-5',
  'responses:gpt-5-mini',
  'generate-content:gemini-2.5-flash',
  'chat-completions:claude-haiku-4-5',
];
const four = `/playground?${lanes.map((lane) => `lane=${lane}`).join('&')}`;
/** What a browser writes about a refused request. */
const refused = /^Failed to load resource: .* status of 4\d\d/;
const kite = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC', 'base64');

describe('the playground of the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    pages.context.setDefaultTimeout(12_000);
    await pages.page.goto(weir.consoleLink);
    await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(() => opened.disposeAsync());

  const lane = (letter: string) => pages.page.getByRole('region', { name: `Lane ${letter}`, exact: true });
  const message = () => pages.page.getByLabel('Message to all lanes');
  const receipts = () => pages.page.getByRole('link', { name: / receipt$/ });

  test('journey 11: four interfaces get one image and one tool, and each call of it is answered by hand', async () => {
    const { page } = pages;
    await page.goto(four);
    await page.getByRole('button', { name: 'Tools' }).click();
    await page.getByRole('button', { name: 'Function' }).click();
    await page.getByLabel('Name').fill('find_kite');
    await page.getByRole('button', { name: 'Add the function' }).click();
    await page.keyboard.press('Escape');
    await message().fill('What is this? [[simulator tool-name=find_kite tool-calls=1]]');
    await page.setInputFiles('input[type=file]', { name: 'kite.png', mimeType: 'image/png', buffer: kite });
    await page.getByText(/^about \$\d.*, at most \$\d/).waitFor();
    await page
      .getByLabel('POST /v1/messages')
      .and(page.getByText('‹1: kite.png', { exact: false }))
      .waitFor();
    await page.keyboard.press('Control+Enter');
    for (const letter of ['A', 'B', 'C', 'D']) {
      await lane(letter)
        .getByLabel(/^Your answer for find_kite/)
        .fill(`a kite ${letter}`);
      await lane(letter).getByRole('button', { name: 'Send the answer' }).click();
      await lane(letter)
        .getByRole('link', { name: / receipt$/ })
        .nth(1)
        .waitFor();
      await lane(letter).getByText('This is a simulated reply', { exact: false }).first().waitFor();
    }
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.ok(!page.url().includes('kite'), 'the address holds lanes, and no text');
    assert.deepEqual(new URL(page.url()).searchParams.getAll('lane'), lanes);
    pages.assertQuiet();
  });

  test('journey 11: the wires of a call are shown as events and raw, and what the translation changed as a difference', async () => {
    const { page } = pages;
    await lane('D').getByRole('button', { name: 'Show request and wires' }).click();
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    await page.getByRole('list', { name: 'Events of the last call' }).getByText('[DONE]').waitFor();
    await page.getByRole('button', { name: 'Wires', exact: true }).click();
    await page.getByText('POST /v1/chat/completions').waitFor();
    await page.getByRole('button', { name: 'Difference ①②' }).click();
    const difference = page.getByRole('list', { name: 'Difference' });
    await difference.getByText('max_tokens').waitFor();
    await page.getByRole('button', { name: '③ upstream to Weir' }).click();
    await page.getByText('message_stop', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByLabel('Body', { exact: true }).getByText('event: message_stop', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.getByLabel('curl', { exact: true }).getByText('/v1/chat/completions', { exact: false }).waitFor();
    for (const [language, words] of [
      ['TypeScript', 'client.chat.completions.create'],
      ['Python', 'client.chat.completions.create'],
      ['Go', 'http.NewRequest("POST"'],
    ] as const) {
      await page.getByRole('button', { name: language, exact: true }).click();
      await page.getByLabel(language, { exact: true }).getByText(words, { exact: false }).waitFor();
    }
    // A call whose wires are not kept yet is asked for again, and the browser writes each refusal down.
    pages.assertQuiet(refused);
  });

  test('journey 11: a stopped call says so, is charged for what was made, and its text is repeated', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=messages:claude-sonnet-4-5');
    await message().fill('Count. [[simulator pace=tokensPerSecond=20 output-tokens=4000]]');
    await page.getByRole('button', { name: 'Run' }).click();
    await lane('A').getByText('This is', { exact: false }).waitFor();
    await page.keyboard.press('Control+.');
    await lane('A').getByText('You stopped it.', { exact: false }).waitFor();
    await receipts().waitFor();
    await lane('A').getByRole('button', { name: 'Send again' }).waitFor();
    await receipts().click();
    await page.getByText('client left').first().waitFor();
    await page.goBack();
    await lane('A').getByText('You stopped it.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Begin anew' }).click();
    pages.assertQuiet(refused);
  });

  test('the request is sent as it is shown, mistakes too, and its error has the format of the interface', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=messages:claude-sonnet-4-5');
    const request = page.getByLabel('POST /v1/messages');
    await request.fill('{"model": "claude-sonnet-4-5", "messages": [], "max_tokens": 5}');
    await page.getByRole('button', { name: 'Run' }).click();
    await lane('A').getByText('Refused with 400').waitFor();
    await lane('A').getByText('Anthropic.BadRequestError').waitFor();
    await lane('A').getByLabel('The error as it came').getByText('"invalid_request_error"', { exact: false }).waitFor();
    await request.fill(
      '{"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "As edited"}], "max_tokens": 20, "stop_sequences": ["zz"]}',
    );
    await page.getByRole('button', { name: 'Run' }).click();
    await receipts().waitFor();
    await page.getByRole('button', { name: 'Wires', exact: true }).click();
    await page.getByLabel('Body', { exact: true }).getByText('"stop_sequences"', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Next request' }).click();
    await page.getByRole('button', { name: 'Put it back' }).click();
    assert.doesNotMatch(await request.inputValue(), /stop_sequences/);
    pages.assertQuiet(refused);
  });

  test('a call beyond the bound is refused in the format of the interface, and passes with a higher one', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=chat-completions:gpt-5-mini&most=0.000001');
    await message().fill('Hello');
    await page.getByText('more than is left', { exact: false }).waitFor();
    await page.keyboard.press('Control+Enter');
    await lane('A').getByText('insufficient_quota', { exact: false }).first().waitFor();
    await page.getByLabel('The most that these calls may cost, in USD').fill('2');
    await page.keyboard.press('Enter');
    await lane('A').getByRole('button', { name: 'Send again' }).click();
    await receipts().waitFor();
    assert.match(page.url(), /most=2/);
    pages.assertQuiet(refused);
  });

  test('a reply fits the JSON Schema that was asked for, and parameters stay in the address', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=messages;stream=0:claude-sonnet-4-5&temp=0.5&max=300');
    await page.getByRole('button', { name: 'JSON reply' }).click();
    await page.getByRole('button', { name: 'Use an example' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await message().fill('Hello');
    const request = page.getByLabel('POST /v1/messages');
    const body = JSON.parse(await request.inputValue()) as Record<string, unknown>;
    assert.deepEqual([body['temperature'], body['max_tokens'], 'output_config' in body, 'stream' in body], [0.5, 300, true, false]);
    await page.getByRole('button', { name: 'Run' }).click();
    await receipts().waitFor();
    assert.match((await lane('A').innerText()).replaceAll(/\s/g, ''), /\{"answer":"/);
    pages.assertQuiet();
  });

  test('lanes and parameters are kept under a name, and come back without any text', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=messages:claude-sonnet-4-5&lane=responses;stream=0:gpt-5-mini&temp=0.5');
    await message().fill('A text that stays here');
    await page.getByRole('button', { name: 'Saved' }).click();
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByLabel('Name', { exact: true }).fill('two vendors');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The view is saved').waitFor();
    await page.goto('/playground');
    await page.getByRole('button', { name: 'Saved' }).click();
    await page.getByRole('button', { name: 'two vendors', exact: true }).click();
    await lane('B').waitFor();
    const { searchParams } = new URL(page.url());
    assert.deepEqual(searchParams.getAll('lane'), ['messages:claude-sonnet-4-5', 'responses;stream=0:gpt-5-mini']);
    assert.equal(searchParams.get('temp'), '0.5');
    assert.ok(!page.url().includes('stays'), page.url());
    pages.assertQuiet();
  });

  test('Responses go over a WebSocket, which stays open, and go on by id; its receipt, wires and lines are those of the message', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=responses;by-id=1:gpt-5-mini');
    await page.getByLabel('Way of lane A').selectOption('WebSocket');
    await message().fill('Hello over a socket');
    const request = page.getByLabel('WS /v1/responses');
    await request.waitFor();
    assert.deepEqual(JSON.parse(await request.inputValue()), {
      type: 'response.create',
      model: 'gpt-5-mini',
      input: [{ role: 'user', content: 'Hello over a socket' }],
    });
    await page.getByText(/^about \$\d/).waitFor();
    await page.keyboard.press('Control+Enter');
    await lane('A').getByText('You wrote: “Hello over a socket”', { exact: false }).waitFor();
    await receipts().waitFor();
    await message().fill('And again');
    const next = JSON.parse(await request.inputValue()) as Record<string, unknown>;
    assert.match(String(next['previous_response_id']), /^resp_/);
    assert.deepEqual(next['input'], [{ role: 'user', content: 'And again' }]);
    await page.keyboard.press('Control+Enter');
    await receipts().nth(1).waitFor();
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    await page.getByRole('list', { name: 'Events of the last call' }).getByText('"type":"response.completed"', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Wires', exact: true }).click();
    await page.getByLabel('Body', { exact: true }).getByText('And again', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.getByLabel('websocat', { exact: true }).getByText('/v1/responses', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'TypeScript', exact: true }).click();
    await page.getByLabel('TypeScript', { exact: true }).getByText('new ResponsesWS(client)', { exact: false }).waitFor();
    assert.deepEqual(new URL(page.url()).searchParams.getAll('lane'), ['responses;way=socket;by-id=1:gpt-5-mini']);
    pages.assertQuiet(refused);
  });

  test('a response in the background is followed to its end, streamed or not, and a stop ends it at the gateway', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=responses;stream=0;way=background:gpt-5-mini');
    await message().fill('Hello in the background');
    assert.match(await page.getByLabel('POST /v1/responses').inputValue(), /"background": true/);
    await page.keyboard.press('Control+Enter');
    await lane('A').getByText('You wrote: “Hello in the background”', { exact: false }).waitFor();
    await receipts().waitFor();
    await page.getByRole('button', { name: 'Begin anew' }).click();
    await page.goto('/playground?lane=responses;way=background:gpt-5-mini');
    await message().fill('Count. [[simulator pace=tokensPerSecond=20 output-tokens=4000]]');
    const cancelled = page.waitForResponse(/\/v1\/responses\/resp_\w+\/cancel$/);
    await page.keyboard.press('Control+Enter');
    await lane('A').getByText('This is', { exact: false }).waitFor();
    await page.keyboard.press('Control+.');
    const answer = (await (await cancelled).json()) as { readonly status: string };
    assert.equal(answer.status, 'cancelled');
    await lane('A').getByText('You stopped it.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Begin anew' }).click();
    pages.assertQuiet(refused);
  });

  test('speech plays, its recording becomes the same text again, and texts are compared', async () => {
    const { page } = pages;
    await page.goto('/playground?kind=speech&model=tts-1');
    await page.getByLabel('What it says').fill('The kettle is on.');
    await page.getByRole('button', { name: 'Run' }).click();
    await receipts().waitFor();
    assert.ok((await page.evaluate<number>(`document.querySelector('audio').duration`)) > 0.2, 'the browser can play it');
    const downloaded = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const recording = await (await downloaded).path();

    await page.getByRole('link', { name: 'Transcription' }).click();
    await page.setInputFiles('input[type=file]', { name: 'kettle.mp3', mimeType: 'audio/mpeg', buffer: readFileSync(recording) });
    await page.getByRole('combobox', { name: 'Model' }).fill('whisper-1');
    await page.getByLabel('As', { exact: true }).selectOption('verbose_json');
    await page.getByText('about $', { exact: false }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('row').filter({ hasText: 'The kettle is on.' }).waitFor();
    await receipts().waitFor();
    assert.deepEqual(await findViolations(page), []);

    await page.getByRole('link', { name: 'Embeddings' }).click();
    await page.getByLabel('Texts, one on each line').fill('a\na\nsomething else');
    await page.getByRole('button', { name: 'Run' }).click();
    await receipts().waitFor();
    assert.equal(await page.getByRole('cell', { name: '1.000' }).count(), 5, 'each text is like itself, and the two that are the same');
    pages.assertQuiet();
  });

  test('the curl line of a request with an image works as it is shown', async () => {
    const { page } = pages;
    await page.goto('/playground?lane=messages:claude-sonnet-4-5&show=code');
    await message().fill("What's this?");
    await page.setInputFiles('input[type=file]', { name: 'kite.png', mimeType: 'image/png', buffer: kite });
    const line = page.getByLabel('curl', { exact: true }).and(page.getByText(kite.toString('base64'), { exact: false }));
    const { stdout } = await promisify(execFile)('bash', ['-c', (await line.textContent()) ?? ''], {
      env: { ...process.env, WEIR_API_KEY: weir.apiKey },
    });
    assert.match(stdout, /event: message_stop/, stdout);
    pages.assertQuiet();
  });

  test('journey 12: an image is shown, and a video is followed to its end and its receipt, and deleted', async () => {
    const { page } = pages;
    await page.goto('/playground?kind=images&model=gpt-image-1-mini');
    await page.getByLabel('What the image shows').fill('A lighthouse');
    await page.getByRole('button', { name: 'Run' }).click();
    const image = page.getByRole('img', { name: 'A lighthouse' });
    await image.waitFor();
    await receipts().waitFor();
    assert.ok((await page.evaluate<number>(`document.querySelector('img[alt="A lighthouse"]').naturalWidth`)) > 100);

    await page.goto('/playground?kind=video&model=sora-2');
    await page.getByLabel('What the video shows').fill('A red kite');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('meter', { name: /^Progress: / }).waitFor();
    await receipts().waitFor();
    assert.ok((await page.evaluate<number>(`document.querySelector('video').duration`)) >= 3.9, 'the browser can play it');
    await page.getByRole('button', { name: 'Delete the video' }).click();
    await page.getByText('deleted; its charge stays in the books', { exact: false }).waitFor();
    await receipts().click();
    await page.getByText('recomputed here: the same').waitFor();
    pages.assertQuiet();
  });

  const path = '/playground?lane=responses:gpt-5-mini&lane=messages:claude-haiku-4-5&show=code';
  for (const theme of ['light', 'dark'])
    for (const view of views)
      test(`the playground has no barrier at ${view.width} px in the ${theme} theme`, async () => {
        const { page, context } = pages;
        await context.addCookies([{ name: 'weir_theme', value: theme, url: weir.consoleUrl }]);
        await page.setViewportSize(view);
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await message().fill('Hello');
        await page.waitForLoadState('networkidle');
        assert.deepEqual(await findViolations(page), []);
        await message().fill('Hello [[simulator tool-name=find_kite]]');
        await page.keyboard.press('Control+Enter');
        await receipts().first().waitFor();
        assert.deepEqual(await findViolations(page), []);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
        pages.assertQuiet();
      });
});
