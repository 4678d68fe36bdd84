// The page around the maps: home, text, labels, keyboard, failures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { caption, frames, near, openApp, settled } from './open.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Whatever is shown says nothing, breaks no policy and stays here. */
export async function pages({ browser, base, data: { runs, long } }) {
  for (const gl of [0, 1]) {
    for (const fragment of ['', ...runs.flatMap((run) => [`p=text&r=${run}`, `p=text&v=matrix&r=${run}&i=1&j=0`]), `p=map&r=${long}`, `p=map&r=${long}&z=0.44.0.0`, 'p=text', 'p=map&r=none', 'p=text&r=example&i=8&j=10']) {
      const { page, quiet, close } = await openApp(browser, base, { fragment, gl, expected: [/404/] });
      if (/^p=map&r=(?!none)/.test(fragment)) await settled(page);
      else await page.waitForTimeout(250);
      assert.ok((await page.locator('main').count()) === 1, fragment);
      quiet();
      await close();
    }
  }
}

/** Without a model: a word is pointed at and the sentence below says another thing. */
export async function home({ browser, base }) {
  const { page, quiet } = await openApp(browser, base);
  await page.waitForSelector('[data-word="8"]');
  const first = await caption(page);
  assert.match(first, /Row 8\s*“it”\s*→\s*tired .77/);
  await page.hover('[data-word="2"]');
  assert.notEqual(await caption(page), first);
  assert.match(await caption(page), /Row 2\s*“cat”/);
  await page.click('[data-word="8"]');
  await page.waitForFunction(() => globalThis.fovea.place().page === 'text' && globalThis.fovea.place().run === 'example');
  await page.mouse.move(5, 880);
  await page.waitForSelector('.others button');
  assert.match(await caption(page), /Row 8\s*“it”\s*→\s*what it attends to\s· layer 2, head 8/);
  quiet();
}

