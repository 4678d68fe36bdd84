// Opens the page of a server and watches what it says and asks for.
import assert from 'node:assert/strict';

/** `gl`: which back end draws. What the console says, what breaks the policy and what leaves the server is collected; `expected`: what may be said. */
export async function openApp(browser, base, { fragment = '', gl = 0, width = 1440, height = 900, dark = false, forced = false, reduced = false, expected = [], before = null } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', forcedColors: forced ? 'active' : 'none', reducedMotion: reduced ? 'reduce' : 'no-preference',
  });
  const page = await context.newPage();
  const said = [];
  const left = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) left.push(request.url());
  });
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  if (before) await before(page);
  await page.goto(`${base}/?gl=${gl}${fragment ? `#${fragment}` : ''}`);
  await page.waitForFunction(() => globalThis.fovea?.model.ready);
  const quiet = () => {
    // Chromium's driver without a GPU says so whenever a test reads what was drawn.
    const known = [...expected, /GPU stall due to ReadPixels/];
    const unexpected = said.filter((line) => !known.some((each) => each.test(line)));
    assert.deepEqual(unexpected, [], 'the console is empty');
    assert.deepEqual(left, [], 'nothing leaves the server');
  };
  return { context, page, said, quiet, close: () => context.close() };
}

export const caption = (page) => page.locator('#fovea-caption').textContent();

/** All that is in view is there, and exact. */
export async function settled(page) {
  await page.waitForFunction(() => {
    const { map } = globalThis.fovea;
    return map?.engine && map.progress.all > 0 && map.progress.done === map.progress.all && map.engine.queue.inFlight === 0;
  }, null, { timeout: 60_000 });
  await frames(page);
}

export function frames(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))));
}

export function near(value, wanted, slack, what) {
  assert.ok(Math.abs(value - wanted) <= slack, `${what}: ${value} is not ${wanted} (to ${slack})`);
}
