// The map that zooms. Each of these runs on both back ends.
import assert from 'node:assert/strict';
import { caption, frames, near, openApp, settled } from './open.mjs';

const code16 = (weight) => {
  const octave = Math.log2(weight) + 32;
  return octave >= 0 ? Math.min(65533, 1 + Math.round((octave * 65532) / 32)) : 0;
};

/** In place of colours every code shows itself; read back from the pixels that are on the screen. */
async function codesOnScreen(page) {
  return page.evaluate(async () => {
    const { map } = globalThis.fovea;
    map.engine.lut = Uint32Array.from({ length: 65536 }, (_, code) => (0xff000000 | code) >>> 0);
    map.engine.paintNow();
    const { width, height, data } = map.engine.pixels();
    const cell = map.view.cell;
    const codes = [];
    for (let y = 0; y < height; y += cell) for (let x = 0; x < width; x += cell) codes.push(data[4 * (y * width + x)] + 256 * data[4 * (y * width + x) + 1]);
    return { codes, across: width / cell, down: height / cell };
  });
}

/** Every cell of a small map is drawn as what the server says of it. `wrong`: a table that is off by one part, which must be noticed. */
export async function pixels({ browser, base, data: { gl, run, size, wrong } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${run}&f=weight`, gl });
  await settled(page);
  assert.equal(await page.evaluate(() => globalThis.fovea.map.engine.painter.name), gl ? 'GPU' : 'CPU');
  if (wrong) await page.evaluate(() => {
    const { engine } = globalThis.fovea.map;
    const paint = engine.painter.paint.bind(engine.painter);
    engine.painter.paint = (tiles, lut, ground) => paint(tiles, lut.map((_, code) => lut[(code + 40) & 0xffff]), ground);
  });
  const { codes, across, down } = await codesOnScreen(page);
  assert.deepEqual([across, down], [size, size]);
  for (let row = 0; row < size; ++row) {
    const line = new Float32Array(await (await page.request.get(`${base}/v1/runs/${run}/self/row/0/0/${row}`)).body().then((body) => body.buffer.slice(body.byteOffset, body.byteOffset + body.length)));
    line.forEach((weight, col) => {
      const code = codes[row * size + col];
      if (col > row) assert.ok(code >= 65534 || code === 0, `cell ${row},${col} is not allowed but has the code ${code}`);
      else assert.ok(Math.abs(code - code16(weight)) <= 1, `cell ${row},${col}: ${code} for ${weight}, which is ${code16(weight)}`);
    });
  }
  quiet();
}

/** The colours of a piece of the map, which both back ends must agree on. */
export async function colors({ browser, base, data: { gl, run, zoom } }) {
  const { page } = await openApp(browser, base, { fragment: `p=map&r=${run}&z=${zoom}`, gl });
  await settled(page);
  return page.evaluate(() => {
    globalThis.fovea.map.engine.paintNow();
    const { width, height, data } = globalThis.fovea.map.engine.pixels();
    let sum = 0;
    for (const byte of data) sum = (Math.imul(sum, 31) + byte) >>> 0;
    return [width, height, sum];
  });
}

const colorOf = (page, row, col) => page.evaluate(([r, c]) => {
  const { map } = globalThis.fovea;
  map.engine.paintNow();
  const { width, data } = map.engine.pixels();
  const at = 4 * ((r - map.view.row) * map.view.cell * width + (c - map.view.col) * map.view.cell);
  return [...data.slice(at, at + 3)];
}, [row, col]);

/** Panning changes no colour; another scale does. */
export async function lock({ browser, base, data: { gl, run } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${run}&z=0.6.200.200`, gl });
  await settled(page);
  const [row, col] = [240, 230];
  const first = await colorOf(page, row, col);
  for (let i = 0; i < 20; ++i) {
    await page.evaluate(([x, y]) => globalThis.fovea.map.moveTo({ ...globalThis.fovea.map.view, row: x, col: y }), [200 - 5 * (i % 7), 200 - 4 * (i % 5)]);
    await settled(page);
    assert.deepEqual(await colorOf(page, row, col), first, `pan ${i}`);
  }
  await page.evaluate(() => globalThis.fovea.run('view.of'));
  await settled(page);
  assert.notDeepEqual(await colorOf(page, row, col), first);
  quiet();
}