/** Sums of rows and columns are the server's, and twice the other way is the same way. `wrong`: rows are asked as columns, which must be noticed. */
export async function sums({ browser, base, data: { run, tokens, wrong } }) {
  const before = async (page) => {
    if (!wrong) return;
    await page.addInitScript(() => {
      const { fetch } = globalThis;
      globalThis.fetch = async (address, options) => {
        const answer = await fetch(address, options);
        if (!/\/tiles\//.test(String(address))) return answer;
        const bytes = await answer.arrayBuffer();
        const view = new DataView(bytes);
        const size = view.getUint16(16, true);
        const flipped = new Float32Array(size * size);
        const cells = new Float32Array(bytes.slice(32));
        cells.forEach((value, at) => (flipped[(at % size) * size + Math.floor(at / size)] = value));
        const out = new Uint8Array(bytes);
        out.set(new Uint8Array(flipped.buffer), 32);
        let crc = 0xffffffff;
        for (const byte of out.subarray(32)) for (let bit = 0, x = (crc ^= byte); bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
        view.setUint32(28, ~crc >>> 0, true);
        return new Response(bytes);
      };
    });
  };
  const { page, quiet } = await openApp(browser, base, { fragment: `p=text&r=${run}&l=1&h=1&w=0`, before });
  const line = async (what, index) => {
    const body = await (await page.request.get(`${base}/v1/runs/${run}/self/${what}/1/1/${index}`)).body();
    return new Float32Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  };
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  await page.waitForSelector('[data-read] [data-word]');
  for (const token of tokens) {
    await page.click(`[data-read] [data-word="${token}"]`);
    await page.mouse.move(5, 880);
    await page.waitForFunction((at) => new RegExp(`Row ${at} .*sum`).test(document.querySelector('#fovea-caption').textContent.replace(/\s+/g, ' ')), token);
    const row = await caption(page);
    near(Number(/sum (\d\.\d\d)/.exec(row)[1]), sum(await line('row', token)), 0.006, 'sum of the row');
    const top = Number(await page.locator('.tops .v').first().textContent());
    near(top, Math.max(...(await line('row', token))), 6e-4, 'largest of the row');
    await page.evaluate(() => globalThis.fovea.run('view.flip'));
    await page.waitForFunction((at) => document.querySelector('#fovea-caption').textContent.includes(`Column ${at}`), token);
    near(Number(/sum (\d+\.\d\d)/.exec(await caption(page))[1]), sum(await line('column', token)), 0.006, 'sum of the column');
    await page.evaluate(() => globalThis.fovea.run('view.flip'));
    await frames(page);
    assert.equal(await caption(page), row);
  }
  quiet();
}

/** Names of any script: each its own way, none over another, none cut inside of a letter. */
export async function labels({ browser, base, data: { run, names, right } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=text&v=matrix&r=${run}&w=0`, width: 1600, height: 1200 });
  await page.waitForSelector('.mx .rows span');
  const found = await page.evaluate(() => [...document.querySelectorAll('.mx .rows span')].map((node) => {
    const box = node.getBoundingClientRect();
    const name = node.querySelector('bdi');
    return { text: name.textContent, top: box.top, bottom: box.bottom, direction: getComputedStyle(name).direction };
  }));
  assert.equal(found.length, names.length);
  found.forEach(({ text, direction, bottom }, at) => {
    assert.equal(text, names[at]);
    assert.equal(direction, right.includes(at) ? 'rtl' : 'ltr', text);
    if (found[at + 1]) assert.ok(found[at + 1].top >= bottom - 4, `${text} lies over the next name`);
  });
  await page.evaluate(() => globalThis.fovea.model.go({ view: 'read' }));
  await page.waitForSelector('[data-read] [data-word]');
  const boxes = await page.evaluate(() => [...document.querySelectorAll('[data-read] [data-word]')].map((node) => [...node.getClientRects()].map(({ left, right: end, top, bottom }) => [left, end, top, bottom])));
  const flat = boxes.map((each) => each[0]);
  flat.forEach(([left, end, top], at) => flat.slice(at + 1).forEach(([l, e, t]) => {
    if (Math.abs(t - top) < 4) assert.ok(l >= end - 3 || e <= left + 3, 'two words lie over each other');
  }));
  quiet();
}

/** Each view's main task with keys alone; every step shows where the focus is. */
export async function keyboard({ browser, base, data: { run } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=text&r=${run}` });
  await page.waitForSelector('[data-read] [data-word]');
  for (let i = 0; i < 60 && !(await page.evaluate(() => document.activeElement?.matches('[data-read]'))); ++i) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate(() => {
      const node = document.activeElement;
      const style = getComputedStyle(node);
      return style.outlineStyle !== 'none' || getComputedStyle(node.closest('.ask') ?? node).boxShadow !== 'none';
    });
    assert.ok(ring, 'the focus is to be seen');
  }
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await caption(page), /Row 1/);
  await page.waitForFunction(() => document.querySelector('[data-live]').textContent.includes('rank 1 of'));
  const spoken = await page.locator('[data-live]').textContent();
  assert.ok(spoken.includes(await page.locator('.tops .v').first().textContent()), spoken);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => globalThis.fovea.place().row === 1);
  for (const [key, wanted] of [['.', { head: 1 }], [']', { layer: 1 }], [',', { head: 0 }], ['[', { layer: 0 }], ['m', { head: 'mean' }], ['x', { head: 'max' }], ['0', { head: 0 }], ['h', { hideSinks: true }], ['h', { hideSinks: false }]]) {
    await page.keyboard.press(key);
    for (const [field, value] of Object.entries(wanted)) assert.equal(await page.evaluate((name) => globalThis.fovea.place()[name], field), value, key);
  }
  await page.keyboard.press('r');
  assert.match(await caption(page), /Column 1/);
  await page.keyboard.press('r');
  await page.keyboard.press('v');
  await page.keyboard.press('3');
  await page.waitForSelector('[data-matrix]');
  await page.evaluate(() => document.querySelector('[data-matrix]').focus());
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => globalThis.fovea.place().row === 2);
  await page.keyboard.press('Control+k');
  await page.waitForSelector('[role=listbox]');
  await page.keyboard.type('next head');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => globalThis.fovea.place().head), 1);
  await page.keyboard.press('?');
  await page.waitForSelector('.help');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.help', { state: 'detached' });
  await page.goBack();
  quiet();
}

