// How long a reader waits. Not a test: tools/time_page.py prints it.
import { openApp, settled } from './open.mjs';

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

async function repeat(times, run) {
  const all = [];
  for (let i = 0; i < times; ++i) all.push(await run(i));
  return median(all);
}

export async function times({ browser, base, data: { gl, middle, long, repeats } }) {
  const paint = () => repeat(repeats, async () => {
    const { page, close } = await openApp(browser, base, { gl });
    const first = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);
    await close();
    return first;
  });
  const first = (run) => repeat(repeats, async () => {
    const { page, close } = await openApp(browser, base, { gl });
    const took = await page.evaluate(async (hash) => {
      const began = performance.now();
      await globalThis.fovea.model.open(hash, 'map');
      const seen = () => globalThis.fovea.map?.engine?.queue.progress().done > 0 && globalThis.fovea.map.engine.paintMs > 0;
      while (!seen()) await new Promise((done) => requestAnimationFrame(done));
      return performance.now() - began;
    }, run);
    await close();
    return took;
  });
  const { page, close } = await openApp(browser, base, { gl, fragment: `p=map&r=${long}&z=0.6.50000.40000` });
  await settled(page);
  const inside = (body) => page.evaluate(body, repeats);
  const hover = await inside(async (count) => {
    const all = [];
    for (let i = 0; i < count; ++i) {
      const began = performance.now();
      globalThis.fovea.model.hover = { row: 50010 + i, col: 40010 + 2 * i };
      await Promise.resolve();
      document.querySelector('[data-value]')?.textContent;
      await new Promise((done) => setTimeout(done, 0));
      all.push(performance.now() - began);
    }
    return all.sort((a, b) => a - b)[count >> 1];
  });
  const recolor = await inside((count) => {
    const { map } = globalThis.fovea;
    const all = [];
    for (let i = 0; i < count; ++i) {
      const began = performance.now();
      map.recolor();
      map.engine.paintNow();
      all.push(performance.now() - began);
    }
    return all.sort((a, b) => a - b)[count >> 1];
  });
  const jump = await repeat(repeats, async (i) => {
    const began = performance.now();
    await page.evaluate((k) => globalThis.fovea.map.jump({ row: 20000 + 3000 * k, col: 1000 * k }), i);
    await settled(page);
    return performance.now() - began;
  });
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  await close();
  return {
    'first paint': await paint(), 'first tile of a map of middle size': await first(middle), 'first picture of 100,352 tokens': await first(long),
    'pointing, until the value stands there': hover, 'colours anew': recolor, 'jump of 3,000 rows, until all is exact': jump, 'memory, MB': heap / 1e6,
  };
}