/** Jumps to places of a map of 100,000 tokens: what stands under the crosshair is what the engine says. No frame is blank. */
export async function jumps({ browser, base, data: { gl, run, places } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${run}`, gl });
  await settled(page);
  await page.evaluate(() => {
    const { engine } = globalThis.fovea.map;
    globalThis.blanks = 0;
    const drawn = engine.paintNow.bind(engine);
    engine.paintNow = () => {
      drawn();
      const { data } = engine.pixels();
      for (let i = 3; i < data.length; i += 4) if (data[i] === 0) {
        ++globalThis.blanks;
        break;
      }
    };
  });
  for (const [row, col, weight] of places) {
    await page.evaluate(([r, c]) => {
      globalThis.fovea.map.jump({ row: r, col: c });
      globalThis.fovea.model.hover = { row: r, col: c };
    }, [row, col]);
    await settled(page);
    const shown = await page.evaluate(() => globalThis.fovea.map.under(globalThis.fovea.model.hover));
    assert.deepEqual([shown.cell.row, shown.cell.col, shown.bin, shown.state], [row, col, 1, 'there']);
    near(shown.share, weight, 2e-4 * weight, `row ${row}, column ${col}`);
    const text = await page.locator('[data-value]').textContent();
    assert.equal(text, weight < 0.0005 ? '< 0.001' : shown.share.toFixed(3));
  }
  assert.equal(await page.evaluate(() => globalThis.blanks), 0, 'frames with nothing where something was');
  quiet();
}

/** Zooming faster than tiles come: what is not wanted any more is aborted, never more than four are asked for. `keep`: aborts are dropped, which must be noticed. */
export async function hurry({ browser, base, data: { gl, run, keep } }) {
  const before = async (page) => {
    if (keep) await page.addInitScript(() => { AbortController.prototype.abort = () => undefined; });
    // As on a machine that is busy: a tile takes a while to be sent.
    await page.route(/\/tiles\//, async (route) => {
      await new Promise((done) => setTimeout(done, 120));
      await route.continue().catch(() => undefined);
    });
  };
  const { page } = await openApp(browser, base, { fragment: `p=map&r=${run}`, gl, before });
  let open = 0;
  let most = 0;
  let failed = 0;
  page.on('request', (request) => { if (/\/tiles\//.test(request.url())) most = Math.max(most, ++open); });
  page.on('requestfinished', (request) => { if (/\/tiles\//.test(request.url())) --open; });
  page.on('requestfailed', (request) => { if (/\/tiles\//.test(request.url())) { --open; ++failed; } });
  await settled(page);
  for (let i = 0; i < 12; ++i) {
    await page.evaluate((k) => globalThis.fovea.map.jump({ row: 5000 + 7000 * k, col: 300 * k }), i);
    await page.waitForTimeout(30);
  }
  await settled(page);
  const counts = await page.evaluate(() => globalThis.fovea.map.engine.queue.counts);
  assert.ok(counts.mostInFlight <= 4, `${counts.mostInFlight} in flight`);
  assert.ok(failed >= 6, `only ${failed} requests were given up`);
  assert.ok(counts.aborted >= 6, `only ${counts.aborted} were aborted`);
  return { most, failed, counts };
}

/** Eight tabs at once; the last one is there soon. */
export async function tabs({ browser, base, data: { run } }) {
  const opened = [];
  for (let i = 0; i < 8; ++i) {
    const began = performance.now();
    const tab = await openApp(browser, base, { fragment: `p=map&r=${run}` });
    await settled(tab.page);
    opened.push(performance.now() - began);
  }
  return opened;
}

/** Only with keys: to a cell, closer, pinned, to a word, and away again. */
export async function keyboard({ browser, base, data: { gl, run, word } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${run}`, gl });
  await settled(page);
  for (let i = 0; i < 60 && !(await page.evaluate(() => document.activeElement?.matches('[data-map]'))); ++i) await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement?.matches('[data-map]:focus-visible')), 'the map has the focus');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
  await page.keyboard.press('g');
  await page.waitForSelector('[role=dialog] input');
  await page.keyboard.type('600, 40');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => globalThis.fovea.place().row === 600);
  await page.evaluate(() => document.querySelector('[data-map]').focus());
  for (let i = 0; i < 12; ++i) await page.keyboard.press('+');
  await settled(page);
  assert.equal(await page.evaluate(() => globalThis.fovea.map.bin), 1);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await page.waitForFunction(() => /row .*, column .*, /.test(document.querySelector('[data-live]').textContent));
  const spoken = await page.locator('[data-live]').textContent();
  const shown = await page.locator('[data-value]').textContent();
  assert.ok(spoken.endsWith(shown), `${spoken} says ${shown}`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => globalThis.fovea.place().row === 599 && globalThis.fovea.place().col === 39);
  await page.keyboard.press('r');
  assert.match(await caption(page), /^\s*Column 39/);
  await page.keyboard.press('r');
  await page.keyboard.press('/');
  await page.waitForSelector('[role=dialog] input');
  await page.keyboard.type(word);
  await page.keyboard.press('Enter');
  await page.waitForFunction((from) => globalThis.fovea.place().row !== from, 599);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => globalThis.fovea.place().row === null);
  quiet();
}

/** What is on the screen is drawn anew when the theme changes, with the other colours. */
export async function theme({ browser, base, data: { gl, run } }) {
  const { page, quiet } = await openApp(browser, base, { fragment: `p=map&r=${run}`, gl });
  await settled(page);
  const forbidden = () => page.evaluate(() => {
    globalThis.fovea.map.engine.paintNow();
    const { width, data } = globalThis.fovea.map.engine.pixels();
    return [...data.slice(4 * (width - 1), 4 * (width - 1) + 3)];
  });
  assert.deepEqual(await forbidden(), [234, 234, 240]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await frames(page);
  await settled(page);
  assert.deepEqual(await forbidden(), [36, 39, 46]);
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active', reducedMotion: 'reduce' });
  await frames(page);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('[data-canvas]')).forcedColorAdjust), 'none');
  assert.match(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--t-panel')), /^\s*0m?s/);
  quiet();
}
