// Opens pages in a browser without a window and does what scripts say.
//
//   node browser/drive.mjs BROWSER
//
// A line of the input is a job, {"page": "file.html", "steps": [...]}; its answer is a line of the output, {"results": [...]} or
// {"error": "..."}. One browser serves all jobs: starting it takes longer than most of them. The results have an entry for each step:
//   {"open": "#fragment", "width": 800, "height": 900, "dark": false}  loads the page anew
//   {"press": "ArrowRight"}   {"hover": "selector"}   {"click": "selector"}   {"hoverCell": [row, column]}
//   {"evaluate": "expression"}    its value, promises awaited
//   {"weights": [site, head]}     base64 of float32, row after row
//   {"shot": "file.png"}
// The last entry is {"console": [...], "requests": [...]}: what the page said and what it asked for.
//
// A job {"scenario": "map.mjs", "name": "pixels", "base": "http://…", "data": {…}} runs a function of browser/app against a server; what
// it returns is the one result, and what it throws is the error.
import { chromium } from 'playwright-core';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox', '--disable-gpu'] });
let address = '';
let said = [];
let requests = [];
let context = null;
let page = null;

// Two frames: what was asked for has been drawn.
const settle = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))));

async function open({ open: fragment, width = 1200, height = 900, dark = false }) {
  await context?.close();
  context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', offline: true });
  page = await context.newPage();
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== address) requests.push(request.url());
  });
  await page.goto(address + fragment);
  await page.waitForFunction(() => document.querySelector('#fovea-caption')?.textContent);
}

const actions = {
  open,
  press: (step) => page.keyboard.press(step.press),
  hover: (step) => page.hover(step.hover),
  click: (step) => page.click(step.click),
  hoverCell: async ({ hoverCell: [row, column] }) => {
    const box = await page.locator('.matrix .space').boundingBox();
    const size = await page.evaluate(() => {
      const [across, down] = ['colAxis', 'rowAxis'].map((name) => {
        const header = JSON.parse(document.getElementById('fovea-page').textContent);
        return header.axes[header.sites[0][name]].labels.length;
      });
      const space = document.querySelector('.matrix .space');
      return [space.offsetWidth / across, space.offsetHeight / down];
    });
    await page.mouse.move(box.x + (column + 0.5) * size[0], box.y + (row + 0.5) * size[1]);
  },
  evaluate: (step) => page.evaluate(step.evaluate),
  weights: ({ weights: [site, head] }) =>
    page.evaluate(
      async ([s, h]) => {
        const bytes = new Uint8Array((await globalThis.fovea.weights(s, h)).buffer);
        let text = '';
        for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
        return btoa(text);
      },
      [site, head],
    ),
  shot: (step) => page.screenshot({ path: step.shot, fullPage: true }),
};

async function run(steps) {
  const results = [];
  for (const step of steps) {
    const name = Object.keys(step).find((key) => key in actions);
    const result = await actions[name](step);
    await settle();
    results.push(typeof result === 'object' && name !== 'evaluate' ? null : (result ?? null));
  }
  return [...results, { console: said, requests }];
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  if (job.scenario) {
    const scenarios = await import(`./app/${job.scenario}`);
    const answer = await scenarios[job.name]({ browser, base: job.base, data: job.data ?? {} }).then((result) => ({ results: result ?? null }), (error) => ({ error: error.stack }));
    for (const open of browser.contexts()) await open.close();
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    continue;
  }
  [address, said, requests] = [pathToFileURL(job.page).href, [], []];
  const answer = await run(job.steps).then((results) => ({ results }), (error) => ({ error: error.message }));
  await context?.close();
  context = null;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
