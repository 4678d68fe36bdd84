// Pictures of the page for the documentation: tools/shoot_page.py.
import { openApp } from './open.mjs';

export async function shot({ browser, base, data: { file, fragment, width, height, dark, wait } }) {
  const { page, close } = await openApp(browser, base, { fragment, width, height, dark });
  await page.waitForSelector(wait);
  await page.waitForTimeout(500);
  await page.screenshot({ path: file });
  await close();
}