/** No finding of axe, at any width, in both themes; nothing is wider than the window. A window of 1,440 at 200 % has 720 pixels. */
export async function access({ browser, base, data: { run, long } }) {
  const wrong = [];
  const script = readFileSync(axe, 'utf8');
  for (const [width, dark] of [[1440, false], [900, true], [720, false], [400, true]]) {
    for (const fragment of ['', ...['read', 'lines', 'matrix', 'arcs'].map((view) => `p=text&v=${view}&r=${run}&i=1&j=0`), `p=map&r=${long}&i=60&j=3`]) {
      const { page, close } = await openApp(browser, base, { fragment, width, dark });
      await page.waitForTimeout(250);
      // The page's policy lets no other script in; the debugger's may.
      await page.evaluate(script);
      const found = await page.evaluate(async () => (await globalThis.axe.run({ resultTypes: ['violations'] })).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`));
      wrong.push(...found.map((each) => `${fragment} at ${width}: ${each}`));
      if (!(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1))) wrong.push(`${fragment} is wider than ${width}`);
      await close();
    }
  }
  assert.deepEqual(wrong, []);
}

const state = (page, name) => page.waitForSelector(`[data-state="${name}"]`, { timeout: 8000 });

/** What goes wrong is said where the result would stand, and what was there stays. */
export async function failures({ browser, base, data: { long } }) {
  const fail = async (answer, wanted) => {
    let broken = true;
    const { page, close } = await openApp(browser, base, { fragment: `p=map&r=${long}` });
    await settled(page);
    await page.route(/\/tiles\/.*\/0\/\d+\/\d+\?/, (route) => (broken ? answer(route) : route.continue()));
    await page.evaluate(() => globalThis.fovea.map.jump({ row: 700, col: 100 }));
    await state(page, 'error');
    assert.match(await page.locator('[data-state=error]').textContent(), wanted);
    assert.ok(await page.evaluate(() => globalThis.fovea.map.engine.pixels().data.some((byte, at) => at % 4 === 3 && byte === 255)), 'something is still drawn');
    broken = false;
    await page.click('[data-state=error] .btn');
    await settled(page);
    assert.equal(await page.locator('[data-state=error]').count(), 0);
    await close();
  };
  await fail((route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"kind":"internal","message":"Head 0 could not be computed."}}' }), /could not be computed/);
  await fail(async (route) => route.fulfill({ body: (await (await route.fetch()).body()).subarray(0, 500) }), /should take/);
  await fail(async (route) => {
    const body = await (await route.fetch()).body();
    body[4000] ^= 255;
    await route.fulfill({ body });
  }, /checksum/);
}

/** A slow tile: what is coarser stands in its place, and a bar says so. */
export async function slow({ browser, base, data: { long } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${long}` });
  await settled(page);
  let give = null;
  await page.route(/\/tiles\/.*\/0\/\d+\/\d+\?/, async (route) => {
    await new Promise((done) => (give = give ? ((before) => () => (before(), done()))(give) : done));
    await route.continue().catch(() => undefined);
  });
  await page.evaluate(() => globalThis.fovea.map.jump({ row: 700, col: 100 }));
  await page.waitForSelector('.computing');
  assert.ok(await page.evaluate(() => !globalThis.fovea.map.engine.pixels().data.some((byte, at) => at % 4 === 3 && byte === 0)), 'no hole is shown');
  await page.unroute(/\/tiles\/.*\/0\/\d+\/\d+\?/);
  give?.();
  await settled(page);
  quiet();
}

/** The graphics context goes: the CPU goes on, and says so. */
export async function context({ browser, base, data: { long } }) {
  const { page } = await openApp(browser, base, { fragment: `p=map&r=${long}`, gl: 1 });
  await settled(page);
  const painter = () => page.evaluate(() => globalThis.fovea.map.engine.painter.name);
  assert.equal(await painter(), 'GPU');
  await page.evaluate(() => document.querySelector('[data-canvas]').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext());
  await page.waitForFunction(() => globalThis.fovea.map.engine.painter.name === 'CPU');
  await page.waitForSelector('.toast');
  await frames(page);
  assert.ok(await page.evaluate(() => globalThis.fovea.map.engine.pixels().data.some((byte, at) => at % 4 === 0 && byte > 100)));
}

/** The server goes and comes back; `told` says when. */
export async function lost({ browser, base, data: { long, signal } }) {
  const { existsSync, writeFileSync } = await import('node:fs');
  const { page } = await openApp(browser, base, { fragment: `p=map&r=${long}` });
  await settled(page);
  writeFileSync(`${signal}.open`, '');
  const until = async (name) => {
    for (let i = 0; i < 400 && !existsSync(`${signal}.${name}`); ++i) await new Promise((done) => setTimeout(done, 50));
    assert.ok(existsSync(`${signal}.${name}`), name);
  };
  await until('killed');
  await page.evaluate(() => globalThis.fovea.map.jump({ row: 700, col: 100 }));
  await page.waitForSelector('.lost', { timeout: 8000 });
  assert.match(await page.locator('.lost').textContent(), /fovea has stopped.*Trying again in \d/s);
  assert.ok(await page.evaluate(() => globalThis.fovea.map.engine.pixels().data.some((byte, at) => at % 4 === 3 && byte === 255)));
  writeFileSync(`${signal}.seen`, '');
  await until('back');
  await page.waitForSelector('.lost', { state: 'detached', timeout: 20_000 });
  await settled(page);
  assert.equal(await page.evaluate(() => globalThis.fovea.map.bin), 1);
}
